#!/usr/bin/env python3
"""Checks the clauses that `pipec derive` finds for programs of the library.

    derive-library.py PIPEC FOLDER PROGRAM...

Replaces the `expect` clauses of each program with the derived ones, writes it
to FOLDER and runs `pipec check` at the sizes that they were derived from, and
at larger ones for those in `LARGER`.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import subprocess
import sys

GRID = ["ranks=2..12", "microbatches=2..30"]
MORE = ["ranks=1..15", "microbatches=1..36"]

# Costs inside and at the edges of the conditions on costs.
COSTS = ["F=1,B=1,I=1,W=1", "F=3,B=2,I=2,W=1/2,p2p=1/3", "F=2,B=5,I=3,W=2,p2p=3",
         "F=2,B=4,I=2,W=2,F&B=5,B&F=5", "F=1,B=2,F&B=2,B&F=2.5", "F=1,B=0,I=0,W=0,p2p=1"]

# Programs whose clauses at `GRID` also hold at `MORE`: those whose sizes all
# have a closed form, or whose other sizes are too irregular to look as if they
# had one.
LARGER = {"gpipe", "one_f_one_b", "zb1p", "zbh2", "zbv", "chimera", "eager_one_f_one_b",
          "one_f_one_b_overlap", "interleaved_any", "interleaved_flexible", "interleaved_zb",
          "looped_bfs", "dualpipev"}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def main():
    pipec, folder, *programs = sys.argv[1:]
    good = clauses = 0
    for program in map(pathlib.Path, programs):
        code, derived, errors = run(pipec, "derive", str(program), "--all", "--grid", *GRID)
        if code or errors:
            print(f"{program.stem}: {errors}")
            continue
        text = re.sub(r"^  expect .*?;\n", "", program.read_text(), flags=re.M | re.S)
        head, end, tail = text.rpartition("}")
        copy = pathlib.Path(folder, program.name)
        copy.write_text(head + derived + end + tail)
        grid = MORE if program.stem in LARGER else GRID
        costs = [word for cost in COSTS for word in ("--cost", cost)]
        code, checked, errors = run(pipec, "check", str(copy), "--grid", *grid, *costs,
                                    "-Wno-unchecked-expect")
        if code:
            print(checked + errors)
            continue
        good += 1
        clauses += derived.count("\nexpect ")
    print(f"{good} of {len(programs)} programs, {clauses} clauses hold")


if __name__ == "__main__":
    main()
