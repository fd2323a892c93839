#!/usr/bin/env python3
"""Times training steps of PyTorch's own schedules, of its runtime with a CSV of the
same schedule, and of the generated executor in Python:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PYTHON benchmarks/torch/step-time.py [--ranks 2]

All are schedules of one job of gloo processes, with equal stages; they take turns, so
that they share what else the machine does. A stage is two linear layers with an
activation function between them. Prints the median of all steps, the overhead, which is
the median without that of the same computes in a loop, and the median over the turns of
the ratio to PyTorch's own schedule. `--empty` has stages that do nothing: what is left
is the cost of the steps and of the transfers.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B, ScheduleZBVZeroBubble

import pipec
import pipec.torch

MICROBATCHES, BATCH = 8, 16
#: PyTorch's class of each schedule, and its parameters here.
OWN = {"one_f_one_b": (Schedule1F1B, {}), "interleaved": (ScheduleInterleaved1F1B, {"chunks": 2}),
       "zbv": (ScheduleZBVZeroBubble, {})}
WARM_UP = 5


class Scale(torch.nn.Module):
    """A stage that does next to nothing."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        return x * self.weight


def module(width, empty):
    if empty:
        return Scale()
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width))


def computes(modules, width, loss_fn):
    """The computes of a rank with the last stage, without transfers."""
    inputs = [torch.randn(BATCH, width, requires_grad=True) for _ in range(MICROBATCHES)]
    target = torch.randn(BATCH, width)

    def step():
        for x in inputs:
            for stage in modules:
                loss_fn(stage(x), target).backward()
            x.grad = None

    return step


def process(rank, options, name, width, store, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=options.ranks)
    loss_fn = torch.nn.functional.mse_loss
    own, params = OWN[name]
    plan = pipec.compile(name, target="pytorch", ranks=options.ranks, microbatches=MICROBATCHES, **params)
    held = plan.stages_of(rank)

    def make(kind):
        stages = [PipelineStage(module(width, options.empty), stage, plan.stages, torch.device("cpu")) for stage in held]
        if kind == "PyTorch's own":
            return own(stages[0] if own is Schedule1F1B else stages, MICROBATCHES, loss_fn)
        if kind == "runtime with CSV":
            return pipec.torch.load_schedule(name, stages, loss_fn, MICROBATCHES, **params)
        return pipec.torch.executor(plan, stages, loss_fn, MICROBATCHES)

    schedules = {kind: make(kind) for kind in ("PyTorch's own", "runtime with CSV", "executor")}
    x, target = torch.randn(MICROBATCHES * BATCH, width), torch.randn(MICROBATCHES * BATCH, width)
    arguments = (x,) if 0 in held else ()
    keywords = {"target": target} if plan.stages - 1 in held else {}
    works = {kind: (lambda schedule=schedule: schedule.step(*arguments, **keywords)) for kind, schedule in schedules.items()}
    works["computes alone"] = computes([module(width, options.empty) for _ in held], width, loss_fn)
    times = {kind: [[] for _ in range(options.turns)] for kind in works}
    for work in works.values():
        for _ in range(WARM_UP):
            work()
    for turn in range(options.turns):
        for kind, work in works.items():
            dist.barrier()
            for _ in range(options.steps):
                start = time.perf_counter()
                work()
                times[kind][turn].append(time.perf_counter() - start)
    if rank == 0:
        torch.save(times, out)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description="Times training steps.")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="per turn")
    parser.add_argument("--schedules", default=",".join(OWN), help="some of " + ", ".join(OWN))
    parser.add_argument("--widths", default="64,512")
    parser.add_argument("--empty", action="store_true", help="stages that do nothing")
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__}, {options.ranks} ranks, {MICROBATCHES} micro-batches of {BATCH} rows; milliseconds")
    print("schedule     width  executor            step  overhead  ratio")
    for name in options.schedules.split(","):
        for width in map(int, options.widths.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out")
                torch.multiprocessing.spawn(process, (options, name, width, os.path.join(folder, "store"), out), options.ranks)
                times = torch.load(out)
            medians = {kind: statistics.median(sum(turns, [])) for kind, turns in times.items()}
            for kind, turns in times.items():
                of_turns = zip(map(statistics.median, turns), map(statistics.median, times["PyTorch's own"]))
                ratio = statistics.median(mine / own for mine, own in of_turns)
                rest = f"{1e3 * (medians[kind] - medians['computes alone']):8.2f}  {ratio:5.2f}" if kind != "computes alone" else ""
                print(f"{name:12} {width:5}  {kind:16} {1e3 * medians[kind]:7.2f}  {rest}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
