"""Whether all ranks have the same schedule."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import hashlib
from typing import ContextManager

import torch
import torch.distributed as dist
from torch.distributed.pipelining.stage import _PipelineStageBase

from .._schedule import Schedule
from ._source import Source


def check_agreement(stage: _PipelineStageBase, schedule: Schedule | Source | None, problem: Exception | None,
                    text: str | None = None) -> None:
    """Called by every rank of the stage's group, with its schedule or with what is
    wrong with it; `text` is what the ranks compare, by default the CSV or the source. Raises
    `problem`; RuntimeError when another rank has one, and ValueError when the
    schedules of the ranks differ. Nothing is compared in a group of one rank or of
    the backend `fake`.
    """
    group = stage.group
    if stage.group_size == 1 or not dist.is_initialized() or dist.get_backend(group) == "fake":
        if problem:
            raise problem
        return
    device = torch.device(stage.device)
    on_device: ContextManager[object] = torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()
    if text is None and schedule is not None:
        text = schedule.text if isinstance(schedule, Source) else schedule.csv
    mine = ("error", str(problem)) if problem or text is None else \
        (hashlib.sha256(text.encode()).hexdigest()[:12], repr(schedule))
    everyone: list[tuple[str, str]] = [mine] * stage.group_size
    with on_device:
        dist.all_gather_object(everyone, mine, group=group)
    if problem:
        raise problem
    for rank, (digest, what) in enumerate(everyone):
        if digest == "error":
            raise RuntimeError(f"rank {rank} has no schedule: {what}")
    if len(set(everyone)) > 1:
        ranks: dict[tuple[str, str], list[str]] = {}
        for rank, one in enumerate(everyone):
            ranks.setdefault(one, []).append(str(rank))
        raise ValueError("the ranks have different schedules: " + "; ".join(
            f"rank{'s' * (len(who) > 1)} {', '.join(who)} {what} with digest {digest}"
            for (digest, what), who in ranks.items()))


def agree_on(stage: _PipelineStageBase, digest: str, problem: Exception | None) -> str:
    """Compares a digest on every rank of the stage's group, as `check_agreement` does, in
    one small collective. Returns it."""
    group = stage.group
    if stage.group_size == 1 or not dist.is_initialized() or dist.get_backend(group) == "fake":
        if problem:
            raise problem
        return digest
    device = torch.device(stage.device)
    mine = torch.tensor([int(digest[:15] or "0", 16)], device=device)
    everyone = [torch.empty_like(mine) for _ in range(stage.group_size)]
    dist.all_gather(everyone, mine, group=group)
    if problem:
        raise problem
    for rank, other in enumerate(everyone):
        if not torch.equal(mine, other):
            what = "has no schedule" if int(other) == 0 else f"has a schedule with digest {int(other):015x}"
            raise ValueError(f"the ranks run different schedules: rank {rank} {what}, rank {stage.group_rank} one with {digest[:15]}")
    return digest
