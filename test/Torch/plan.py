# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s
"""From the layers of a model to a trained pipeline: the example as a job of three ranks,
and one of two with layers that return tuples, share parameters, or have none."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import copy
import os
import subprocess
import sys

import torch
import torch.distributed as dist
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


class Sum(nn.Module):
    def __init__(self, values):
        super().__init__()
        self.values = nn.ParameterList(values)

    def forward(self, x):
        return sum(self.values, x)


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
    # There are no more ties than stages: parameters would get different values.
    pairs = {pair: nn.Parameter(torch.ones(8)) for pair in ((0, 1), (0, 2), (1, 2), (0, 1, 2))}
    shared = [Sum(value for pair, value in pairs.items() if index in pair) for index in range(3)]
    plan = pipec.torch.plan(shared, torch.zeros(2, 8), ranks=3, microbatches=4, repeats=1, effort=1, chunks=1)
    assert not plan.schedule.ties
    try:
        plan.stage_modules(0)
        raise AssertionError("stages without ties")
    except ValueError as error:
        assert str(error).endswith("stages [0, 1] share parameters and are not tied"), error
    # Transfers that take time are those that the plan is measured with.
    assert plan.found.best.placed is None
    plan = pipec.torch.plan(layers[1:6] * 2, torch.zeros(2, 8), ranks=2, microbatches=4, repeats=2, effort=1,
                            cost={"p2p": "0.01", "occupancy": "0.01"})
    placed = plan.schedule.report(model="stream").makespan
    assert plan.makespan <= placed == plan.found.best.placed, (placed, plan.found.best)


class Split(nn.Linear):
    def forward(self, x):
        return super().forward(x), x


class Join(nn.Linear):
    def forward(self, x, y):
        return super().forward(x) + y


class Skip(nn.Linear):
    """Hands on what it gets; may make one value more, or take the last one."""

    def __init__(self, makes=False, takes=False):
        super().__init__(8, 8)
        self.makes, self.takes = makes, takes

    def forward(self, x, *others):
        y = super().forward(x + others[-1] if self.takes else x)
        return (y, *(others[:-1] if self.takes else others), *([y * 2] if self.makes else []))


def models():
    """By name, layers and a sample."""
    def linear():
        return nn.Linear(8, 8)

    embedding, both = nn.Embedding(20, 8), linear()
    yield "tied", [embedding, *(linear() for _ in range(5)), Head(embedding.weight)], torch.zeros(2, 4, dtype=torch.long)
    yield "one module", [linear(), both, nn.Tanh(), both, linear(), both], torch.zeros(2, 8)
    yield "tuples", [linear(), Split(8, 8), Join(8, 8), Split(8, 8), Join(8, 8), linear()], torch.zeros(2, 8)
    yield "skips", [Skip(makes=True), Skip(makes=True), Skip(), Skip(), Skip(takes=True), Skip(takes=True), linear()], torch.zeros(2, 8)
    yield "two inputs", [Join(8, 8), nn.ReLU(), linear(), linear()], (torch.zeros(2, 8), torch.zeros(2, 8))
    yield "frozen", [linear().requires_grad_(False), linear(), linear(), linear()], torch.zeros(2, 8)


def train():
    """The job of `check_models`: gradients are those of the model on one process."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    for name, layers, sample in models():
        samples = sample if isinstance(sample, tuple) else (sample,)
        batch = [torch.randint(0, 20, (8, *one.shape[1:])) if one.dtype == torch.long else torch.randn(8, *one.shape[1:])
                 for one in samples]
        whole, value = copy.deepcopy(layers), tuple(batch)
        for layer in whole:
            value = layer(*value) if isinstance(value, tuple) else layer(value)
        value.square().mean().backward()
        plan = pipec.torch.plan(layers, sample, ranks=2, microbatches=4, repeats=1, effort=1, now="gpipe")
        modules = plan.stage_modules(rank)
        job = plan.executor(modules, lambda output, target: output.square().mean())
        first, last = 0 in modules, plan.schedule.stages - 1 in modules
        job.step(*(batch if first else ()), **({"target": torch.zeros(8)} if last else {}))
        held = {id(layer) for module in modules.values() for layer in module}
        for layer, other in zip(layers, whole):
            for one, due in zip(layer.parameters(), other.parameters()) if id(layer) in held else ():
                torch.testing.assert_close(one.grad, due.grad, msg=lambda text: f"{name}, rank {rank}: {text}")
    dist.destroy_process_group()


def check_models():
    run = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__, "train"],
                         capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


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
    if sys.argv[1:] == ["train"]:
        train()
    else:
        check_plan()
        check_errors()
        check_models()
        run_example()
