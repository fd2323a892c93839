# RUN: %python %s
"""Each rule of a lowered file, broken once: lint finds the fault, names its cell
and says what comes of it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import mutations

out = subprocess.run(["pipec", "interleaved", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch",
                      "--emit=csv"], capture_output=True, text=True, check=True).stdout
good = list(csv.reader(out.splitlines()))
found, status = mutations.lint(good)
assert status == 0 and not found["findings"], found
assert found["safe"] == dict.fromkeys(["stream", "pair", "edge", "buffered"], True), found

wrong = 0
for mutation in mutations.MUTATIONS:
    rows = mutation.change(good)
    assert rows != good, mutation.name
    if what := mutations.problem(mutation, rows):
        wrong += 1
        print(f"{mutation.name}: {what}")
sys.exit(wrong)
