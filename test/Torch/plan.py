# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s
"""From the layers of a model to a trained pipeline: the example as a job of three ranks,
and a model whose ends share a parameter."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

import torch
from torch import nn

import pipec
import pipec.torch


def run_example():
    run = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3",
                          "-m", "pipec.torch.train_example"], capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("gradients equal those of the whole model") == 3, run.stdout
    assert "<pipec.torch.Plan: " in run.stdout, run.stdout


class Head(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.out = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        self.out.weight = weight

    def forward(self, x):
        return self.out(x)


def check_plan():
    """Every layer is in one stage, in order; stages of tied layers are tied."""
    embedding = nn.Embedding(20, 8)
    layers = [embedding, *(nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(5)), Head(embedding.weight)]
    plan = pipec.torch.plan(layers, torch.zeros(2, 4, dtype=torch.long), ranks=2, microbatches=4, repeats=1, effort=1)
    assert plan.makespan == plan.found.best.makespan and plan.bound <= plan.makespan
    held = {stage: module for rank in range(2) for stage, module in plan.stage_modules(rank).items()}
    assert [id(layer) for stage in sorted(held) for layer in held[stage]] == [id(layer) for layer in layers]
    assert plan.schedule.ties == [[0, plan.schedule.stages - 1]], plan.schedule.ties
    assert repr(plan).startswith("<pipec.torch.Plan: "), plan
    # Transfers that take time are those that the plan is measured with.
    assert plan.found.best.placed is None
    plan = pipec.torch.plan(layers[1:6] * 2, torch.zeros(2, 8), ranks=2, microbatches=4, repeats=2, effort=1,
                            cost={"p2p": "0.01", "occupancy": "0.01"})
    placed = plan.schedule.report(model="stream").makespan
    assert plan.makespan <= placed == plan.found.best.placed, (placed, plan.found.best)


def check_errors():
    try:
        pipec.torch.plan([nn.Linear(2, 2), nn.Linear(2, 2)], torch.zeros(1, 2), ranks=2, microbatches=2, repeats=1, memory=1)
    except pipec.CompileError as error:
        assert "no schedule fits into 1" in str(error), error
    else:
        raise AssertionError("a plan of one byte")
    try:
        pipec.torch.plan([nn.Linear(2, 2), nn.Linear(3, 2)], torch.zeros(1, 2), ranks=2, microbatches=2)
    except pipec.torch.MeasureError as error:
        assert str(error).startswith("layer 1, Linear: "), error
    else:
        raise AssertionError("a layer of another size was measured")


if __name__ == "__main__":
    check_plan()
    check_errors()
    run_example()
