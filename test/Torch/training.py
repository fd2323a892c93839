# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Two and four gloo processes train a transformer with every schedule of the
library that PyTorch can express: computes alone, the order of torch's own
lowering, the order of time; and whole backwards of split ones, split ones of
whole ones, plain steps of overlaps. Losses and gradients of two steps equal
those of the model without a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle

NAMES = sys.argv[2:] or [*library.CHUNKS, *library.UNPAIRED]

SIZES = [(2, 4), (4, 8)]
if library.ALL:
    SIZES = [(2, m) for m in range(1, 10)] + [(4, m) for m in (*range(1, 10), 12, 13, 16)]

files = grid.Grid(sys.argv[1])
turn = itertools.count()
for title, words, compute in library.instances(NAMES, SIZES):
    ways = library.UNPAIRED.get(words[0]) or [*grid.TARGETS, *grid.other_backwards(compute)]
    if len(compute) > 2 and not library.ALL:
        ways = [ways[next(turn) % len(ways)]]
    for passes in ways:
        files.add(words, passes)
report = oracle.Report()
files.train(report)
report.finish(4 * len(NAMES))
