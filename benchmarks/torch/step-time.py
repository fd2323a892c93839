#!/usr/bin/env python3
"""Times training steps of PyTorch's own 1F1B, of its runtime with a CSV of the same
schedule, and of the generated executor in Python:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PYTHON benchmarks/torch/step-time.py [--ranks 2]

All three are schedules of one job of gloo processes, with the same stages; they take
turns, so that they share what else the machine does. A stage is a linear layer with
an activation function. Prints medians, and the overhead: the median minus that of the
same computes in a loop.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import pipec
import pipec.torch

MICROBATCHES, BATCH = 8, 16


def module(width):
    return torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width))


def computes(width, loss_fn):
    """The computes of the last stage, without transfers."""
    stage = module(width)
    inputs = [torch.randn(BATCH, width, requires_grad=True) for _ in range(MICROBATCHES)]
    target = torch.randn(BATCH, width)

    def step():
        for x in inputs:
            loss_fn(stage(x), target).backward()
            x.grad = None

    return step


def process(rank, ranks, width, turns, steps, store, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=ranks)
    loss_fn = torch.nn.functional.mse_loss

    def make(kind):
        stage = PipelineStage(module(width), rank, ranks, torch.device("cpu"))
        if kind == "Schedule1F1B":
            return Schedule1F1B(stage, MICROBATCHES, loss_fn)
        load = pipec.torch.load_schedule if kind == "runtime with CSV" else pipec.torch.executor
        return load("one_f_one_b", [stage], loss_fn, MICROBATCHES)

    schedules = {kind: make(kind) for kind in ("Schedule1F1B", "runtime with CSV", "executor")}
    x, target = torch.randn(MICROBATCHES * BATCH, width), torch.randn(MICROBATCHES * BATCH, width)
    arguments = (x,) if rank == 0 else ()
    keywords = {"target": target} if rank == ranks - 1 else {}
    works = {kind: (lambda schedule=schedule: schedule.step(*arguments, **keywords)) for kind, schedule in schedules.items()}
    works["computes alone"] = computes(width, loss_fn)
    times = {kind: [] for kind in works}
    for work in works.values():
        for _ in range(5):
            work()
    for _ in range(turns):
        for kind, work in works.items():
            dist.barrier()
            for _ in range(steps):
                start = time.perf_counter()
                work()
                times[kind].append(time.perf_counter() - start)
    if rank == 0:
        torch.save({kind: statistics.median(found) for kind, found in times.items()}, out)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description="Times training steps.")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="per turn")
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__}, {options.ranks} ranks, {MICROBATCHES} micro-batches of {BATCH} rows; milliseconds")
    for width in 64, 512:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            torch.multiprocessing.spawn(process, (options.ranks, width, options.turns, options.steps,
                                                  os.path.join(folder, "store"), out), options.ranks)
            medians = torch.load(out)
        alone = medians["computes alone"]
        for kind, median in medians.items():
            overhead = "" if kind == "computes alone" else f"  overhead {1e3 * (median - alone):7.2f}"
            print(f"width {width:4}  {kind:17} {1e3 * median:7.2f}{overhead}", flush=True)


if __name__ == "__main__":
    main()
