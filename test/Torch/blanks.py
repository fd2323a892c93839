# RUN: rm -rf %t && mkdir -p %t && cd %t && %torch-python %s
"""Blanks around a cell, and around the members of an overlap, are read as PyTorch reads
them: every character that one of the two takes for a blank, the other does."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import oracle

# Line breaks end a row, the comma a cell, and quotes are around one.
CHARACTERS = [chr(code) for code in range(1, 0x3100) if chr(code) not in "\n\r,\"" and
              (code < 0x100 or chr(code).isspace() or chr(code - 1).isspace() or chr(code + 1).isspace())]
assert sum(map(str.isspace, CHARACTERS)) == 27, sum(map(str.isspace, CHARACTERS))


def read_by_torch(cell):
    try:
        action = oracle.Action.from_str(cell)
    except RuntimeError:
        return None
    return str(action)


wrong = []
for character in CHARACTERS:
    for cell in f"{character}0F0{character}", f"{character}{character}0F0", f"({character}0F0;0B1{character})OVERLAP_F_B":
        with open("blank.csv", "w", encoding="utf-8", newline="") as file:
            file.write(f"{cell},0F1\n")
        done = subprocess.run(["pipec-opt", "--verify=none", "blank.csv"], capture_output=True, text=True, check=False)
        ours = done.returncode == 0
        theirs = read_by_torch(cell) in ("0F0", "(0F0;0B1)OVERLAP_F_B")
        # PyTorch takes any text after a step for nothing (`0F0xyz`); pipec takes blanks alone.
        if theirs and not character.isspace():
            theirs = False
        if ours != theirs:
            wrong.append((repr(character), cell, ours, theirs, done.stderr[:80]))
for one in wrong[:20]:
    print(one)
print(f"{len(CHARACTERS)} characters, {len(wrong)} wrong")
sys.exit(bool(wrong))
