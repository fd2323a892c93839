# RUN: %torch-python %s
"""What an executor holds does not grow with the number of micro-batches: the units that
wait for their backwards are those of the report's peak, what else is alive is a few
tensors, and nothing is left after the step. The output of a unit lives until it has been
sent, and not until its backward."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import gc
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.multiprocessing.reductions import StorageWeakRef

import executors
import pipec
import pipec.torch
from pipec.torch._transfers import RECEIVES_AHEAD

WIDTH, ROWS = 8, 2


class Live:
    """Which memories of a kind are alive, and the most at a time."""

    def __init__(self):
        self.known, self.peak = {}, 0

    def add(self, tensor):
        self.known.setdefault(tensor.untyped_storage()._cdata, StorageWeakRef(tensor.untyped_storage()))
        self.peak = max(self.peak, self.now())

    def now(self):
        self.known = {key: weak for key, weak in self.known.items() if not weak.expired()}
        return len(self.known)


class Marked(torch.autograd.Function):
    """Saves a tensor of its own for the backward of a unit."""

    @staticmethod
    def forward(ctx, x, live):
        mark = torch.ones(3)
        live.add(mark)
        ctx.save_for_backward(mark)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        _ = ctx.saved_tensors
        return gradient.clone(), None


class Stage(nn.Module):
    def __init__(self, units, tensors, outputs):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.units, self.tensors, self.outputs = units, tensors, outputs

    def forward(self, x):
        result = Marked.apply(self.linear(x), self.units)
        if result.requires_grad:
            result.register_hook(self.tensors.add)
        for tensor in x, result:
            self.tensors.add(tensor)
        self.outputs.add(result)
        return result


def alive(mesh, case):
    """The peaks of this rank, and what is left after each step."""
    name, microbatches = case
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(name, target="pytorch", ranks=mesh["pp"].size(), microbatches=microbatches)
    units, tensors, outputs = Live(), Live(), Live()
    stages = [PipelineStage(Stage(units, tensors, outputs), s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group())
              for s in plan.stages_of(rank)]
    schedule = pipec.torch.executor(plan, stages, nn.functional.mse_loss, microbatches,
                                    patience=30)
    x, target = (torch.randn(ROWS * microbatches, WIDTH) for _ in range(2))
    first, last = (any(ranks[end] == rank for ranks in plan.maps) for end in (0, -1))
    left = []
    for _ in range(2):  # the second one receives ahead
        units.peak = tensors.peak = outputs.peak = 0
        losses = []
        schedule.step(*((x,) if first else ()), **(dict(target=target, losses=losses) if last else {}), return_outputs=False)
        assert all(loss.grad_fn is None for loss in losses) and bool(losses) == last
        # (That of PyTorch's mse_loss has the memory of an output.)
        assert all(loss.untyped_storage().nbytes() == loss.nbytes for loss in losses), [loss.untyped_storage().nbytes() for loss in losses]
        gc.collect()
        tensors.known.pop(x.untyped_storage()._cdata, None)
        left.append((units.now(), tensors.now()))
    # The batch is one of the tensors on the first rank.
    return plan.report().ranks[rank].peak, units.peak, tensors.peak, outputs.peak, left


# Split backwards free what the mark is in before their W.
WHOLE = ("one_f_one_b", "gpipe")
cases = [(name, m) for name in (*WHOLE, "zb1p", "zbv") for m in (8, 24)]
peaks = {}
for (name, m), ranks in zip(cases, executors.run(4, cases, function=alive)):
    for rank, (peak, units, tensors, outputs, left) in enumerate(ranks):
        assert units == peak if name in WHOLE else units <= peak, (name, m, rank, units, peak)
        # An input and an output for each unit, receives ahead and their gradients, sends of both kinds.
        assert tensors <= 2 * peak + 2 * (RECEIVES_AHEAD + 2) + 4, (name, m, rank, tensors, peak)
        # Two sends under way, and what is sent next. (A loss keeps the output that it is of.)
        assert name not in WHOLE or rank == 3 or outputs <= 3, (name, m, rank, outputs)
        assert left == [(0, 0)] * 2, (name, m, rank, left)
        peaks[name, m, rank] = peak, units, tensors
for rank in range(4):
    assert peaks["one_f_one_b", 8, rank] == peaks["one_f_one_b", 24, rank], peaks
