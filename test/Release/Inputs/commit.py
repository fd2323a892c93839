"""Makes a folder a repository of git with one commit, whose hash it prints."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

# Nothing of this user's settings.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(*words):
    return subprocess.run(["git", "-c", "user.name=pipec", "-c", "user.email=pipec@example.org", *words],
                          cwd=sys.argv[1], env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True).stdout


git("init", "--quiet")
git("add", "--all")
git("commit", "--quiet", "--message=first")
print(git("rev-parse", "--short=12", "HEAD").strip())
