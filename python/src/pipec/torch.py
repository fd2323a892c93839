"""Schedules of pipec in PyTorch 2.13's pipelining runtime.

    schedule = pipec.torch.load_schedule("zb1p", stages, loss_fn, n_microbatches=8)
    schedule.step(inputs)        # as any schedule of torch.distributed.pipelining

The runtime (`_PipelineScheduleRuntime`), its CSV and its functions for overlaps
are internal to PyTorch, so this module belongs to the version that it names.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import csv
import os
import tempfile
from typing import Any, Callable, Mapping, Sequence

from torch.distributed.pipelining.schedules import (
    BACKWARD_INPUT,
    FORWARD,
    FULL_BACKWARD,
    OVERLAP_F_B,
    _Action,
    _PipelineContext,
    _PipelineScheduleRuntime,
    _wait_batch_p2p,
)
from torch.distributed.pipelining.stage import _PipelineStageBase

from ._compile import compile as _compile
from ._lint import LintResult, lint_file
from ._schedule import Schedule

__all__ = ["Member", "lint", "load_schedule", "register_overlap"]


def load_schedule(path_or_name: str | os.PathLike[str] | Schedule, stages: Sequence[_PipelineStageBase] | _PipelineStageBase,
                  loss_fn: Callable[..., Any] | None, n_microbatches: int, *, target: str | None = None,
                  passes: str | None = None, scale_grads: bool = True, runtime: Mapping[str, Any] | None = None,
                  **params: int) -> _PipelineScheduleRuntime:
    """Compiles a schedule for the ranks of the stages' group, and returns
    PyTorch's runtime with it, ready for `step`.

    `stages` are those of this rank. The first argument is what
    `pipec.compile` takes, or a schedule that it made for PyTorch; `params` are
    further parameters of the program (`chunks=2`). `ranks` and `microbatches`
    are given to a program by themselves. The passes are those of the target
    `torch` unless `target` or `passes` says otherwise. `runtime` holds further
    arguments of the runtime's constructor.

    Raises CompileError when the schedule does not compile, and ValueError when
    it is not for these stages.
    """
    mine = [stages] if isinstance(stages, _PipelineStageBase) else sorted(stages, key=lambda s: s.stage_index)
    if not mine:
        raise ValueError("no stages: every rank of a pipeline holds one")
    ranks, rank = mine[0].group_size, mine[0].group_rank
    if isinstance(path_or_name, Schedule):
        schedule = path_or_name
    else:
        path = os.fspath(path_or_name)
        if path.endswith(".csv"):
            params = {"stages": mine[0].num_stages, "microbatches": n_microbatches, **params}
        elif not path.endswith(".steps"):
            params = {"ranks": ranks, "microbatches": n_microbatches, **params}
        schedule = _compile(path, target="torch" if target is None and passes is None else target, passes=passes,
                            args=(), **params)
    _check_fits(schedule, mine, ranks, rank, n_microbatches)

    make: Any = _PipelineScheduleRuntime
    result: _PipelineScheduleRuntime = make(mine, n_microbatches, loss_fn=loss_fn, scale_grads=scale_grads,
                                            **(runtime or {}))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{schedule.name}.csv")
        schedule.write_csv(file)
        result._load_csv(file, format="compute_comms" if _has_transfers(schedule) else "compute_only")
    return result


def _has_transfers(schedule: Schedule) -> bool:
    return any(name in schedule.csv for name in ("SEND_", "RECV_", "UNSHARD", "RESHARD", "REDUCE_GRAD"))


def _check_fits(schedule: Schedule, mine: Sequence[_PipelineStageBase], ranks: int, rank: int, microbatches: int) -> None:
    """Raises ValueError when the schedule is not for these stages."""
    sizes = {"ranks": (schedule.ranks, ranks), "stages": (schedule.stages, mine[0].num_stages),
             "micro-batches": (schedule.microbatches, microbatches)}
    for what, (has, needed) in sizes.items():
        if has != needed:
            raise ValueError(f"{schedule.name} has {has} {what}, the job {needed}")
    given, due = [stage.stage_index for stage in mine], schedule.stages_of(rank)
    if given != due:
        raise ValueError(f"{schedule.name} puts stages {due} on rank {rank}, which has stages {given}")


def lint(schedule: Any, *, require: str = "stream", grades: Mapping[str, str] | None = None) -> LintResult:
    """Lints a schedule object that one already has: its
    `pipeline_order_with_comms`, or `pipeline_order` when it was not lowered.
    `position` of a finding counts in the list of its rank."""
    order = getattr(schedule, "pipeline_order_with_comms", None) or getattr(schedule, "pipeline_order", None)
    if not order:
        raise TypeError(f"{type(schedule).__name__} holds no order of steps")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "schedule.csv")
        with open(file, "w", encoding="ascii", newline="") as text:
            rows = csv.writer(text, lineterminator="\n")
            rows.writerows(["" if action is None else str(action) for action in order[rank]] for rank in sorted(order))
        sizes = (f"--stages={schedule._num_stages}", f"--microbatches={schedule._n_microbatches}")
        return lint_file(file, require=require, grades=grades, args=sizes)


class Member:
    """One half of an overlap, a forward or a backward, for a function that runs
    both. Call it to run it with everything that PyTorch's runtime keeps books
    of; `wait` first waits for its input, which a call does too."""

    def __init__(self, action: _Action, context: _PipelineContext):
        self.action = action
        self._context = context
        runtime: Any = context.schedule_ref
        self._runtime = runtime
        self._stages = {stage.stage_index: stage for stage in runtime._stages}
        self.stage: Any = self._stages[action.stage_index]
        """The stage object."""
        self._ready = False

    @property
    def stage_index(self) -> int:
        return self.action.stage_index

    @property
    def microbatch_index(self) -> int:
        assert self.action.microbatch_index is not None
        return self.action.microbatch_index

    def wait(self) -> None:
        """Waits for the receive of the input and for the parameters, if any."""
        if self._ready:
            return
        self._ready = True
        self._runtime._assert_unsharded(self.stage)
        forward = self.action.computation_type == FORWARD
        end = self.stage.is_first if forward else self.stage.is_last
        if end or self.stage_index + (-1 if forward else 1) in self._stages:
            return
        receives = self._runtime.fwd_recv_ops if forward else self._runtime.bwd_recv_ops
        key = (self.stage_index, self.microbatch_index)
        if key not in receives:
            raise RuntimeError(f"{self.action} stands before the receive of its input")
        _wait_batch_p2p(receives.pop(key))

    def __call__(self) -> None:
        self.wait()
        if self.action.computation_type == FORWARD:
            self._forward()
        else:
            self._backward()

    def _forward(self) -> None:
        context, index = self._context, self.microbatch_index
        assert context.arg_mbs is not None and context.kwarg_mbs is not None
        output = self.stage.forward_one_chunk(index, context.arg_mbs[index], context.kwarg_mbs[index])
        self._runtime._maybe_compute_loss(self.stage, output, context.target_mbs, index, None)
        if following := self._stages.get(self.stage_index + 1):
            following.set_local_fwd_input(output, index)

    def _backward(self) -> None:
        runtime, index = self._runtime, self.microbatch_index
        loss = runtime._maybe_get_loss(self.stage, index)
        full = self.action.computation_type == FULL_BACKWARD
        if full:
            runtime.backward_counter[self.stage_index] += 1
        last = full and runtime.backward_counter[self.stage_index] == runtime._n_microbatches
        self.stage.backward_one_chunk(index, loss=loss, full_backward=full, last_backward=last)
        if previous := self._stages.get(self.stage_index - 1):
            previous.set_local_bwd_input(self.stage.get_local_bwd_output(index), index)


def register_overlap(schedule: _PipelineScheduleRuntime, fn: Callable[[Member, Member], None]) -> int:
    """Lets `fn(forward, backward)` run the overlaps of a schedule; without it
    PyTorch runs one member after the other. Each member is run by calling it:

        def overlapped(forward, backward):
            forward.wait(); backward.wait()
            ...  # start both, on streams or threads
            forward()
            backward()

    Returns how many overlaps this rank has. Raises ValueError when one of them
    is not a forward and a backward in this order.
    """
    count = 0
    for action in schedule.pipeline_order_with_comms[schedule.rank]:
        if action.computation_type != OVERLAP_F_B:
            continue
        kinds = [member.computation_type for member in action.sub_actions or ()]
        if len(kinds) != 2 or kinds[0] != FORWARD or kinds[1] not in (FULL_BACKWARD, BACKWARD_INPUT):
            raise ValueError(f"the overlap {action} is not a forward and a backward")
        count += 1

    def run(action: _Action, ctx: _PipelineContext) -> None:
        assert action.sub_actions is not None
        forward, backward = action.sub_actions
        fn(Member(forward, ctx), Member(backward, ctx))

    schedule.register_custom_function(OVERLAP_F_B, run)
    return count
