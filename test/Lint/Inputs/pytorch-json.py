"""Prints, for each argument, lint's exit status and verdicts on PyTorch, and
how many reasons it gives against each version."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys

for name in sys.argv[1:]:
    run = subprocess.run(["pipec", "lint", name, "--format=json"], capture_output=True, text=True)
    found = json.loads(run.stdout)
    reasons = {version: len(list_) for version, list_ in found["pytorch_reasons"].items()}
    print(name, run.returncode, found["pytorch"], reasons)
