"""Installs the package without the compiler, and uses it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import shutil
import subprocess
import sys

build, root = sys.argv[1:]
HERE = os.getcwd()
# Nothing but what is installed, and nothing of this machine's settings.
BARE = {"PATH": "/nowhere", "HOME": HERE, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(program, *words, **variables):
    return subprocess.run([os.path.join(HERE, "env/bin", program), *words], env={**BARE, **variables}, check=True,
                          text=True, stdout=subprocess.PIPE).stdout


subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "env"], check=True)
source = shutil.copytree(os.path.join(root, "python"), "python", ignore=shutil.ignore_patterns("__pycache__"))
run("pip", "install", "--no-index", "--no-build-isolation", "--quiet", os.path.abspath(source))
assert not any(os.path.exists(f"env/bin/{name}") for name in ("pipec", "pipec-lsp", "pipec-opt"))
found = run("python3", "-c", "import pipec; print(pipec.program())", PATH=os.path.join(build, "bin"))
assert found.strip() == os.path.join(build, "bin/pipec"), found
fails = "import pipec\ntry: pipec.program()\nexcept pipec.ProgramNotFound as error: print(error)"
assert "no compiler" in run("python3", "-c", fails)
