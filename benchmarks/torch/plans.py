#!/usr/bin/env python3
"""Runs the plans of two models: predicted and measured, for docs/Results.md:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PYTHON benchmarks/torch/plans.py [--sleep] [--ranks 8]

`gpt` has a heavy head, `encoder` a few large layers before many small ones. Each model is
measured, planned, and run as gloo processes by the executor in three ways: 1F1B on the
even layout (now), the best of PyTorch's own schedules (built-in), and the best plan.
Rounds of a few steps take turns. The allocator keeps its memory, so that no step waits for
pages of the system; `--pages` leaves it as it is. With `--sleep`, a stage sleeps for its
costs in place of computing, so that more ranks than processors run in parallel. Prints rows
of the table.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import os
import re
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage

import pipec
import pipec.torch
from pipec.torch._plan import _stage_of_layers

WIDTH, LENGTH = 128, 64
KEEPS_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**32), "MALLOC_TRIM_THRESHOLD_": str(2**36)}
"""The environment with which glibc gives no memory back."""


class Head(nn.Module):
    """A projection to a large vocabulary, with the loss of each token."""

    def __init__(self, vocabulary):
        super().__init__()
        self.project = nn.Linear(WIDTH, vocabulary)

    def forward(self, x):
        return torch.logsumexp(self.project(x), -1)


class Reduce(nn.Linear):
    """From the encoder to the layers after it: half as wide."""


def layers(model, blocks):
    def block(width, hidden):
        return nn.TransformerEncoderLayer(width, 4, hidden, dropout=0.0, batch_first=True)

    torch.manual_seed(0)
    small = [block(WIDTH, 4 * WIDTH) for _ in range(blocks)]
    if model == "gpt":
        return [nn.Embedding(8000, WIDTH), *small, Head(8000)]
    large = [block(2 * WIDTH, 8 * WIDTH) for _ in range(blocks // 4)]
    return [nn.Embedding(1000, 2 * WIDTH), *large, Reduce(2 * WIDTH, WIDTH), *small, Head(1000)]


class SleepW(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, costs, calls):
        ctx.costs, ctx.calls = costs, calls
        return weight.clone()

    @staticmethod
    def backward(ctx, gradient):
        # The node of the input has run twice in a split backward.
        time.sleep(ctx.costs["W"] if len(ctx.calls) > 1 else max(ctx.costs["B"] - ctx.costs["I"], 0))
        return gradient, None, None


class SleepF(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, costs, calls):
        time.sleep(costs["F"])
        ctx.costs, ctx.calls = costs, calls
        return x * weight

    @staticmethod
    def backward(ctx, gradient):
        if not ctx.calls:
            time.sleep(min(ctx.costs["I"], ctx.costs["B"]))
        ctx.calls.append(None)
        return gradient, gradient.sum(), None, None


class Sleep(nn.Module):
    """A stage that sleeps for its costs, in seconds."""

    def __init__(self, costs):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
        self.costs = costs

    def forward(self, x):
        calls = []
        return SleepF.apply(x, SleepW.apply(self.weight, self.costs, calls), self.costs, calls)


def rows(plan, profile, options):
    """The schedules of the three rows, with the costs of each stage."""
    for name in ("now", "built_in", "best"):
        row = getattr(plan, name)
        if row is None:
            continue
        schedule = plan.schedule if name == "best" else pipec.compile(
            row.schedule, ranks=options.ranks, microbatches=options.microbatches, args=[f"--layout={row.layout}"],
            profile=profile, **(row.params or {}))
        with tempfile.NamedTemporaryFile("w", suffix=".steps") as file:
            file.write(schedule.ir)
            file.flush()
            yield name, row, pipec.compile(file.name, target="pytorch")


def stage(schedule, index, kinds, letters, options):
    """A new module of a stage."""
    held = [layer for layer, place in enumerate(_stage_of_layers(schedule)) if place == index]
    if options.sleep:
        return Sleep({kind: sum(kinds[letters[layer]][kind] for layer in held) / 1000 for kind in "FBIW"})
    made = layers(options.model, options.blocks)
    return nn.Sequential(*(made[layer] for layer in held))


def process(rank, options, found, kinds, letters, store, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=options.ranks)
    works = []
    for _, row, schedule in found:
        stages = [PipelineStage(stage(schedule, index, kinds, letters, options), index, schedule.stages, torch.device("cpu"))
                  for index in schedule.stages_of(rank)]
        runs = pipec.torch.executor(schedule, stages, lambda output, target: output.mean(), options.microbatches)
        size = options.batch * options.microbatches
        x = torch.ones(size, 8, requires_grad=True) if options.sleep else torch.randint(0, 1000, (size, LENGTH))
        arguments = (x,) if 0 in schedule.stages_of(rank) else ()
        keywords = {"target": torch.zeros(size)} if schedule.stages - 1 in schedule.stages_of(rank) else {}
        works.append(lambda runs=runs, arguments=arguments, keywords=keywords: runs.step(*arguments, **keywords))
    times = [[] for _ in works]
    for turn in range(options.turns + 1):
        for work, taken in zip(works, times):
            for _ in range(options.steps):
                dist.barrier()
                start = time.perf_counter()
                work()
                dist.barrier()
                if turn:
                    taken.append(1000 * (time.perf_counter() - start))
    if rank == 0:
        torch.save(times, out)
    dist.barrier()
    dist.destroy_process_group()


def measure(options):
    torch.set_num_threads(1)
    sample = torch.randint(0, 1000, (options.batch, LENGTH))
    return pipec.torch.measure(layers(options.model, options.blocks), sample, repeats=options.repeats)


def main():
    parser = argparse.ArgumentParser(description="Runs the plans of two models.")
    parser.add_argument("--models", default="gpt,encoder")
    parser.add_argument("--sleep", action="store_true", help="sleep for the measured costs in place of computing")
    parser.add_argument("--pages", action="store_true", help="let the allocator give memory back to the system")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the costs of --sleep")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--batch", type=int, default=8, help="rows of a micro-batch")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--p2p", type=float, default=0, help="milliseconds of a transfer, for the plan")
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="per turn")
    options = parser.parse_args()
    if not options.pages and any(os.environ.get(name) != value for name, value in KEEPS_MEMORY.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEPS_MEMORY})
    print("| model | row | schedule | layout | predicted, ms | measured: median, least | difference of both |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for options.model in options.models.split(","):
        profile = measure(options)
        kinds = profile["layers"]
        if options.sleep:
            kinds = {kind: {name: figure * options.scale for name, figure in costs.items() if name in "FBIW"}
                     for kind, costs in kinds.items()}
            profile = {"layers": kinds, "sequence": profile["sequence"]}
        plan = pipec.plan(profile, ranks=options.ranks, microbatches=options.microbatches, for_="pytorch",
                          effort=options.effort, cost={"p2p": options.p2p} if options.p2p else None)
        letters = plan_letters(plan)
        found = list(rows(plan, profile, options))
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            torch.multiprocessing.spawn(process, (options, found, kinds, letters, os.path.join(folder, "store"), out),
                                        options.ranks)
            times = torch.load(out)
        for (name, row, _), taken in zip(found, times):
            measured, layout = statistics.median(taken), row.layout.replace("|", "\\|")
            print(f"| {options.model} | {name.replace('_', '-')} | `{row.schedule}` | `{layout}` | {row.makespan:.0f} | "
                  f"{measured:.0f}, {min(taken):.0f} | {100 * (measured / row.makespan - 1):+.1f} %, "
                  f"{100 * (min(taken) / row.makespan - 1):+.1f} % |", flush=True)


def plan_letters(plan):
    """The kind of each layer, from the layout of the plan."""
    text = re.sub(r"\(([^()]*)\)\*(\d+)", lambda found: found[1] * int(found[2]), plan.best.layout.replace(",", ""))
    return re.sub(r"(.)\*(\d+)", lambda found: found[1] * int(found[2]), text).replace("|", "")


if __name__ == "__main__":
    main()
