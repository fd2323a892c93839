# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Schedules that are in no library train like those that are: per-rank warm-up, a
zigzag of four chunks, ranks with different numbers of stages."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle
import train

PLAIN, SHARDED = [(2, 4), (4, 8)], [(2, 6)]
if library.ALL:
    PLAIN = SHARDED = [(2, 4), (2, 6), (3, 3), (4, 4), (4, 8), (4, 12)]
# PyTorch's runtime takes chains of stages; graph.py trains the others.
programs = [path for path in sorted(glob.glob(os.path.join(grid.EXAMPLES, "*.pipe")))
            if not {"connect", "graph"} & set(open(path).read().split())]
report = oracle.Report()
for sizes, setting in (PLAIN, train.Setting()), (SHARDED, train.Setting(wrap="fsdp")):
    files = grid.Grid(sys.argv[1])
    for program in programs:
        for ranks, microbatches in sizes:
            words = library.arguments(program, ranks, microbatches)
            for passes in [*grid.TARGETS, *grid.other_backwards(oracle.pipec(*words))]:
                files.add(words, passes)
    files.train(report, setting)
report.finish(8 * len(programs))
assert len(programs) >= 3
