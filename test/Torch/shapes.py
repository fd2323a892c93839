# RUN: %torch-python %s
"""Shapes: stages run once for each micro-batch, also in the first step; evaluations of any
size; batches that the number of micro-batches does not divide; and, with dynamic shapes,
other sizes in every step."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.tensor import DTensor, Replicate

import executors
import pipec
import pipec.torch
from pipec.torch import _metas

WIDTH, COUNT = 4, 4


class Stage(nn.Module):
    """Gives two tensors, one of integers."""

    def __init__(self, last):
        super().__init__()
        self.linear, self.last, self.calls = nn.Linear(WIDTH, WIDTH, dtype=torch.float64), last, 0

    def forward(self, x, marks=None):
        self.calls += 1
        assert bool(x.any()), "zeros"
        y = self.linear(x).tanh() * (1 if marks is None else marks)
        return y if self.last else (y, (x > 0).long() + 1)


def loss(output, target):
    return nn.functional.mse_loss(output, target)


def sizes(mesh, case):
    name, dynamic = case
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(name, target="pytorch", ranks=2, microbatches=COUNT)
    torch.manual_seed(1)
    modules = [Stage(s == plan.stages - 1) for s in range(plan.stages)]
    torch.manual_seed(1)
    whole = [Stage(s == plan.stages - 1) for s in range(plan.stages)]
    mine = plan.stages_of(rank)
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = pipec.torch.executor(plan, parts, loss, COUNT, patience=30, dynamic_shapes=dynamic)
    first, last = (any(ranks[end] == rank for ranks in plan.maps) for end in (0, -1))

    def plain(x):
        y = (x,)
        for stage in whole:
            y = stage(*y)
            y = y if isinstance(y, tuple) else (y,)
        return y[0]

    def run(rows, shape=()):
        torch.manual_seed(rows)
        x, target = torch.randn(rows, *shape, WIDTH, dtype=torch.float64), torch.randn(rows, *shape, WIDTH, dtype=torch.float64)
        losses = []
        schedule.step(*((x,) if first else ()), **(dict(target=target, losses=losses) if last else {}))
        due = [loss(plain(a), b) for a, b in zip(x.tensor_split(COUNT), target.tensor_split(COUNT))]
        (sum(due) / COUNT).backward()
        if last:
            halves = due if len(plan.maps) == 1 else due[:2] if plan.maps[0][-1] == rank else due[2:]
            assert torch.allclose(torch.stack(losses), torch.stack(halves)), (losses, due)
        for s in mine:
            for p, q in zip(modules[s].parameters(), whole[s].parameters()):
                assert torch.allclose(p.grad, q.grad), (case, s, rows)
            modules[s].zero_grad()
            whole[s].zero_grad()

    def evaluate(rows):
        x = torch.randn(rows, WIDTH, dtype=torch.float64)
        result = schedule.eval(*((x,) if first else ()))
        if last:
            assert result.shape == ((rows if len(plan.maps) == 1 else result.shape[0]), WIDTH)

    evaluate(6)
    run(7)
    calls = COUNT if len(plan.maps) == 1 else COUNT // 2
    assert all(modules[s].calls == 2 * calls for s in mine), [m.calls for m in modules]
    for rows in (7, 12, 5, 12) if dynamic else (7, 7):
        run(rows)
        evaluate(rows + 1)
    if dynamic:
        run(9, (3,))  # other dimensions
        run(8)
        return
    executors.refuse("stage 0 gives float64[3, 4], int64[3, 4] for micro-batch 0, and gave float64[2, 4], int64[2, 4] in the first "
                     "run; with dynamic_shapes=True they may differ" if rank == 0 else "rank 0 failed: ValueError: stage 0 gives",
                     lambda: run(12))


def headers():
    metas = [_metas.Meta(torch.Size([3, 1, 5]), torch.bfloat16), _metas.Meta(torch.Size([]), torch.int64)]
    assert _metas.metas_in(_metas.header_of(metas, torch.device("cpu"))) == metas
    assert _metas.metas_in(_metas.header_of([], torch.device("cpu"))) == []
    executors.refuse("at most 16 tensors", lambda: _metas.header_of(metas * 9, torch.device("cpu")))


class Gives(nn.Module):
    def __init__(self, what):
        super().__init__()
        self.linear, self.what = nn.Linear(WIDTH, WIDTH), what

    def forward(self, x):
        return self.what(self.linear(x))


def others(mesh, case):
    """What stages cannot exchange."""
    rank = mesh["pp"].get_local_rank()
    module = Gives((lambda y: [y]) if case == "list" else lambda y: DTensor.from_local(y, mesh["dp"], [Replicate()]))
    part = PipelineStage(module if rank == 0 else nn.Linear(WIDTH, WIDTH), rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())
    schedule = pipec.torch.executor(pipec.compile("one_f_one_b", target="pytorch", ranks=2, microbatches=COUNT), [part], loss, COUNT,
                                    patience=30)
    x = torch.randn(COUNT, WIDTH)
    executors.refuse(f"stage 0 gives {case}", lambda: schedule.step(*((x,) if rank == 0 else ()), target=x if rank == 1 else None),
                     (TypeError, RuntimeError))


headers()
for text in "a DTensor", "list":
    executors.run(2, [text], function=others)
for dynamic in True, False:
    for name in ("zb1p", "zbv", "chimera")[:3 if dynamic else 1]:
        executors.run(2, [(name, dynamic)], function=sizes)
