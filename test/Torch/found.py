# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Schedules that `pipec search` found train like any other, from step IR and
from the program that is written for them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle

#: What is searched for.
PROBLEMS = [
    "--ranks=2 --microbatches=5 --cost F=2,I=3,W=1,p2p=1 --memory-limit=2",
    "--ranks=4 --microbatches=8 --cost F=10,I=12,W=8,p2p=1 --memory-limit=3",
    "--ranks=2 --microbatches=4 --chunks=2 --placement=v --cost F=3,I=2,W=2 --memory-limit=4",
    "--ranks=3 --microbatches=6 --backward=whole --cost F=1,B=2,p2p=1",
]
if library.ALL:
    PROBLEMS += [f"--ranks={ranks} --microbatches={microbatches} --chunks=2 --placement={placement}"
                 f" --cost F=10,I=12,W=8,p2p=1 --memory-limit={2 * ranks}"
                 for ranks in (2, 3, 4) for microbatches in (4, 6, 9) for placement in ("loop", "v")]

report = oracle.Report()
files = grid.Grid(sys.argv[1])
for number, problem in enumerate(PROBLEMS):
    for extension in "steps", "pipe":
        path = os.path.join(sys.argv[1], f"found{number}.{extension}")
        subprocess.run(["pipec", "search", *problem.split(), "--memory-by=plain", "--effort=1", "-o", path],
                       check=True, capture_output=True)
        for passes in [*grid.TARGETS, *grid.other_backwards(oracle.pipec(path))]:
            files.add([path], passes)
files.train(report)
report.finish(2 * len(PROBLEMS))
