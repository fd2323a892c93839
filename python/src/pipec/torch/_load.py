"""Compiling a schedule into PyTorch's runtime."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Mapping, Sequence

from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.distributed.pipelining.stage import _PipelineStageBase

from .._compile import compile as _compile
from .._inputs import Cost, Profile
from .._schedule import Kind, Schedule
from ._agree import check_agreement
from ._source import Source
from ._version import check_version, fitting_target


def load_schedule(path_or_name: str | os.PathLike[str] | Schedule, stages: Sequence[_PipelineStageBase] | _PipelineStageBase,
                  loss_fn: Callable[..., Any] | None, n_microbatches: int, *, target: str | None = None,
                  passes: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
                  args: Sequence[str] = (), scale_grads: bool = True, runtime: Mapping[str, Any] | None = None,
                  check_ranks: bool = True, **params: int) -> _PipelineScheduleRuntime:
    """Compiles a schedule for the ranks of the stages' group, and returns
    PyTorch's runtime with it, ready for `step`.

    `stages` are those of this rank. The first argument is what
    `pipec.compile` takes, or a schedule that it made for PyTorch; `params` are
    further parameters of the program (`chunks=2`). `ranks` and `microbatches`
    are given to a program by themselves. PyTorch runs the slices of a schedule as
    micro-batches, which `n_microbatches` then counts. The passes are those of the target for
    the installed PyTorch unless `target` or `passes` says otherwise; `cost`,
    `profile` and `args` are those of `pipec.compile`. `runtime` holds
    further arguments of the runtime's constructor.

    Every rank of the group calls this, and the ranks compare what they have, so
    that an old file on one node is an error and not a job that waits;
    `check_ranks=False` leaves that out.

    Raises CompileError when the schedule does not compile, and ValueError when
    it is not for these stages, not for this PyTorch, not the same on all ranks, or
    has an order of its batch; RuntimeError when one of these happened on another rank.
    """
    mine = [stages] if isinstance(stages, _PipelineStageBase) else sorted(stages, key=lambda s: s.stage_index)
    if not mine:
        raise ValueError("no stages: every rank of a pipeline holds one")
    schedule, problem = None, None
    try:
        schedule = _schedule_for(path_or_name, mine, n_microbatches, target=target, passes=passes, cost=cost,
                                 profile=profile, args=args, params=params)
        check_fits(schedule, mine, n_microbatches, schedule.units)
        if schedule.order is not None:
            raise ValueError(f"{schedule.name} has an order of its batch, and PyTorch's runtime runs batches as they are: "
                             "pipec.torch.executor applies the order")
        _check_form(schedule)
        check_version(schedule)
    except Exception as error:  # noqa: BLE001 (raised again, when the other ranks know)
        problem = error
    if check_ranks:
        check_agreement(mine[0], schedule, problem)
    elif problem:
        raise problem
    assert schedule is not None

    make: Any = _PipelineScheduleRuntime
    result: _PipelineScheduleRuntime = make(mine, n_microbatches, loss_fn=loss_fn, scale_grads=scale_grads,
                                            **(runtime or {}))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "schedule.csv")
        schedule.write_csv(file)
        result._load_csv(file, format=schedule.torch_config["torch"]["format"])
    return result


def _schedule_for(path_or_name: str | os.PathLike[str] | Schedule, mine: Sequence[_PipelineStageBase], microbatches: int, *,
                  target: str | None, passes: str | None, cost: Cost | None, profile: Profile | None,
                  args: Sequence[str], params: Mapping[str, int]) -> Schedule:
    """The schedule, compiled for the stages' group unless it is compiled."""
    if isinstance(path_or_name, Schedule):
        given = {"target": target, "passes": passes, "cost": cost, "profile": profile, "args": args or None, **params}
        if useless := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"{', '.join(useless)}: {path_or_name.name} is compiled already")
        return path_or_name
    if target is not None and not target.startswith("torch"):
        raise ValueError(f"target `{target}` is not for PyTorch; `{fitting_target()}` is")
    if target is None and passes is None:
        target = fitting_target()
    path = os.fspath(path_or_name)
    if path.endswith(".csv"):
        params = {"stages": mine[0].num_stages, "microbatches": microbatches, **params}
    elif not path.endswith(".steps"):
        params = {"ranks": mine[0].group_size, "microbatches": microbatches, **params}
    return _compile(path, source=None, target=target, passes=passes, cost=cost, profile=profile,
                    args=args, **params)


def check_fits(schedule: Schedule | Source, mine: Sequence[_PipelineStageBase], microbatches: int, count: int) -> None:
    """Raises ValueError when the schedule is not for these stages, or for `count`
    micro-batches."""
    ranks, rank = mine[0].group_size, mine[0].group_rank
    sizes = {"ranks": (schedule.ranks, ranks), "stages": (schedule.stages, mine[0].num_stages),
             "micro-batches": (count, microbatches)}
    for what, (has, needed) in sizes.items():
        if has != needed:
            raise ValueError(f"{schedule.name} has {has} {what}, the job {needed}")
    given, due = [stage.stage_index for stage in mine], schedule.stages_of(rank)
    if given != due:
        raise ValueError(f"{schedule.name} puts stages {due} on rank {rank}, which has stages {given}")


def _check_form(schedule: Schedule) -> None:
    """Raises ValueError for lists that a CSV of PyTorch's has no form for."""
    if schedule.torch_config["torch"]["format"] == "compute_only":
        return
    for rank, steps in enumerate(schedule.steps):
        for step in steps:
            if step[0] == Kind.BUBBLE:
                raise ValueError(f"rank {rank} of {schedule.name} has idle slots among transfers or FSDP steps, which "
                                 "PyTorch does not load; the pass `strip-bubbles` removes them")
