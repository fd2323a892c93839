"""Better orders for a job while it runs (docs/Plan.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import re
import statistics
import tempfile
import threading
import time as clock
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.distributed as dist

from .._calibrate import Calibration, calibrate
from .._diagnostics import CompileError
from .._inputs import counts, figures, integer, options
from .._lists import lists_ir
from .._program import interrupt
from .._schedule import Schedule
from .._search import SearchResult, search
from ._executor import Executor
from ._profile import profile
from ._source import METHODS, Source

DEFAULT = {"target": "pytorch", "passes": None}
"""How lists get their transfers, if the job does not say it."""
SEARCHED = "pytorch-search"
"""The target with searched transfers."""
COMPARED = 5
"""How many steps with each list are compared."""
LEAST_GAIN = 0.01
"""The part of the predicted time that a list must save to be tried."""
FORMS = ("best", "split", "whole", "mixed")
"""The forms of the backward that a search takes."""
ENDS = ("switched", "kept", "fell back", "failed")
PLAIN = {"F", "B", "I", "W", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "WAIT_SEND_F", "WAIT_SEND_B", "REDUCE_TIED"}
"""The steps that the target `pytorch` gives to a list."""

_log = logging.getLogger("pipec.torch")


@dataclasses.dataclass(frozen=True)
class Timed:
    """A schedule with the times of its training steps, in milliseconds."""

    schedule: Schedule | Source
    predicted: float
    """The makespan under the costs that were measured."""
    measured: float | None = None
    """The median; None if it was not compared."""


@dataclasses.dataclass(frozen=True)
class _Found:
    """A better schedule, for all ranks."""

    first: float
    """The predicted time of the first one."""
    predicted: float
    bound: float
    ir: str
    source: str


@dataclasses.dataclass(frozen=True)
class _Nothing:
    """What the search gives otherwise."""

    state: str
    reason: str


class Auto:
    """The state of a job with `auto`, which is the same on all ranks."""

    def __init__(self, executor: Executor, after: int, lowering: dict[str, Any], wanted: dict[str, Any], group: Any,
                 pipeline: Sequence[int]):
        self.executor = executor
        self.state = "measuring"
        """`measuring`, `searching`, `comparing`, and at the end `switched`, `kept`,
        `fell back` or `failed`."""
        self.reason: str | None = None
        """Why nothing was compared, with `kept` and `failed`."""
        self.first: Timed | None = None
        """The schedule of the executor, if a better one was found."""
        self.found: Timed | None = None
        """The better one."""
        self.bound: float | None = None
        """No schedule that was searched for has a smaller makespan."""
        self.calibration: Calibration | None = None
        """The costs that were measured, on the first rank."""
        self.search: SearchResult | None = None
        """The answer of `pipec search`, on the first rank."""
        self._after, self._lowering, self._wanted = after, lowering, wanted
        self._group = group
        self._records = group is None or dist.get_rank() in pipeline
        self._leads = group is None or dist.get_rank(group) == 0
        self._runs = executor
        self._other: Executor | None = None
        self._steps = 0  # in this state
        self._times: dict[Executor, list[float]] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._recorder: Any = None
        self._problem: str | None = None
        self._answer: _Found | _Nothing | None = None
        executor.steered = self._step

    @property
    def done(self) -> bool:
        """Whether the schedule changes no more."""
        return self.state in ENDS

    @property
    def schedule(self) -> Schedule | Source:
        """The schedule of the last step; at the end, that of all further ones."""
        return self.found.schedule if self.found and self._runs is self._other else self._runs.plan

    def __repr__(self) -> str:
        text = f"<pipec.torch.Auto: {self.state}"
        if self.reason:
            text += f": {self.reason}"
        if self.first and self.found:
            old, new = self.first, self.found
            text += (f": {new.schedule.name} instead of {old.schedule.name}, predicted {new.predicted:.1f} ms "
                     f"instead of {old.predicted:.1f} ms")
            if new.measured is not None and old.measured is not None:
                text += f", measured {new.measured:.1f} ms instead of {old.measured:.1f} ms"
        return text + ">"

    # The steps of the job.

    def _step(self, train: Callable[[Executor], Any]) -> Any:
        """Runs a training step, after what is due before it."""
        try:
            if not self.done:
                self._before()
            self._runs._order = self.executor._order
            began = clock.perf_counter()
            result = train(self._runs)
        except BaseException:
            with contextlib.suppress(Exception):
                self._stop_recording()
            raise
        if self.state == "comparing" and self._steps > 0:
            if self.executor.device.type == "cuda":
                torch.cuda.synchronize(self.executor.device)
            self._times.setdefault(self._runs, []).append((clock.perf_counter() - began) * 1e3)
        self._steps += 1
        return result

    def _before(self) -> None:
        """What is due before a step. All ranks do the same."""
        if self.state == "measuring":
            if self._steps == 1:  # (the first one allocates, and exchanges shapes)
                self._record()
            elif self._steps == self._after:
                self._collect()
        if self.state == "searching" and self._largest([float(self._answer is not None)])[0]:
            self._take()
        if self.state == "comparing":
            if self._steps == 1 + 2 * COMPARED:
                self._compare()
            else:  # in turns, after one step in which the ranks exchange shapes
                assert self._other is not None
                self._runs = self.executor if self._steps % 2 else self._other
                self._largest([0.0])  # (so that all ranks begin at one time)

    def _enter(self, state: str, reason: str | None = None) -> None:
        self.state, self.reason, self._steps = state, reason, 0
        if self._leads and self.done:
            _log.log(logging.INFO if state in ("switched", "kept") else logging.WARNING, "%r", self)

    def _largest(self, values: list[float]) -> list[float]:
        """The largest of each of the values of all ranks."""
        if self._group is None:
            return values
        device = self.executor.device
        seen = torch.tensor(values, dtype=torch.float32 if device.type == "mps" else torch.float64, device=device)
        dist.all_reduce(seen, dist.ReduceOp.MAX, group=self._group)
        return [float(value) for value in seen.tolist()]

    # Measuring.

    def _record(self) -> None:
        try:
            if torch.autograd._profiler_enabled():  # type: ignore[attr-defined]
                raise RuntimeError("another profiler of PyTorch runs")
            self._folder = tempfile.TemporaryDirectory(prefix="pipec-", ignore_cleanup_errors=True)
            recorder = profile(self.executor, self._folder.name, memory=True)
            recorder.__enter__()
            self._recorder = recorder
        except Exception as error:  # noqa: BLE001 (training continues)
            self._problem = _text(error)

    def _stop_recording(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.__exit__(None, None, None)

    def _trace(self) -> bytes | None:
        """The trace of this rank; None if another pipeline is measured."""
        self._stop_recording()
        if self._folder is None or not self._records:
            return None
        (name,) = os.listdir(self._folder.name)
        with open(os.path.join(self._folder.name, name), "rb") as file:
            return file.read()

    def _collect(self) -> None:
        """Gives all traces to the first rank, which begins to search."""
        mine: tuple[str | None, bytes | None] = self._problem, None
        try:
            if self._problem is None:
                mine = None, self._trace()
        except Exception as error:  # noqa: BLE001 (training continues)
            mine = _text(error), None
        if self._folder is not None:
            self._folder.cleanup()
        everyone: list[Any] = [mine]
        if self._group is not None:
            everyone *= dist.get_world_size(self._group)
            with self.executor._on_device():
                dist.gather_object(mine, everyone if self._leads else None, dist.get_global_rank(self._group, 0), self._group)
        self._enter("searching")
        if not self._leads:
            return
        if problems := [f"the trace of rank {rank} is missing: {problem}" for rank, (problem, _) in enumerate(everyone) if problem]:
            self._answer = _Nothing("failed", problems[0])
            return
        traces = [trace for _, trace in everyone if trace is not None]
        thread = threading.Thread(target=self._search, args=(traces,), name="pipec.torch.auto", daemon=True)
        thread.start()
        atexit.register(_end, thread)

    # Searching, in a thread of the first rank.

    def _search(self, traces: list[bytes]) -> None:
        try:
            self._answer = self._find(traces)
        except Exception as error:  # noqa: BLE001 (training continues)
            self._answer = _Nothing("failed", _text(error))

    def _find(self, traces: list[bytes]) -> _Found | _Nothing:
        first = _schedule_of(self.executor.plan)
        with tempfile.TemporaryDirectory(prefix="pipec-", ignore_cleanup_errors=True) as folder:
            files = [os.path.join(folder, f"rank{number}.json.gz") for number in range(len(traces))]
            for path, trace in zip(files, traces):
                with open(path, "wb") as file:
                    file.write(trace)
            self.calibration = calibrate(files, for_=first, warmup=0)
        costs = json.loads(self.calibration.profile)
        wanted = dict(self._wanted)
        wanted["backward"] = wanted["backward"] or _measured_form(costs, first.stages)
        if not _in_bytes(costs, first, wanted["memory_limit"]):
            costs.pop("memory", None)
        now = first.report(profile=costs)
        limited = costs
        if wanted["memory_limit"] is None and all(rank.over_limit is None for rank in now.ranks):
            # (a search does not count receives)
            limits = {str(rank.rank): rank.memory.activations + rank.memory.parameters for rank in now.ranks}
            limited = {**costs, "memory": {**costs.get("memory", {}), "limits": limits}}
        self.search = search(first, ranks=first.ranks, microbatches=first.microbatches, profile=limited, memory_by="plain",
                             **wanted)
        predicted, found = min(((each.report(profile=costs).makespan, each) for each in self._lowered(self.search.schedule)),
                               key=lambda pair: pair[0])
        if predicted > now.makespan * (1 - LEAST_GAIN):
            return _Nothing("kept", f"{first.name} is predicted to take {now.makespan:.1f} ms, the best list that was found "
                                    f"{predicted:.1f} ms")
        return _Found(now.makespan, predicted, self.search.bound, found.ir, found.emit("python", "--passes="))

    def _lowered(self, found: Schedule) -> Iterator[Schedule]:
        """The list with its transfers, placed in several ways unless one was asked for."""
        yield Schedule.from_steps(found.ir, **self._lowering)
        if self._lowering == DEFAULT:
            yield Schedule.from_steps(found.ir, target=SEARCHED)

    def _take(self) -> None:
        """Gives the result to all ranks, and begins to compare."""
        answers = [self._answer]
        if self._group is not None:
            with self.executor._on_device():
                dist.broadcast_object_list(answers, dist.get_global_rank(self._group, 0), self._group)
        answer = answers[0]
        assert answer is not None
        if isinstance(answer, _Nothing):
            self._enter(answer.state, answer.reason)
            return
        problem = None
        try:
            self._other = self.executor.prepared(Source(answer.source))
        except Exception as error:  # noqa: BLE001 (training continues)
            problem = _text(error)
        if self._largest([float(problem is not None)])[0]:
            self._other = None
            self._enter("failed", problem or "another rank cannot run the list that was found")
            return
        self.first = Timed(self.executor.plan, answer.first)
        self.found = Timed(Schedule(answer.ir), answer.predicted)
        self.bound = answer.bound
        self._enter("comparing")

    def _compare(self) -> None:
        """Takes the faster of the two."""
        assert self.first and self.found and self._other
        times = self._largest(self._times[self.executor] + self._times[self._other])
        old, new = statistics.median(times[:COMPARED]), statistics.median(times[COMPARED:])
        self.first = dataclasses.replace(self.first, measured=old)
        self.found = dataclasses.replace(self.found, measured=new)
        self._times = {}
        self._runs = self._other if new < old else self.executor
        self._enter("switched" if new < old else "fell back")


def auto(executor: Executor, after: int = 5, *, memory_limit: float | str | None = None, effort: int | None = None,
         time: str | None = None, seed: int | None = None, backward: str | None = None, passes: str | None = None,
         group: dist.ProcessGroup | None = None) -> Auto:
    """Looks for a better schedule while a job trains, and switches to it:

        auto = pipec.torch.auto(schedule)
        for x, target in batches:
            schedule.step(x, target=target)
        print(auto)

    The second to the `after`-th step of the executor are recorded, as `pipec.torch.profile`
    does. From their times a thread of the first rank searches for another order of the steps
    of the same stages (`pipec search`). Then steps with the new list and with the first
    one take turns, five of each, and the one with the smaller median runs from then on.
    Gradients are the same. An error is reported and changes nothing.

    A new list keeps at most as much on each rank as the limits of the schedule allow
    or, without limits, as many bytes as the first list keeps; `memory_limit` sets
    another limit for all ranks, in the unit of the sizes of the schedule, or of what was
    measured, as `"20GiB"`. It has the forms of the backward that were measured, or those of
    `backward`. These, `effort`, `time` and `seed` are as in `pipec.search`. `passes` are
    those that give it its transfers and other steps, by default those that `executor`
    was given.

    All processes of the job, or those of `group`, call this with the same arguments,
    and take the same decisions; in a job of several pipelines the first one is measured.

    Raises ValueError on all ranks for an executor with which this is not possible, or
    for arguments that differ between ranks.
    """
    if not isinstance(executor, Executor):
        raise TypeError(f"executor is {executor!r}, not one of pipec.torch.executor")
    alone = not dist.is_initialized() or dist.get_backend(group) == "fake"
    together: Any = None if alone else group or dist.group.WORLD
    pipeline: list[int] = [] if alone else dist.get_process_group_ranks(executor.group)
    if together is not None and dist.get_rank(together) < 0:
        raise ValueError("group is without this process")
    wanted = dict(memory_limit=memory_limit, effort=effort, time=time, seed=seed, backward=backward)
    problem: Exception | None = None
    arguments = ""
    try:
        arguments = " ".join([*counts(after=after, effort=effort, seed=seed), *figures(memory_limit=memory_limit),
                              *options(time=time, backward=backward, passes=passes)])
        if integer(after, "after") < 2:
            raise ValueError(f"after is {after}, which has to be at least 2, since the first step is not measured")
        if backward is not None and backward not in FORMS:
            raise ValueError(f"backward is `{backward}`, none of {', '.join(FORMS)}")
        if together is not None and (absent := sorted(set(pipeline) - set(dist.get_process_group_ranks(together)))):
            raise ValueError(f"group is without the ranks {', '.join(map(str, absent))} of the pipeline")
        _check(executor, passes)
    except Exception as error:  # noqa: BLE001 (raised again, when the other ranks know)
        problem = error
    if together is not None:
        mine = (None if problem is None else str(problem), arguments, pipeline)
        everyone: list[Any] = [mine] * dist.get_world_size(together)
        with executor._on_device():
            dist.all_gather_object(everyone, mine, group=together)
        for rank, (what, given, _) in enumerate(everyone):
            if what is not None and problem is None:
                problem = ValueError(f"rank {rank}: {what}")
            elif given != everyone[0][1] and problem is None:
                problem = ValueError(f"rank {rank} gives `{given}`, rank 0 `{everyone[0][1]}`")
        pipeline = everyone[0][2]
    if problem is not None:
        raise problem
    lowering: dict[str, Any] = {"passes": passes} if passes is not None else executor.lowering or DEFAULT
    return Auto(executor, after, lowering, wanted, together, pipeline)


def _check(executor: Executor, passes: str | None) -> None:
    """Raises ValueError when no other list can be searched for."""
    source = executor._source
    if executor.steered is not None:
        raise ValueError("the executor has an `auto` already")
    if source.forward_only or executor._loss_fn is None:
        raise ValueError(f"{source.name} has no backwards")
    if len(source.maps) > 1:
        raise ValueError(f"{source.name} is bidirectional, for which no order is searched")
    others = sorted({kind for rank in range(source.ranks) for kind, *_ in source.steps_of(rank)} - PLAIN,
                    key=list(METHODS).index)
    if others and passes is None and executor.lowering is None:
        raise ValueError(f"{source.name} has steps of the kinds {', '.join(others)}; passes names those that add them to a list")


def _schedule_of(plan: Schedule | Source) -> Schedule:
    """The schedule, made of its steps where only the source is known."""
    if isinstance(plan, Schedule):
        return plan
    lists = [[step for step in plan.steps_of(rank) if step[0] in ("F", "B", "I", "W")] for rank in range(plan.ranks)]
    name = plan.name if re.fullmatch(r"\w+", plan.name, re.ASCII) else "first"
    text = lists_ir(lists, plan.stages, plan.maps[0], plan.microbatches, plan.edges, name, plan.slices, plan.ties)
    return Schedule.from_steps(text, target="pytorch")


def _in_bytes(costs: dict[str, Any], first: Schedule, limit: float | str | None) -> bool:
    """Whether measured sizes count, and not those that the schedule gives, or units of
    activations."""
    sizes = costs.get("memory", {}).get("stages", {})
    if re.search(r"^ *memory ", first.ir.partition("\n  rank 0 {")[0], re.M):
        return False
    if limit is not None:
        return str(limit).endswith("B")
    return all("F" in sizes.get(str(stage), {}) for stage in range(first.stages))


def _measured_form(costs: dict[str, Any], stages: int) -> str:
    """The form of backwards whose times are known."""
    def known(*kinds: str) -> bool:
        return all(kind in costs or kind in costs.get("stages", {}).get(str(stage), {}) for kind in kinds for stage in range(stages))

    if known("B"):
        return "best" if known("I", "W") else "whole"
    return "split" if known("I", "W") else "mixed"


def _text(error: Exception) -> str:
    if isinstance(error, CompileError) and error.errors:
        return error.errors[0].message
    return (str(error) or type(error).__name__).split("\n")[0]


def _end(thread: threading.Thread) -> None:
    """Ends a search when the process ends."""
    end = clock.monotonic() + 5
    while thread.is_alive() and clock.monotonic() < end:
        interrupt(thread)
        thread.join(0.1)
