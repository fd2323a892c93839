"""`pipec plan` as a function (docs/Plan.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import os
from typing import Mapping, Sequence

from ._data import load, read, rounded
from ._diagnostics import Diagnostic
from ._inputs import Cost, Inputs, Profile, counts, figures, layers_text, options, words
from ._program import path_text, run
from ._schedule import Schedule


@dataclasses.dataclass(frozen=True)
class PlanRow:
    """One schedule of a plan."""

    schedule: str
    """Its name in the library, or `found`."""
    makespan: float
    chunks: int
    peak: float | None = None
    """The peak activations of a rank."""
    memory: float | None = None
    """The peak memory of a rank, with parameters."""
    bound: float | None = None
    """Nothing that was searched has a smaller makespan."""
    placed: float | None = None
    """The makespan with the transfers that run, one at a time per rank, if they take
    time."""
    placement: str | None = None
    backward: str | None = None
    layout: str | None = None
    """The layers of each stage."""
    memory_by: str | None = None
    params: Mapping[str, int] | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Plan:
    """The best schedule for a job, and what it was compared with."""

    schedule: Schedule
    best: PlanRow
    now: PlanRow
    """The schedule that the job is compared with, on an even layout."""
    built_in: PlanRow | None
    """The best schedule that needs no file."""
    alternatives: tuple[PlanRow, ...]
    assumptions: tuple[str, ...]
    """What was not measured or given."""
    files: tuple[str, ...]
    folder: str | None = None
    """Where the files are; None if they were not kept."""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def makespan(self) -> float:
        """That of the best schedule."""
        return self.best.makespan

    @property
    def bound(self) -> float | None:
        """Nothing that was searched has a smaller makespan."""
        return self.best.bound

    def __repr__(self) -> str:
        gain = 1 - self.makespan / self.now.makespan if self.now.makespan else 0
        return (f"<{type(self).__module__.removesuffix('._plan')}.Plan: {self.best.schedule}, makespan {rounded(self.makespan)}, "
                f"{gain:.1%} less than {self.now.schedule}>")


def plan(profile: Profile, *, ranks: int, microbatches: int, layers: str | int | None = None, cost: Cost | None = None,
         memory_limit: float | str | None = None, for_: str | None = None, now: str | None = None, chunks: int | None = None,
         time: str | None = None, effort: int | None = None, seed: int | None = None,
         folder: str | os.PathLike[str] | None = None, args: Sequence[str] = ()) -> Plan:
    """Plans a job from the costs of its model. The arguments are the options of `pipec
    plan`; `for_` is `--for`, and `folder` is `-o`, without which the files are not
    kept.

    Raises CompileError if no schedule fits.
    """
    import tempfile

    with Inputs() as inputs, tempfile.TemporaryDirectory() as temporary:
        into = temporary if folder is None else path_text(folder, "folder")
        path = inputs.profile(profile)
        command = ["plan", path, "--format=json", f"--output={into}",
                   *counts(ranks=ranks, microbatches=microbatches, chunks=chunks, effort=effort, seed=seed),
                   *figures(memory_limit=memory_limit),
                   *options(layers=layers_text(layers), for_=for_, now=now, time=time), *inputs.costs(cost, None), *words(args)]
        out, diagnostics = run(command, interruptible=True, names=inputs.names)
        with open(os.path.join(into, "schedule.steps"), encoding="utf-8") as file:
            schedule = Schedule(file.read())
    return read(Plan, load(out, False), False, schedule=schedule, folder=None if folder is None else into,
                diagnostics=tuple(diagnostics))
