"""`pipec compare` as a function (docs/Compare.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Mapping, Sequence

from ._data import load, read, records, rounded
from ._diagnostics import Diagnostic
from ._inputs import (Cost, Input, Inputs, Profile, Sizes, counts, figures, integer, layers_text, listed, options, size_argument,
                      switches, text, words)
from ._packages import pandas
from ._program import run


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether a framework runs a schedule."""

    runs_as: str | None
    """`csv`, `json`, `built-in`, `executor`, or None."""
    reason: str | None
    """Why it does not run, or only by an executor."""
    settings: str | None = None
    """What chooses a schedule that is built in."""


@dataclasses.dataclass(frozen=True)
class FoundBy:
    """The search that found a schedule."""

    placement: str
    chunks: int
    effort: int
    seed: int
    backward: str | None = None
    """`split`, `whole` or `mixed`; None if no schedule was found."""


@dataclasses.dataclass(frozen=True, repr=False)
class Candidate:
    """One schedule of a comparison. A schedule that does not exist at these sizes has
    a reason and no figures."""

    name: str
    file: str | None
    params: Mapping[str, int]
    layout: str | None
    target: str | None
    fits: bool
    """Whether it exists, and its ranks have room for it."""
    reason: str | None
    """Why it does not fit."""
    origin: str | None = None
    """`library` or its file, if schedules of this name are from different places."""
    place: int | None = None
    """Its row; schedules with the same order and figures share one."""
    search: FoundBy | None = None
    assumed: tuple[str, ...] = ()
    """The kinds of steps, `F`, `B`, `I`, `W` and `R`, whose costs were not given."""
    stages: int | None = None
    copies: int | None = None
    """How many copies of the model there are."""
    makespan: float | None = None
    bubble_makespan: float | None = None
    """The idle fraction of the makespan, and that of the span."""
    span: float | None = None
    bubble_span: float | None = None
    peak: float | None = None
    memory: float | None = None
    memory_by: str | None = None
    """`recompute` or `offload`, if that keeps it within the memory limit."""
    transfers: int | None = None
    exposed: float | None = None
    bound: float | None = None
    """For a found schedule, a lower bound of the makespan."""
    frameworks: Mapping[str, Verdict] = dataclasses.field(default_factory=dict)
    """By the name of the framework, such as `pytorch`."""

    def __repr__(self) -> str:
        params = f" ({', '.join(f'{name} = {value}' for name, value in self.params.items())})" if self.params else ""
        figures = "" if self.makespan is None else f"makespan {rounded(self.makespan)}, peak {rounded(self.peak or 0)}"
        why = f"does not fit: {self.reason}" if not self.fits else f"fits by {self.memory_by}" if self.memory_by else ""
        return f"<Candidate {shown_name(self)}{params}: {'; '.join(filter(None, (figures, why)))}>"


def shown_name(candidate: Candidate) -> str:
    """Its name, and where it is from if another one has the same name."""
    return candidate.name + (f" ({candidate.origin})" if candidate.origin else "")


