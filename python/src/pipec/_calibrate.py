"""`pipec calibrate` as a function (docs/Calibrate.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import os
from typing import Any, Iterable, Mapping, Sequence

from ._data import load, read, records, rounded
from ._diagnostics import Diagnostic
from ._files import write_text
from ._inputs import CostProfile, Input, Inputs, counts, integer, listed, words
from ._packages import pandas
from ._program import file_argument, run


@dataclasses.dataclass(frozen=True)
class StepTime:
    """How long the training steps took, in milliseconds."""

    min: float
    median: float
    max: float


@dataclasses.dataclass(frozen=True)
class Clock:
    """A clock that is not that of rank 0."""

    rank: int
    """The first rank that reads it."""
    known: bool
    """False without transfers in both directions; the others are then 0."""
    offset_ns: int
    """What its time needs to be that of rank 0, in nanoseconds."""
    interval_ns: int
    """The width of the interval that the offset is in the middle of."""


@dataclasses.dataclass(frozen=True)
class MeasuredFigure:
    """A figure of the profile, in milliseconds or bytes, with its spread."""

    block: str
    """`cost` or `memory`."""
    figure: str
    of: str
    """`stage 0`, `edge 0 -> 1`, `rank 1`, `F & B`, or empty for all."""
    value: float
    lower: float
    """The quartiles of the samples."""
    upper: float
    samples: int
    found_in: str


@dataclasses.dataclass(frozen=True, repr=False)
class Calibration:
    """What the traces of a run show. It can be given as `profile`, like its cost
    profile alone."""

    ranks: int
    stages: int
    microbatches: int
    training_steps: int
    """How many were measured."""
    step_time: StepTime | None
    clocks: tuple[Clock, ...]
    figures: tuple[MeasuredFigure, ...]
    left_out: tuple[str, ...]
    """What the traces do not show, and is not in the profile."""
    profile: CostProfile
    """The text of the cost profile."""
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        time = f" of {rounded(self.step_time.median)} ms" if self.step_time else ""
        return (f"<pipec.Calibration: {self.ranks} ranks, {self.stages} stages, {self.microbatches} micro-batches: "
                f"{len(self.figures)} figures, {self.training_steps} training steps{time}>")

    def _repr_html_(self) -> str:
        import html

        def elements(tag: str, texts: Iterable[str]) -> str:
            return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

        rows = [elements("th", ("figure", "of", "value", "25 %", "75 %", "samples", "found in"))]
        for one in self.figures:
            name = one.figure if one.block == "cost" else f"{one.block} {one.figure}"
            rows.append(elements("td", (name, one.of, *map(rounded, (one.value, one.lower, one.upper)), str(one.samples),
                                        one.found_in)))
        table = f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
        return table + (f"<p>left out:</p><ul>{elements('li', self.left_out)}</ul>" if self.left_out else "")

    def write_profile(self, path: str | os.PathLike[str]) -> None:
        """Writes `profile` to a file, whole or not at all."""
        write_text(path, self.profile)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each figure. Raises PackageNotFound
        without pandas."""
        return pandas("Calibration.to_dataframe").DataFrame(records(self.figures))


def calibrate(traces: Iterable[str | os.PathLike[str]], *, for_: Input | None = None, warmup: int | None = None,
              ranks_of: Mapping[str | os.PathLike[str], int] | None = None, args: Sequence[str] = (),
              **params: int) -> Calibration:
    """Makes a cost profile of the traces of a real run, in milliseconds: one file per
    rank, or one for all ranks from an executor; gzip is read, too.

    `for_` is the schedule that ran, a file, a name or a Schedule, against which the
    traces are checked; `params` are its parameters that are not the sizes of the
    traces. `warmup` is how many training steps are left out at the beginning,
    `ranks_of` the ranks of traces that do not say them or say others. `args` are
    further options of `pipec calibrate`.

    The result can be given as `profile`, and `write_profile` writes a file for
    `--cost-profile`.

    Raises CompileError for traces that cannot be read or are not of one run, or not of
    the schedule.
    """
    files = [file_argument(path, f"traces[{i}]", "a file") for i, path in enumerate(listed(traces, "traces", "files"))]
    if not files:
        raise ValueError("traces is empty: calibrate needs the traces of a run")
    if params and for_ is None:
        raise TypeError(f"{next(iter(params))} has no effect without for_, which is the schedule that ran")
    command = ["calibrate", "--format=json", *counts(warmup=warmup), *words(args)]
    if ranks_of is not None and not isinstance(ranks_of, Mapping):
        raise TypeError(f"ranks_of is {ranks_of!r}, not a mapping")
    for path, rank in (ranks_of or {}).items():
        file = file_argument(path, "a key of ranks_of", "a file")
        command.append(f"--ranks-of={file}={integer(rank, f'ranks_of[{path!r}]')}")
    with Inputs() as inputs:
        written = inputs.path("costs.json")
        inputs.names[written] = "<profile>"
        if for_ is not None:
            command.append(f"--for={inputs.schedule(for_, 'for_')}")
        command += [f"--output={written}", *files,
                    *(f"{name}={integer(value, f'parameter {name}')}" for name, value in params.items())]
        out, diagnostics = run(command, names=inputs.names)
        with open(written, encoding="utf-8") as file_of_profile:
            profile = CostProfile(file_of_profile.read())
    return read(Calibration, load(out, False), False, profile=profile, diagnostics=tuple(diagnostics))
