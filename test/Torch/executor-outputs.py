# RUN: %torch-python %s
"""Outputs of executors: mappings with scalars are merged, without a loss function a
step is an evaluation, and split backwards begin at outputs that are views."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import pipec
import pipec.torch

WIDTH, MICROBATCHES = 4, 4


class Last(nn.Module):
    """A stage that computes its loss itself, as models of Transformers do."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        logits = self.linear(x)
        return {"loss": logits.square().mean(), "logits": logits}


def outputs(mesh, case):
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(3)
    modules = [nn.Linear(WIDTH, WIDTH), Last()]
    stage = PipelineStage(modules[rank], rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())
    batch = torch.randn(8, WIDTH)
    x = (batch,) if rank == 0 else ()
    parts = [modules[1](modules[0](part)) for part in batch.chunk(MICROBATCHES)]
    problems = []

    def compare(what, merged):
        if rank == 1 and not (torch.allclose(merged["logits"], torch.cat([part["logits"] for part in parts]))
                              and torch.allclose(merged["loss"], torch.stack([part["loss"] for part in parts]))):
            problems.append((what, merged))
        if rank == 0 and merged is not None:
            problems.append((what, merged))

    schedule = pipec.torch.executor("one_f_one_b", stage, lambda output, target: output["loss"] + 0 * target.sum(), MICROBATCHES)
    compare("step", schedule.step(*x, target=torch.zeros(8)) if rank == 1 else schedule.step(*x))
    if any(parameter.grad is None for parameter in modules[rank].parameters()):
        problems.append("no gradients")
    modules[rank].zero_grad()
    plain = pipec.torch.executor("one_f_one_b", stage, None, MICROBATCHES)
    compare("no loss", plain.step(*x))
    compare("evaluation", plain.eval(*x))
    if any(parameter.grad is not None for parameter in modules[rank].parameters()):
        problems.append("gradients")
    return problems


class View(nn.Module):
    """A stage whose output is a view, as that of PyTorch 2.13's Linear on sequences."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.linear(x.flatten(0, 1)).view(x.shape)


class Halves(nn.Module):
    """A middle stage whose outputs are views of one tensor."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x):
        return (self.linear(x) * 2).chunk(2, dim=-1)


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, a, b):
        return self.linear(a * b)


def view_loss(output, target):
    return (output - target).square().mean(dim=(0, 1)).sum().reshape(1).view(())


def views(mesh, case):
    """Gradients are those of the model on one process; PyTorch detaches what the input
    half begins with in place, which views do not allow."""
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(3)
    modules = [View(), View(), Halves(), Joined()]
    plan = pipec.compile(case, target="pytorch", ranks=mesh["pp"].size(), microbatches=MICROBATCHES)
    modules = modules[-plan.stages:]
    held = plan.stages_of(rank)
    batch, target = torch.randn(8, 3, WIDTH), torch.randn(8, 3, WIDTH)
    for x, y in zip(batch.chunk(MICROBATCHES), target.chunk(MICROBATCHES)):
        for module in modules:
            x = module(*x) if isinstance(x, tuple) else module(x)
            assert isinstance(module, Joined) or all(value._is_view() for value in (x if isinstance(x, tuple) else (x,)))
        (view_loss(x, y) / MICROBATCHES).backward()
    due = {stage: [parameter.grad for parameter in modules[stage].parameters()] for stage in held}
    for stage in held:
        modules[stage].zero_grad()
    stages = [PipelineStage(modules[stage], stage, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group())
              for stage in held]
    schedule = pipec.torch.executor(plan, stages, view_loss, MICROBATCHES)
    schedule.step(*((batch,) if 0 in held else ()), **({"target": target} if plan.stages - 1 in held else {}))
    return [(case, stage) for stage in held
            if not all(map(torch.allclose, [parameter.grad for parameter in modules[stage].parameters()], due[stage]))]


(results,) = executors.run(2, [None], function=outputs)
assert not any(results), results
for ranks, name in (3, "zb1p"), (2, "zbv"):
    (results,) = executors.run(ranks, [name], function=views)
    assert not any(results), results
