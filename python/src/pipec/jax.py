"""Schedules of pipec as schedules of NVIDIA's JaxPP, and the reverse.

    schedule = pipec.jax.schedule("zb1p", ranks=4, microbatches=16)
    jaxpp.treduce(loss_and_grad, batch, schedule=schedule)

JaxPP is imported when `schedule` is called. Its tasks are read by their attributes, so
it need not be there.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
from typing import Any, Iterator, Sequence

from ._compile import compiled
from ._lists import group_line, step_ir
from ._schedule import Schedule

__all__ = ["dump", "schedule"]

_FORMAT = "pipec-jaxpp 1"
_KINDS = {"FWD": "F", "BWD": "B", "BWD_I": "I", "BWD_W": "W"}


# ---------------------------------------------------------------- from pipec to JaxPP

def _contents(source: Any, target: str | None, passes: str | None, args: Sequence[str], params: dict[str, int]) -> Any:
    """What `--emit=jaxpp` writes for the arguments of `schedule`."""
    source = getattr(source, "schedule", source)
    is_file = not isinstance(source, Schedule) and os.fspath(source).endswith(".json")
    if (isinstance(source, Schedule) or is_file) and (target is not None or passes is not None or args or params):
        raise ValueError(f"{source.name if isinstance(source, Schedule) else os.fspath(source)} is compiled already")
    if isinstance(source, Schedule):
        return json.loads(source.emit("jaxpp"))
    if is_file:
        with open(source, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f"{os.fspath(source)} is not a file of `--emit=jaxpp`")
        return data
    return json.loads(compiled("jaxpp", source, source=None, target=target, passes=passes, cost=None, profile=None,
                               args=args, **params)[0])


def schedule(path_or_name: str | os.PathLike[str] | Schedule | Any, *, target: str | None = None,
             passes: str | None = None, args: Sequence[str] = (), **params: int) -> Any:
    """A schedule of JaxPP (`BaseSchedule`) with the tasks of a schedule of pipec, for
    `jaxpp.treduce`.

    The first argument is what `pipec.compile` takes, a `Schedule`, a plan (of `pipec.plan`
    or `pipec.torch.plan`), or a file of `--emit=jaxpp` whose name ends with `.json`. All
    but the last are compiled with the target `jaxpp` unless `target` or `passes` says
    otherwise. `params` and `args` are those of `pipec.compile`.

    The schedule is for one number of micro-batches: `tasks` raises ValueError for
    others. Raises CompileError when the schedule does not compile or JaxPP does not run it.
    """
    data = _contents(path_or_name, target, passes, args, params)
    schedules = importlib.import_module("jaxpp.schedules")
    types = importlib.import_module("jaxpp.types").TaskType
    base: Any = schedules.BaseSchedule

    def task(entry: Sequence[Any]) -> Any:
        if isinstance(entry[0], str):
            kind, stage, microbatch = entry
            return schedules.Task.make(stage, microbatch, types[kind])
        return schedules.FusedTask(map(task, entry))

    rows = [[task(entry) for entry in row] for row in data["tasks"]]

    class FromPipec(base):  # type: ignore[misc, unused-ignore]
        """The tasks of one schedule of pipec, for one size."""

        def __init__(self) -> None:
            super().__init__(data["stages"])
            # The class is a frozen dataclass.
            object.__setattr__(self, "is_partial_bwd", data["is_partial_bwd"])
            object.__setattr__(self, "mpmd_dim", data["ranks"])

        def get_mpmd_idx(self, stage_id: int) -> int:
            return int(data["stage_to_rank"][stage_id])

        def tasks(self, n_mubatches: int) -> list[list[Any]]:
            if n_mubatches != data["microbatches"]:
                raise ValueError(f"{data['schedule']} is for {data['microbatches']} micro-batches, not for {n_mubatches}")
            return [list(row) for row in rows]

    return FromPipec()


# ---------------------------------------------------------------- from JaxPP to pipec

def _steps(entry: Any) -> list[tuple[str, int, int]]:
    """The steps of a task, or of tasks that are fused, in which both halves of a
    backward are a whole one."""
    steps: list[tuple[str, int, int]] = []
    for task in entry if isinstance(entry, tuple) else [entry]:
        kind, rest = _KINDS[getattr(task.fwd_or_bwd, "name", task.fwd_or_bwd)], (task.stage_id, task.mubatch_idx)
        if kind == "W" and steps and isinstance(entry, tuple) and steps[-1] == ("I", *rest):
            steps[-1] = ("B", *rest)
        else:
            steps.append((kind, *rest))
    return steps


def _lines(row: Sequence[Any]) -> Iterator[str]:
    """The lines of a rank. Fused tasks of one micro-batch follow one another, since they
    may depend on each other; others are an overlap."""
    for entry in row:
        if entry is None:
            continue
        steps = _steps(entry)
        texts = [f"{kind} s{stage} m{microbatch}" for kind, stage, microbatch in steps]
        if len({microbatch for *_, microbatch in steps}) < len(steps):
            yield from texts
        else:
            yield group_line(texts)


def dump(source: Any, microbatches: int | None = None, *, name: str = "jaxpp") -> str:
    """A schedule of JaxPP as step IR: what its `tasks` returns, a list per rank of tasks,
    or the schedule itself, whose tasks are those for `microbatches`."""
    if hasattr(source, "tasks"):
        if microbatches is None:
            raise ValueError("a schedule needs microbatches")
        source = source.tasks(microbatches)
    placed = {stage: rank for rank, row in enumerate(source) for entry in row if entry is not None
              for _, stage, _ in _steps(entry)}
    if sorted(placed) != list(range(len(placed))) or not placed:
        raise ValueError(f"the tasks are of the stages {sorted(placed)}")
    number = 1 + max(step[2] for row in source for entry in row if entry is not None for step in _steps(entry))
    return step_ir(name, [list(_lines(row)) for row in source], [[placed[stage] for stage in range(len(placed))]],
                   microbatches or number)


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python3 -m pipec.dump jaxpp`."""
    parser.add_argument("schedule", help="a class of `jaxpp.schedules`, such as Std1F1B")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--microbatches", type=int, required=True)
    parser.add_argument("--chunks", type=int, default=1)
    parser.add_argument("--path", metavar="FOLDER", default=os.environ.get("PIPEC_JAXPP"),
                        help="a source tree of JaxPP (default: $PIPEC_JAXPP)")


def dump_command(options: argparse.Namespace) -> str:
    """The step IR of one of JaxPP's own schedules."""
    if options.path:
        sys.path.insert(0, os.path.join(options.path, "src"))
    schedules = importlib.import_module("jaxpp.schedules")
    made = getattr(schedules, options.schedule, None)
    if not isinstance(made, type) or not issubclass(made, schedules.BaseSchedule):
        raise ValueError(f"jaxpp.schedules has no schedule {options.schedule}")
    sizes = {"num_stages": options.ranks * options.chunks}
    if "mpmd_dim" in {field.name for field in dataclasses.fields(made)}:
        sizes["mpmd_dim"] = options.ranks
    elif options.chunks != 1:
        raise ValueError(f"{options.schedule} has no chunks")
    return dump(made(**sizes), options.microbatches, name="jaxpp_" + options.schedule.lower())
