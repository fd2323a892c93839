# RUN: %torch-python %s
"""An executor takes the data of a batch in an order; losses, outputs and gradients are
those of the batch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import pipec.torch

WIDTH, MICROBATCHES = 4, 6
ORDER = [3, 0, 5, 1, 4, 2]


def loss_fn(output, target):
    return (output - target).square().mean()


def reordered(mesh, case):
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(3)
    modules = [nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)]
    stage = PipelineStage(modules[rank], rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())
    batch, target = torch.randn(12, WIDTH), torch.randn(12, WIDTH)
    output = modules[1](modules[0](batch))
    own = [loss_fn(*pair) for pair in zip(output.chunk(MICROBATCHES), target.chunk(MICROBATCHES))]
    gradients = torch.autograd.grad(sum(own) / MICROBATCHES, tuple(modules[rank].parameters()))
    schedule = pipec.torch.executor("one_f_one_b", stage, loss_fn, MICROBATCHES)
    problems = []
    for order in ORDER, None:
        schedule.reorder(order)
        modules[rank].zero_grad()
        losses = []
        result = schedule.step(*((batch,) if rank == 0 else ()), **({"target": target, "losses": losses} if rank else {}))
        if rank and not torch.allclose(torch.stack(losses), torch.stack(own)):
            problems.append(("losses", order, losses))
        if rank and not torch.allclose(result, output):
            problems.append(("outputs", order))
        for parameter, gradient in zip(modules[rank].parameters(), gradients):
            if not torch.allclose(parameter.grad, gradient, atol=1e-6):
                problems.append(("gradients", order))
    if schedule._ordered(range(MICROBATCHES)) != range(MICROBATCHES):
        problems.append("an order remains")
    for order, text in ((ORDER if rank else list(range(MICROBATCHES)), "differs from that of another rank"),
                        ([0] * MICROBATCHES, "is not an order of 6 micro-batches")):
        try:
            schedule.reorder(order)
            problems.append((text, "not raised"))
        except ValueError as error:
            if text not in str(error):
                problems.append(str(error))
    return problems


(results,) = executors.run(2, [None], function=reordered)
assert not any(results), results
