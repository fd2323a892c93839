# REQUIRES: torch-2.15
# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: env TORCH_DISTRIBUTED_PIPELINE_PER_EDGE_P2P=1 PYTHONPATH=%root/python/src %torch-python %s
"""One communicator for each directed edge, as PyTorch 2.15 makes them on request:
that is the model `edge`. Schedules train so, and one does that is safe under no
stricter model; `--emit=torch-config` says what it needs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle
import pipec
import train

# Both ranks send and then wait for what the other one sent meanwhile: one queue
# for both directions blocks.
MEET = """\
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0WAIT_SEND_F0,0RECV_B1,0B1,0WAIT_SEND_F1,0REDUCE_GRAD,0WAIT_REDUCE_GRAD
1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1WAIT_SEND_B0,1WAIT_SEND_B1
"""
oracle.write("meet.csv", oracle.parse(MEET))
meet = pipec.compile("meet.csv", passes="")
assert meet.lint(require="edge").safe == {"stream": False, "pair": False, "edge": True, "buffered": True}
config = meet.torch_config["torch"]
assert config["version"] == ">=2.15" and config["environment"] == {"TORCH_DISTRIBUTED_PIPELINE_PER_EDGE_P2P": "1"}, config
assert "model" in config["notes"][0]

# (A communicator of two ranks, told apart by direction, as NCCL would run it.)
for setting, ends in (train.Setting(), True), (train.Setting(communicators="edge", timeout=20), True), \
        (train.Setting(communicators="stream", timeout=6), False):
    outcome = train.train([("meet.csv", "compute_comms")], setting)["meet.csv", "compute_comms"]
    assert (outcome == "equal") == ends, (setting, outcome)

report = oracle.Report()
files = grid.Grid(".")
for title, words, _ in library.instances(["zb1p", "interleaved", "zbv", "dualpipev"], [(2, 4), (4, 8)]):
    for target in "torch-compute", oracle.TARGET, oracle.TIMED:
        files.add(words, target)
files.train(report)
report.finish(20)
