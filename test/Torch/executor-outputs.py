# RUN: %torch-python %s
"""Outputs of executors: mappings with scalars are merged, and without a loss function a
step is an evaluation."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
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


(results,) = executors.run(2, [None], function=outputs)
assert not any(results), results
