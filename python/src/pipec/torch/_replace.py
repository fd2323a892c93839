"""Executors in the place of schedules of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
from typing import Any

from torch.distributed.pipelining.schedules import _PipelineSchedule

from .._schedule import Schedule
from ._executor import Executor, executor


def replace(schedule: _PipelineSchedule, plan_or_name: str | os.PathLike[str] | Schedule, **options: Any) -> Executor:
    """An executor with the stages, the loss function, the number of micro-batches and
    the other settings of a schedule of PyTorch, which is then no longer needed.
    `options` are those of `executor`, and parameters of the program.

    With this a framework that makes a schedule itself runs another one:

        self.pp_schedule = pipec.torch.replace(self.pp_schedule, "zbv")

    Raises what `executor` raises, and ValueError for a schedule without stages.
    """
    holder: Any = schedule
    stages: list[Any] = list(getattr(holder, "_stages", None) or [getattr(holder, "_stage", None)])
    if not isinstance(schedule, _PipelineSchedule) or None in stages:
        raise ValueError(f"{type(schedule).__name__} is not a schedule of PyTorch with stages")
    # (`_output_merge_spec` is the name of 2.13 and of 2.15.)
    given = {"scale_grads": holder.scale_grads, "args_chunk_spec": holder._args_chunk_spec,
             "kwargs_chunk_spec": holder._kwargs_chunk_spec, "output_merge_spec": holder._output_merge_spec}
    return executor(plan_or_name, stages, holder._loss_fn, holder._n_microbatches, **{**given, **options})
