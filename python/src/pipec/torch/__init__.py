"""Schedules of pipec in PyTorch's pipelining runtime.

    schedule = pipec.torch.load_schedule("zb1p", stages, loss_fn, n_microbatches=8)
    schedule.step(inputs)        # as any schedule of torch.distributed.pipelining

The runtime (`_PipelineScheduleRuntime`), its CSV and its functions for overlaps
are internal to PyTorch. This module is tested with PyTorch 2.13 and 2.15, and
takes what the CSV of each of them needs.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from ._auto import Auto, Timed, auto
from ._clip import clip_grad_norm_
from ._executor import Executor, executor
from ._gradients import check_gradients
from ._lint import lint
from ._load import load_schedule
from ._measure import MeasureError, measure
from ._order import from_torch
from ._overlap import Member, register_overlap
from ._overlapping import overlap_streams
from ._plan import Plan, plan
from ._profile import profile
from ._replace import replace
from ._slices import Context, context
from ._version import fitting_target
from ._steps import Step

__all__ = ["Auto", "Context", "Executor", "MeasureError", "Member", "Plan", "Step", "Timed", "auto", "check_gradients",
           "clip_grad_norm_", "context", "executor", "fitting_target", "from_torch", "lint", "load_schedule", "measure",
           "overlap_streams", "plan", "profile", "register_overlap", "replace"]
