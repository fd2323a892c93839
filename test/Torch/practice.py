# RUN: %torch-python %s
"""Norms over all stages, and tied parameters that get the values of the first copy."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import pipec
import pipec.torch

WIDTH = 6
TIED = "schedule tied(ranks p, microbatches m) { placement loop; tie 0, stages - 1; warmup { repeat m { F } } cooldown { repeat m { B } } }"


def modules_of(count, seed):
    torch.manual_seed(seed)
    return [nn.Linear(WIDTH, WIDTH, dtype=torch.float64) for _ in range(count)]


def norms(mesh, case):
    """Equal to those of the model on one process, where shared parameters are one."""
    rank = mesh["pp"].get_local_rank()
    tied = case == "tied"
    plan = pipec.compile(source=TIED, target="pytorch", ranks=2, microbatches=4) if tied else \
        pipec.compile(case, target="pytorch", ranks=2, microbatches=4)
    mine = plan.stages_of(rank)
    modules, whole = modules_of(plan.stages, 2), modules_of(plan.stages, 2)
    if tied:
        whole[-1].weight = whole[0].weight
        if rank == 1:  # another start
            nn.init.zeros_(modules[1].weight)
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    options = dict(tied_parameters={s: [modules[s].weight] for s in mine}, broadcast_tied=True) if tied else {}
    schedule = pipec.torch.executor(plan, parts, nn.functional.mse_loss, 4, **options)
    torch.manual_seed(5)
    x, target = torch.randn(8, WIDTH, dtype=torch.float64), torch.randn(8, WIDTH, dtype=torch.float64)
    model = nn.Sequential(*whole)
    for norm_type in 2.0, 1.0, math.inf:
        for module in modules:
            module.zero_grad()
        model.zero_grad()
        schedule.step(*((x,) if any(ranks[0] == rank for ranks in plan.maps) else ()),
                      **(dict(target=target) if any(ranks[-1] == rank for ranks in plan.maps) else {}))
        nn.functional.mse_loss(model(x), target).backward()
        due = nn.utils.clip_grad_norm_(model.parameters(), 0.01, norm_type)
        found = pipec.torch.clip_grad_norm_(schedule, 0.01, norm_type)
        assert torch.allclose(found.double(), due, rtol=1e-6) and due > 0.01, (case, norm_type, found, due)
        for s in mine:
            for p, q in zip(modules[s].parameters(), whole[s].parameters()):
                assert torch.allclose(p.grad, q.grad, rtol=1e-6), (case, norm_type, s)
    parts[0].submod.bias.grad.fill_(math.nan if rank == 0 else 0)
    executors.refuse("the norm of the gradients of all stages is nan",
                     lambda: pipec.torch.clip_grad_norm_(schedule, 1.0, error_if_nonfinite=True))


def scaled(mesh, case):
    """The code of docs/Torch.md with a GradScaler: the weights of the model on one process,
    also after an overflow; and a stage in bfloat16."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "Torch.md").read_text(encoding="utf-8")
    code = page.split("```python scaled\n")[1].split("```")[0].replace('"one_f_one_b", stages, loss_fn, 8', '"one_f_one_b", stages, loss_fn, 4')
    rank = mesh["pp"].get_local_rank()
    modules, whole = modules_of(2, 2), modules_of(2, 2)
    if case is not None:
        modules, whole = [m.to(case) for m in modules], [m.to(case) for m in whole]
    dtype = case or torch.float64
    torch.manual_seed(5)
    batches = [(torch.randn(8, WIDTH).to(dtype), torch.randn(8, WIDTH).to(dtype)) for _ in range(4)]
    batches[2] = batches[2][0], torch.full_like(batches[2][1], math.inf)
    optimizer = torch.optim.SGD(modules[rank].parameters(), lr=0.1)
    exec(code, {  # noqa: S102 (of the page)
        "torch": torch, "pipec": pipec, "device": torch.device("cpu"), "batches": batches, "optimizer": optimizer,
        "stages": [PipelineStage(modules[rank], rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())],
        "inputs": lambda x: (x,) if rank == 0 else (), "targets": lambda target: {"target": target} if rank == 1 else {}})
    model, scaler = nn.Sequential(*whole), torch.amp.GradScaler("cpu")
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, target in batches:
        for a, b in zip(x.chunk(4), target.chunk(4)):
            (scaler.scale(nn.functional.mse_loss(model(a), b)) / 4).backward()
        scaler.unscale_(plain)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(plain)
        scaler.update()
        plain.zero_grad()
    for p, q in zip(modules[rank].parameters(), whole[rank].parameters()):
        assert torch.isfinite(p).all() and torch.allclose(p, q, rtol=1e-5 if case is None else 1e-2, atol=1e-2 if case else 0), (case, p, q)


for case in None, torch.bfloat16:
    executors.run(2, [case], function=scaled)
for case in "one_f_one_b", "zbv", "chimera", "tied":
    executors.run(2, [case], function=norms)
