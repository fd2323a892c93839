"""Traces of a job for `pipec calibrate`."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, ContextManager, Iterator

import torch
import torch.distributed as dist
import torch.profiler
from torch.distributed.pipelining.schedules import BACKWARD_INPUT, _PipelineScheduleRuntime

from ._executor import Executor


class _TimedWait:
    """The works of a receive. Waiting for them is a span of its own."""

    def __init__(self, works: Any, name: str):
        self._works, self._name = works, name

    def wait(self) -> None:
        with torch.profiler.record_function(self._name):
            for work in self._works:
                work.wait()


class _TimedReceives(dict[Any, Any]):
    """The receives that are under way. What `pop` returns, the runtime waits for."""

    def __init__(self, receives: dict[Any, Any], letter: str, inputs: frozenset[tuple[int, int]] = frozenset()):
        super().__init__(receives)
        self._letter, self._inputs = letter, inputs

    def pop(self, key: Any, *default: Any) -> Any:
        works = super().pop(key, *default)
        letter = "I" if key in self._inputs else self._letter
        return [_TimedWait(works, f"PPWAIT:{key[0]}{letter}{key[1]}")]


@contextlib.contextmanager
def _timed_waits(runtime: Any) -> Iterator[None]:
    """Records spans for the waits of `runtime` that are inside of its steps: for
    receives, and for the parameters of stages."""
    inputs = frozenset((member.stage_index, member.microbatch_index)
                       for action in runtime.pipeline_order_with_comms[runtime.rank]
                       for member in (getattr(action, "sub_actions", None) or (action,))
                       if member.computation_type == BACKWARD_INPUT)
    forward, backward = runtime.fwd_recv_ops, runtime.bwd_recv_ops
    unsharded = runtime._assert_unsharded

    def timed(stage: Any) -> None:
        if stage.stage_index not in runtime.unshard_ops:
            unsharded(stage)
            return
        with torch.profiler.record_function(f"PPWAIT:{stage.stage_index}UNSHARD"):
            unsharded(stage)

    runtime.fwd_recv_ops = _TimedReceives(forward, "F")
    runtime.bwd_recv_ops = _TimedReceives(backward, "B", inputs)
    runtime._assert_unsharded = timed
    try:
        yield
    finally:
        runtime.fwd_recv_ops, runtime.bwd_recv_ops = dict(runtime.fwd_recv_ops), dict(runtime.bwd_recv_ops)
        del runtime._assert_unsharded


@contextlib.contextmanager
def profile(schedule: _PipelineScheduleRuntime | Executor, folder: str | os.PathLike[str], *, memory: bool = False,
            **options: Any) -> Iterator[torch.profiler.profile]:
    """Records the training steps that run inside of it, for `pipec calibrate`:

        with pipec.torch.profile(schedule, "traces"):
            for _ in range(5):
                schedule.step(...)

    Every rank of the job does so and writes `folder/rankR.json.gz`, R its rank
    in the whole job. `schedule` is one with a list of steps, as `load_schedule` or
    `executor` returns; the waits inside of its steps are recorded as spans `PPWAIT:`.
    `memory` records allocations too. `options` are further arguments of
    `torch.profiler.profile`, which is what `with ... as` gives.

    Raises TypeError for a schedule without a list.
    """
    if isinstance(schedule, Executor):
        group_rank, ranks = schedule.rank, schedule.plan.ranks
        with _recorded(folder, group_rank, ranks, contextlib.nullcontext(), memory, options) as recorder:
            yield recorder
        return
    runtime: Any = schedule
    if not isinstance(schedule, _PipelineScheduleRuntime) or runtime.pipeline_order_with_comms is None:
        raise TypeError(f"{type(schedule).__name__} has no list of steps, so its trace has no spans of steps{_same_order(runtime)}")
    stage = runtime._stages[0]
    with _recorded(folder, stage.group_rank, stage.group_size, _timed_waits(runtime), memory, options) as recorder:
        yield recorder


def _same_order(schedule: Any) -> str:
    """How to run the order of a schedule without a list from one."""
    name = {"Schedule1F1B": "one_f_one_b", "ScheduleGPipe": "gpipe"}.get(type(schedule).__name__)
    if name is None:
        return ""
    stage, microbatches = getattr(schedule, "_stage", None), getattr(schedule, "_n_microbatches", "M")
    return (f"; run the same order as a CSV of pipec: `pipec {name} ranks={getattr(stage, 'group_size', 'P')} "
            f"microbatches={microbatches} --target=torch -o schedule.csv`, or "
            f"pipec.torch.load_schedule(\"{name}\", stages, loss_fn, {microbatches})")


@contextlib.contextmanager
def _recorded(folder: str | os.PathLike[str], group_rank: int, ranks: int, waits: ContextManager[None], memory: bool,
              options: dict[str, Any]) -> Iterator[torch.profiler.profile]:
    """Records what runs inside of it and of `waits`, and writes the trace."""
    os.makedirs(folder, exist_ok=True)
    rank = dist.get_rank() if dist.is_initialized() else group_rank
    supported: Any = torch.profiler.supported_activities
    options.setdefault("activities", supported())
    with waits:
        with torch.profiler.profile(profile_memory=memory, **options) as recorder:
            recorder.add_metadata_json("pipec", json.dumps({"rank": group_rank, "ranks": ranks}))
            yield recorder
    recorder.export_chrome_trace(os.path.join(folder, f"rank{rank}.json.gz"))
