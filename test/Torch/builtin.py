# RUN: %torch-python %s
"""The schedules that PyTorch ships are our schedules of the same name: equal
orders at every size of a grid that PyTorch accepts."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import library
import oracle

# PyTorch's name, ours, the numbers of chunks.
PAIRS = [
    ("LoopedBFS", "looped_bfs", [1, 2, 3, 4]),
    ("Interleaved1F1B", "interleaved_flexible", [1, 2, 3, 4]),
    ("InterleavedZeroBubble", "interleaved_zb", [1, 2, 3, 4]),
    ("ZBVZeroBubble", "zbv", [2]),
    ("DualPipeV", "dualpipev", [2]),
]
RANKS = range(1, 9) if library.ALL else [1, 2, 3, 4]


def microbatches(ranks):
    return range(1, 4 * ranks + 1) if library.ALL else sorted({1, 2, ranks, 2 * ranks, 2 * ranks + 1, 3 * ranks, 4 * ranks})


report = oracle.Report()
refused = 0
for theirs, ours, chunks in PAIRS:
    for v in chunks:
        for p in RANKS:
            for m in microbatches(p):
                built = oracle.builtin(theirs, p, v, m)
                if isinstance(built, str):
                    refused += 1
                    continue
                compute, lowered = built
                words = library.arguments(ours, p, m, v if len(chunks) > 1 else None)
                title = f"{theirs} p={p} v={v} m={m}"
                report.check(title, oracle.difference(oracle.normal(oracle.pipec(*words)), oracle.normal(compute)))
                report.check(title, oracle.difference(oracle.normal(oracle.pipec(*words, f"--target={oracle.TARGET}")),
                                                      oracle.normal(lowered)))
print(f"{refused} sizes are refused by PyTorch")
report.finish(300)
