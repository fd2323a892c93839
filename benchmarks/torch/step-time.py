#!/usr/bin/env python3
"""Times training steps of PyTorch's own schedules, of its runtime with a CSV of the
same schedule, and of the generated executor in Python:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PYTHON benchmarks/torch/step-time.py [--ranks 2]

All are schedules of one job of gloo processes, with equal stages; they take turns, so
that they share what else the machine does. A stage is two linear layers with an
activation function between them. Prints the median of all steps, the overhead, which is
the median without that of the same computes in a loop, the median over the turns of
the ratio to PyTorch's own schedule, and the processor time of the main thread of rank 0
per micro-batch, in microseconds, least of the turns, without that of the computes.
`--empty` has stages that do nothing: what is left is the cost of the steps and of the
transfers. `--by-hand` adds a loop for 1F1B on two ranks with the calls of PyTorch that
every executor needs, and no others: the least that a step can take.

`--memory` prints instead how many tensors of the size of an activation are alive, on
rank 0 and on the last rank: the most within a step, and those that are left after it.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import collections
import gc
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.utils._pytree
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B, ScheduleZBVZeroBubble
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

import pipec
import pipec.torch

BATCH = 16
KINDS = ("PyTorch's own", "runtime with CSV", "executor")
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


class Alive(TorchDispatchMode):
    """Counts the tensors of a size that are alive, of those that operators make."""

    def __init__(self, size):
        super().__init__()
        self.size, self.known, self.peak = size, {}, 0

    def now(self):
        self.known = {key: weak for key, weak in self.known.items() if not weak.expired()}
        return len(self.known)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in torch.utils._pytree.tree_leaves(result):
            if isinstance(value, torch.Tensor) and value.untyped_storage().nbytes() == self.size:
                storage = value.untyped_storage()
                self.known.setdefault(storage._cdata, StorageWeakRef(storage))
        self.peak = max(self.peak, self.now())
        return result


def alive(step, width):
    """The tensors of the size of an activation that are alive in the third step, and
    after it. Some classes of PyTorch keep buffers from the first step on."""
    with Alive(4 * BATCH * width) as mode:
        for _ in range(3):
            gc.collect()
            mode.peak = 0
            step()
    gc.collect()
    return mode.peak, mode.now()


def computes(modules, width, microbatches, loss_fn):
    """The computes of a rank with the last stage, without transfers."""
    inputs = [torch.randn(BATCH, width, requires_grad=True) for _ in range(microbatches)]
    target = torch.randn(BATCH, width)

    def step():
        for x in inputs:
            for stage in modules:
                loss_fn(stage(x), target).backward()
            x.grad = None

    return step


def by_hand(stage, rank, width, microbatches, loss_fn, x, target):
    """1F1B on two ranks, with receives four ahead, for tensors whose shapes are known."""
    group, peer = dist.distributed_c10d._get_default_group(), 1 - rank
    backward, scale = torch.autograd.graph._engine_run_backward, torch.tensor(1 / microbatches)

    def step():
        inputs, targets = x.chunk(microbatches), target.chunk(microbatches)
        received, sent, kept = collections.deque(), collections.deque(), collections.deque()

        def receive(count):
            for _ in range(count):
                tensor = torch.empty(BATCH, width)
                received.append((group.recv([tensor], peer, 0), tensor))

        def arrived():
            work, tensor = received.popleft()
            work.wait()
            return tensor

        def send(tensor):
            while len(sent) >= 2:
                sent.popleft()[0].wait()
            sent.append((group.send([tensor], peer, 0), tensor))

        def first(k):
            output = stage(inputs[k])
            kept.append(output)
            send(output.detach())

        def back(gradient):
            backward((kept.popleft(),), (gradient,), False, False, (), allow_unreachable=True, accumulate_grad=True)

        receive(min(4, microbatches))
        if rank == 0:
            first(0)
        for k in range(microbatches):
            if rank == 0 and k + 1 < microbatches:
                first(k + 1)
            if k + 4 < microbatches:
                receive(1)
            tensor = arrived()
            if rank == 0:
                back(tensor)
                continue
            kept.append(loss_fn(stage(tensor.requires_grad_()), targets[k]))
            back(scale)
            send(tensor.grad)
        while sent:
            sent.popleft()[0].wait()

    return step


def process(rank, options, name, width, store, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=options.ranks)
    loss_fn = torch.nn.functional.mse_loss
    own, params = OWN[name]
    microbatches = options.microbatches
    plan = pipec.compile(name, target="pytorch", ranks=options.ranks, microbatches=microbatches, **params)
    held = plan.stages_of(rank)

    def make(kind):
        stages = [PipelineStage(module(width, options.empty), stage, plan.stages, torch.device("cpu")) for stage in held]
        if kind == KINDS[0]:
            return own(stages[0] if own is Schedule1F1B else stages, microbatches, loss_fn)
        if kind == KINDS[1]:
            return pipec.torch.load_schedule(name, stages, loss_fn, microbatches, **params)
        return pipec.torch.executor(plan, stages, loss_fn, microbatches)

    schedules = {kind: make(kind) for kind in KINDS}
    x, target = torch.randn(microbatches * BATCH, width), torch.randn(microbatches * BATCH, width)
    arguments = (x,) if 0 in held else ()
    keywords = {"target": target} if plan.stages - 1 in held else {}
    works = {kind: (lambda schedule=schedule: schedule.step(*arguments, **keywords, return_outputs=False))
             for kind, schedule in schedules.items()}
    if options.memory:
        torch.save({kind: alive(work, width) for kind, work in works.items()}, f"{out}.{rank}")
        dist.barrier()
        dist.destroy_process_group()
        return
    if options.by_hand:
        works["loop by hand"] = by_hand(module(width, options.empty), rank, width, microbatches, loss_fn, x, target)
    works["computes alone"] = computes([module(width, options.empty) for _ in held], width, microbatches, loss_fn)
    times = {kind: [[] for _ in range(options.turns)] for kind in works}
    threads = {kind: [] for kind in works}
    for work in works.values():
        for _ in range(WARM_UP):
            work()
    for turn in range(options.turns):
        for kind, work in works.items():
            dist.barrier()
            busy = time.thread_time()
            for _ in range(options.steps):
                start = time.perf_counter()
                work()
                times[kind][turn].append(time.perf_counter() - start)
            threads[kind].append((time.thread_time() - busy) / options.steps / microbatches)
    if rank == 0:
        torch.save((times, {kind: min(of_turns) for kind, of_turns in threads.items()}), out)
    dist.barrier()
    dist.destroy_process_group()


def print_memory(name, width, ends):
    for kind in KINDS:
        (first, first_left), (last, last_left) = (counts[kind] for counts in ends)
        print(f"{name:12} {width:5}  {kind:16} {first:12}  {first_left:4}  {last:15}  {last_left:4}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times training steps.")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="per turn")
    parser.add_argument("--schedules", default=",".join(OWN), help="some of " + ", ".join(OWN))
    parser.add_argument("--widths", default="64,512")
    parser.add_argument("--empty", action="store_true", help="stages that do nothing")
    parser.add_argument("--by-hand", action="store_true", help="a loop with nothing but calls of PyTorch, too")
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--memory", action="store_true", help="how many activations are alive, without times")
    options = parser.parse_args()
    if options.by_hand and (options.schedules, options.ranks, options.memory) != ("one_f_one_b", 2, False):
        parser.error("--by-hand is for times of --schedules=one_f_one_b on two ranks")
    print(f"PyTorch {torch.__version__}, {options.ranks} ranks, {options.microbatches} micro-batches of {BATCH} rows"
          + ("; activations alive" if options.memory else "; milliseconds"))
    print("schedule     width  executor         rank 0: most  left  last rank: most  left" if options.memory else
          "schedule     width  executor            step  overhead  ratio  thread (us)")
    for name in options.schedules.split(","):
        for width in map(int, options.widths.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out")
                torch.multiprocessing.spawn(process, (options, name, width, os.path.join(folder, "store"), out), options.ranks)
                if options.memory:
                    print_memory(name, width, [torch.load(f"{out}.{rank}") for rank in (0, options.ranks - 1)])
                    continue
                times, threads = torch.load(out)
            medians = {kind: statistics.median(sum(turns, [])) for kind, turns in times.items()}
            for kind, turns in times.items():
                of_turns = zip(map(statistics.median, turns), map(statistics.median, times["PyTorch's own"]))
                ratio = statistics.median(mine / own for mine, own in of_turns)
                thread = 1e6 * (threads[kind] - threads["computes alone"])
                rest = f"{1e3 * (medians[kind] - medians['computes alone']):8.2f}  {ratio:5.2f}  {thread:11.0f}"
                if kind == "computes alone":
                    rest = ""
                print(f"{name:12} {width:5}  {kind:16} {1e3 * medians[kind]:7.2f}  {rest}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
