# RUN: rm -rf %t && mkdir -p %t && cd %t && %megatron-python %s
"""The timers of megatron-core: a cost profile of what they log."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys
import warnings
from unittest import mock

warnings.filterwarnings("ignore")

import torch
from megatron.core.timers import Timers

import pipec.megatron

NAMES = ["forward-backward", "forward-compute", "backward-compute", "forward-recv"]


def logged(times, option="all", prefix=""):
    """What Megatron logs after a step: `times` of each rank and timer, in seconds."""
    timers = Timers(2, option)
    with mock.patch.object(timers, "_get_elapsed_time_all_ranks", lambda *_: torch.tensor(times)), \
         mock.patch("torch.distributed.get_world_size", lambda: len(times)):
        text = timers.get_all_timers_string(NAMES)
    return "".join(f"{prefix}{line}\n" for line in f"INFO:megatron.core.timers:{text}\n iteration 1/ 2 | lm loss: 3".split("\n"))


def step(slower=0):
    """Two pipeline ranks of two ranks each, with four micro-batches."""
    return [[0.9, 0.040, 0.080 + slower, 0.1], [0.9, 0.044, 0.088 + slower, 0.0],
            [0.9, 0.060, 0.120 + slower, 0.2], [0.9, 0.056, 0.112 + slower, 0.2]]


DUE = {"per": "stage", "stages": {"0": {"F": 11, "B": 22}, "1": {"F": 15, "B": 30}}}
for prefix in "", "[default3]:":
    with open("train.log", "w") as file:  # the first step is slow
        file.write("".join(logged(step(slower), prefix=prefix) for slower in (1, 0, 0, 0.004)))
    assert pipec.megatron.costs("train.log", ranks=2, microbatches=4) == DUE
subprocess.run([sys.executable, "-m", "pipec.megatron", "train.log", "--ranks=2", "--microbatches=2", "--chunks=2", "-o", "costs.json"], check=True)
assert json.load(open("costs.json"))["stages"] == {**DUE["stages"], "2": DUE["stages"]["0"], "3": DUE["stages"]["1"]}
report = subprocess.run(["pipec", "interleaved", "ranks=2", "microbatches=2", "chunks=2", "--cost-profile=costs.json", "--emit=report"],
                        check=True, capture_output=True, text=True).stdout
assert "F 11 to 15, B 22 to 30 (4 stages)" in report, report


def refused(text, *arguments):
    run = subprocess.run([sys.executable, "-m", "pipec.megatron", *arguments, "-o", "none.json"], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr.startswith("pipec.megatron: error: ") and text in run.stderr, run.stderr


refused("which are not 3 times as many", "train.log", "--ranks=3", "--microbatches=4")
refused("are not all positive", "train.log", "--ranks=0", "--microbatches=4")
refused("No such file", "missing.log", "--ranks=2", "--microbatches=4")
with open("minmax.log", "w") as file:
    file.write(logged(step(), "minmax"))
refused("--timing-log-option all", "minmax.log", "--ranks=2", "--microbatches=4")
