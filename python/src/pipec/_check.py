"""`pipec check` as a function (docs/Check.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
from typing import Mapping, Sequence

from ._data import counted, load, read
from ._diagnostics import Diagnostic
from ._inputs import Cost, Input, Inputs, Profile, Sizes, counts, listed, size_argument, switches, words
from ._program import run


@dataclasses.dataclass(frozen=True)
class Failure:
    """A figure that differs from its clause."""

    rank: int | None
    relation: str
    expected: float
    measured: float
    params: Mapping[str, int]
    costs: str


@dataclasses.dataclass(frozen=True)
class Clause:
    """An `expect` clause."""

    metric: str
    file: str | None
    line: int | None
    column: int | None
    figures: int
    """How many figures were compared."""
    failures: int
    failed: tuple[Failure, ...]
    """The first 100 of them."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A size at which the schedule does not exist."""

    params: Mapping[str, int]
    reason: str


@dataclasses.dataclass(frozen=True, repr=False)
class CheckedSchedule:
    """The clauses of one schedule."""

    name: str
    file: str | None
    good: bool
    sizes: int
    """How many sizes were checked."""
    broken: int
    """How many of them could not be simulated."""
    costs: int
    """Under how many settings of costs."""
    clauses: tuple[Clause, ...]
    refused: tuple[Refusal, ...]

    def __repr__(self) -> str:
        how = "good" if self.good else "not good"
        return f"<CheckedSchedule {self.name}: {counted(len(self.clauses), 'clause')} at {counted(self.sizes, 'size')}, {how}>"


@dataclasses.dataclass(frozen=True, repr=False)
class CheckResult:
    """True if all figures hold."""

    good: bool
    schedules: tuple[CheckedSchedule, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What `pipec check` says, with the place of each clause that fails."""

    def __bool__(self) -> bool:
        return self.good

    def __repr__(self) -> str:
        clauses = [clause for schedule in self.schedules for clause in schedule.clauses]
        failures = sum(clause.failures for clause in clauses)
        return (f"<pipec.CheckResult: {counted(len(self.schedules), 'schedule')}, "
                f"{counted(sum(clause.figures for clause in clauses), 'figure')}, "
                + (f"{failures} differ>" if failures else "all hold>" if self.good else "not good>"))


def check(*schedules: Input, cost: Cost | Sequence[Cost] | None = None, profile: Profile | None = None,
          parts: int | None = None, library: bool = False, args: Sequence[str] = (), **grid: Sizes) -> CheckResult:
    """Compares the figures of schedules with their `expect` clauses.

    `schedules` are files, names and `Schedule` objects, and with `library` all
    programs of the library. `grid` are the sizes: parameters with one value,
    several, or ranges as text (`ranks="2..8"`), of which every combination is
    checked. Each of several `cost` is a run of its own. `args` are further options
    of `pipec check`.

    Raises CompileError for wrong options and files that cannot be read. A figure
    that differs is in the result.
    """
    costs = [cost] if cost is None or isinstance(cost, (str, Mapping)) else listed(cost, "cost", "costs")
    with Inputs() as inputs:
        command = ["check", "--format=json", *counts(parts=parts), *switches(library=library), *words(args),
                   *inputs.costs(None, profile)]
        for each in costs:
            command += inputs.costs(each, None)
        command += [*map(inputs.schedule, schedules), *(size_argument(name, values) for name, values in grid.items())]
        out, diagnostics = run(command, findings=True, names=inputs.names)
        data = load(out, False)
        for schedule in data["schedules"]:
            for each in [schedule, *schedule["clauses"]]:
                each["file"] = inputs.names.get(each["file"], each["file"])
    return read(CheckResult, data, False, diagnostics=tuple(diagnostics))
