"""A model, planned and trained on the ranks of a job:

    torchrun --nproc-per-node=4 -m pipec.torch.train_example

The model is a small language model. The gradients of the first step are compared with
those of the model without a pipeline.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import copy

import torch
import torch.distributed as dist
from torch import nn

import pipec.torch

WIDTH, VOCABULARY, LENGTH, BATCH, MICROBATCHES, STEPS = 32, 100, 16, 16, 8, 3


def layers() -> list[nn.Module]:
    torch.manual_seed(0)
    blocks = [nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True) for _ in range(8)]
    return [nn.Embedding(VOCABULARY, WIDTH), *blocks, nn.Linear(WIDTH, VOCABULARY)]


def loss_fn(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


def main() -> None:
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = [layer.double() for layer in layers()]
    whole = nn.Sequential(*copy.deepcopy(model))

    plan = pipec.torch.plan(model, torch.zeros(BATCH // MICROBATCHES, LENGTH, dtype=torch.long), ranks=ranks,
                            microbatches=MICROBATCHES, repeats=3, effort=1)
    schedule = plan.executor(loss_fn=loss_fn)
    mine = [value for module in schedule.modules.values() for value in module.parameters()]
    optimizer = torch.optim.AdamW(mine)
    for step in range(STEPS):
        x = torch.randint(0, VOCABULARY, (BATCH, LENGTH), generator=torch.Generator().manual_seed(step))
        losses: list[torch.Tensor] = []
        inputs = [x] if 0 in schedule.modules else []
        schedule.step(*inputs, target=x if plan.schedule.stages - 1 in schedule.modules else None, losses=losses)
        if step == 0:
            compare(plan, schedule, whole, x)
        optimizer.step()
        optimizer.zero_grad()
        if losses:
            print(f"rank {rank}, step {step}: loss {torch.stack(losses).mean().item():.4f}", flush=True)
    if rank == 0:
        print(plan, flush=True)
    dist.destroy_process_group()


def compare(plan: pipec.torch.Plan, schedule: pipec.torch.Executor, whole: nn.Sequential, x: torch.Tensor) -> None:
    """Raises AssertionError unless the gradients are those of the whole model."""
    loss_fn(whole(x), x).backward()  # type: ignore[no-untyped-call, unused-ignore]
    names = {id(value): name for name, value in nn.Sequential(*plan.layers).named_parameters()}
    due = dict(whole.named_parameters())
    for module in schedule.modules.values():
        for value in module.parameters():
            torch.testing.assert_close(value.grad, due[names[id(value)]].grad, rtol=1e-9, atol=1e-12)
    print(f"rank {dist.get_rank()}: {sum(len(list(module.parameters())) for module in schedule.modules.values())} "
          "gradients equal those of the whole model", flush=True)


if __name__ == "__main__":
    main()
