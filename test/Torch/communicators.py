# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Files that are safe under a model of communicators finish in
PyTorch's runtime, and train, when transfers wait for each other as the model
says: those of the targets under all, one with two ranks that receive first under
the model that lint names. (Files that wait forever are in faults.test.)"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import communicators
import grid
import library
import oracle
import train

NAMES = list(library.CHUNKS) if library.ALL else ["interleaved", "zbv", "dualpipev", "hanayo", "v_min"]
SIZES = dict.fromkeys(communicators.KEYS, [(2, 4), (2, 6), (3, 6), (4, 8), (4, 16)]) if library.ALL else \
    {"stream": [(2, 4), (3, 6)], "pair": [(3, 6)], "edge": [(2, 4)]}

report = oracle.Report()
for model, sizes in SIZES.items():
    files = grid.Grid(sys.argv[1])
    for title, words, _ in library.instances(NAMES, sizes):
        if "-Dchunks=1" not in words:
            for passes in oracle.TARGET, oracle.TIMED:
                files.add(words, passes)
    files.train(report, train.Setting(communicators=model, timeout=30))
report.finish(30)
