# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Split backwards under other wrappings of a stage.

1. DistributedDataParallel, with one stage per rank and with two: wrong gradients in
   silence; right ones with the whole backwards that `merge-backward` makes.
2. torch.compile: right without donated buffers.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import oracle
import train

SIZES = ["-Dranks=2", "-Dmicrobatches=4"]
SPLIT = [["zb1p"], ["zbv"], ["interleaved_zb", "-Dchunks=2"]]
report = oracle.Report()

# 1
setting = train.Setting(wrap="ddp", replicas=2)
whole, split = grid.Grid(sys.argv[1]), grid.Grid(sys.argv[1])
for words in ["one_f_one_b"], ["interleaved", "-Dchunks=2"]:
    whole.add([*words, *SIZES], oracle.TARGET)
for words in SPLIT:
    whole.add([*words, *SIZES], "merge-backward{which=all}," + oracle.TARGET)
    split.add([*words, *SIZES], oracle.TARGET)
whole.train(report, setting)
for file, found in train.train(list(split.files[2].values()), setting).items():
    silent = found != "equal" and all(problem.kind == "different" for problems in found.values() for problem in problems)
    report.check(file[0], None if silent else f"with DDP: {found}")

# 2
compiled = grid.Grid(sys.argv[1])
compiled.add(["zb1p", *SIZES], oracle.TARGET)
compiled.train(report, train.Setting(wrap="compile"))
report.finish(8)