@dataclasses.dataclass(frozen=True)
class Choice:
    """The best schedule that a framework runs."""

    schedule: str
    layout: str | None
    runs_as: str
    commands: tuple[str, ...]
    """The commands that write it."""
    settings: str | None
    executor: Choice | None = None
    """For PyTorch, a schedule before this one that only `pipec.torch.executor` runs."""


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison:
    """Schedules in the order of a key, the best first. Iterating gives those that
    fit; `schedules` has all."""

    ranks: int
    microbatches: int
    slices: int
    """The slices of a micro-batch, where a schedule can have them."""
    per: str
    """`part` or `layer`: what the costs are for."""
    parts: int | None
    costs: str
    assumed: tuple[str, ...]
    """The kinds of steps, `F`, `B`, `I` and `W`, whose costs were not given."""
    cost_grid: float | None
    """What costs with many digits were rounded to multiples of."""
    factor_grid: float | None
    size_grid: float | None
    model: str | None
    schedules: tuple[Candidate, ...]
    commands: Mapping[str, Choice]
    """By framework."""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def best(self) -> Candidate | None:
        """The first that fits."""
        return next(iter(self), None)

    def __iter__(self) -> Iterator[Candidate]:
        return (candidate for candidate in self.schedules if candidate.fits)

    def __len__(self) -> int:
        return sum(candidate.fits for candidate in self.schedules)

    def __repr__(self) -> str:
        best = f", the best {shown_name(self.best)} with makespan {rounded(self.best.makespan or 0)}" if self.best else ""
        return (f"<pipec.Comparison: {self.ranks} ranks, {self.microbatches} micro-batches: "
                f"{len(self)} of {len(self.schedules)} fit{best}>")

    def _repr_html_(self) -> str:
        import html

        columns = ["name", "params", "makespan", "bubble_makespan", "peak", "transfers", *self.commands]
        rows = ["".join(f"<th>{html.escape(name)}</th>" for name in columns)]
        for one in self:
            cells: list[Any] = [shown_name(one), ", ".join(f"{name} = {value}" for name, value in one.params.items()), one.makespan,
                                f"{one.bubble_makespan:.4f}", one.peak, one.transfers,
                                *(one.frameworks[name].runs_as or "-" for name in self.commands)]
            rows.append("".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def plot(self, ax: Any = None, top: int | None = None) -> Any:
        """Draws a bar of busy and idle time for each schedule that fits, or for the
        first `top`, with Matplotlib, and returns its Axes; `ax` are those to draw on.
        Raises ValueError if none fits, and PackageNotFound without Matplotlib."""
        from ._plots import plot_comparison

        return plot_comparison(self, ax, None if top is None else integer(top, "top"))

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each schedule, also those that do not fit;
        a column per framework says how it runs there. Raises PackageNotFound without
        pandas."""
        rows = records(self.schedules)
        for row, candidate in zip(rows, self.schedules):
            row["params"] = dict(candidate.params)
            row.update({name: verdict.runs_as for name, verdict in candidate.frameworks.items()})
        return pandas("Comparison.to_dataframe").DataFrame(rows)


def compare(*schedules: Input, ranks: int, microbatches: int, slices: int | None = None,
            chunks: Sizes | None = None, cost: Cost | None = None,
            profile: Profile | None = None, parts: int | None = None, memory_limit: float | str | None = None,
            model: str | None = None, target: str | Sequence[str] | None = None, layers: str | int | None = None,
            split: str | Sequence[str] | None = None, layout: str | Sequence[str] | None = None,
            library: bool = True, search: int | bool = False, sort: str | None = None, top: int | None = None,
            args: Sequence[str] = (), **grid: Sizes) -> Comparison:
    """Simulates schedules for one model at one size, and orders them by makespan.

    These are the schedules of the library, unless `library` is false, and the given
    files, names and `Schedule` objects. Costs are per part of the model, or per
    layer (docs/Compare.md). `grid` are further parameters, each with one value,
    several, or ranges as text: `waves=[1, 2]`. `search` adds schedules that are
    found, with this effort for each; a KeyboardInterrupt ends the searches, and the
    result has what was found by then. The other arguments are the options of
    `pipec compare`, and `args` are further ones.

    Raises CompileError for wrong options and files that cannot be read. Where no
    schedule exists, the result has none that fit.
    """
    targets = target if target is None or isinstance(target, str) else ",".join(
        text(each, "target") for each in listed(target, "target", "texts"))
    command = ["compare", "--format=json", *counts(ranks=ranks, microbatches=microbatches, slices=slices, parts=parts, top=top),
               *figures(memory_limit=memory_limit), *options(model=model, target=targets, layers=layers_text(layers),
                                                             split=split, layout=layout, sort=sort),
               *switches(no_library=not library), *words(args)]
    if search is not False:
        command += switches(search=True) if search is True else counts(search=search)
    if chunks is not None:
        command.append("--" + size_argument("chunks", chunks))
    with Inputs() as inputs:
        command += [*inputs.costs(cost, profile), *map(inputs.schedule, schedules),
                    *(size_argument(name, values) for name, values in grid.items())]
        out, diagnostics = run(command, findings=True, interruptible=bool(search), names=inputs.names)
        data = load(out, False)
        for candidate in data["schedules"]:
            for place in "file", "origin":
                candidate[place] = inputs.names.get(candidate[place], candidate[place])
    return read(Comparison, data, False, diagnostics=tuple(diagnostics))
