"""`pipec search` as a function (docs/Search.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import os
from typing import Any, Mapping, Sequence

from ._compile import compile
from ._data import load, read, rounded
from ._diagnostics import Diagnostic
from ._inputs import Cost, Input, Inputs, Profile, counts, figures, layers_text, listed, options, switches, words
from ._program import path_text, run
from ._schedule import Schedule


@dataclasses.dataclass(frozen=True)
class LibraryBest:
    """The best schedule of the library that fits."""

    name: str
    params: Mapping[str, int]
    makespan: float
    backward: str
    """`split`, `whole` or `mixed`."""


@dataclasses.dataclass(frozen=True)
class FormTrial:
    """One form of the backward."""

    backward: str
    """`split`, `whole` or `mixed`."""
    outcome: str
    """`best`, `slower`, `excluded`, `covered`, `no schedule` or `not searched`."""
    makespan: float | None
    bound: float | None
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class PlacementTrial:
    """One placement, with one form of the backward, of a search for the best one."""

    placement: str
    chunks: int
    backward: str
    outcome: str
    """`best`, `slower`, `excluded`, `no schedule` or `not searched`."""
    makespan: float | None
    bound: float | None
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Searched:
    """A placement with a form of the backward and a layout."""

    placement: str
    chunks: int
    backward: str
    layout: str | None
    """None without layers, or for all layouts that are not listed."""
    makespan: float | None
    bound: float | None
    state: str
    """`searched`, `bounded` if its bound alone is known, or `excluded`."""
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Layouts:
    """The layouts of a search for the best one."""

    bound: float
    """No layout has a schedule with a smaller makespan."""
    optimal: bool
    searched: int
    bounded: int
    even: str
    even_makespan: float | None


@dataclasses.dataclass(frozen=True)
class MinimalMemory:
    """The least memory limit under which the makespan is at most `goal`."""

    backward: str
    """The form of the schedules that were searched: `split` or `whole`."""
    limit: float
    bound: float
    goal: float


@dataclasses.dataclass(frozen=True)
class FrontierPoint:
    """The best makespan under one memory limit."""

    backward: str
    limit: float
    makespan: float
    bound: float
    gap: float
    peak: float


@dataclasses.dataclass(frozen=True)
class PlainSearch:
    """The best schedule without recomputation and copies."""

    makespan: float
    bound: float


@dataclasses.dataclass(frozen=True)
class EveryM:
    """The makespans of the program that is written for every number of micro-batches:
    `rate` m + `base`, with `from_` + `step` n of them."""

    from_: int
    step: int
    rate: float
    base: float
    least: int
    """The program takes the numbers from this one on."""
    bound_from: int
    """From this number on no schedule has less than `bound_rate` m + `bound_base`."""
    bound_rate: float
    bound_base: float
    optimal_from: int | None
    """From this number on the two are equal."""


@dataclasses.dataclass(frozen=True, repr=False)
class SearchResult:
    """The best schedule that was found, and how good it is."""

    schedule: Schedule
    makespan: float
    bound: float
    """No schedule of these stages, ranks and memory, with the backwards of
    `bound_covers`, has a smaller makespan."""
    gap: float
    """makespan / bound - 1"""
    optimal: bool
    bound_by: str
    bound_relaxed: bool
    """The bound leaves out costs that the makespan includes."""
    ranks: int
    microbatches: int
    slices: int
    chunks: int
    placement: str
    backward: str
    """`split`, `whole` or `mixed`."""
    bound_covers: tuple[str, ...]
    """All three forms if the bound is one of all schedules, else `split`, `whole` or
    both: then it is one of schedules with backwards of one form."""
    peaks: tuple[float, ...]
    """The peak activations of each rank."""
    library: LibraryBest | None
    seed: int
    effort: int
    reproducible: bool
    """False if a clock or an interrupt ended the search."""
    forms: tuple[FormTrial, ...] = ()
    """The forms of the backward, if both were tried."""
    assumed: tuple[str, ...] = ()
    """The kinds of steps, `F`, `B`, `I` and `W`, whose costs were not given."""
    cost_grid: float | None = None
    """What costs with many digits were rounded to multiples of."""
    factor_grid: float | None = None
    size_grid: float | None = None
    memory_by: str | None = None
    """What keeps the schedule within the memory limit: `recompute` or `offload`, None
    if nothing has to. With these, the bound leaves out the limit."""
    bound_plain: bool = False
    """The bound covers only schedules without recomputation and copies."""
    plain: PlainSearch | None = None
    """With `memory_by`: the best without, if one fits."""
    recomputed: tuple[int, ...] = ()
    """With `memory_by`: the recomputed micro-batches of each stage."""
    overlaps: int = 0
    """The number of overlaps of the schedule."""
    order: tuple[int, ...] = ()
    """If micro-batches have factors and another order of them is better: the number,
    in the given batch, of each micro-batch."""
    given: float | None = None
    """The makespan in the given order, if `order` is another one."""
    placements: tuple[PlacementTrial, ...] = ()
    layout: str | None = None
    layouts: Layouts | None = None
    block: int | None = None
    copies: int | None = None
    makespan_without_blocks: float | None = None
    every_m: EveryM | None = None
    program: str | None = None
    """With `every_m`: a program for every number of micro-batches."""
    minimal_memory: MinimalMemory | None = None
    frontier: tuple[FrontierPoint, ...] = ()
    searched: tuple[Searched, ...] = ()
    """All that the bound `bound_all` covers."""
    bound_all: float | None = None
    certified: float | None = None
    """The bound in the certificate, if one was written."""
    certified_all: float | None = None
    """The same for all placements and forms, if there are several."""
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        how = "optimal" if self.optimal else f"at most {self.gap:.2%} above the optimum"
        return (f"<pipec.SearchResult: {self.ranks} ranks, {self.microbatches} micro-batches, placement {self.placement}: "
                f"makespan {rounded(self.makespan)}, {how}>")

    def plot(self, ax: Any = None) -> Any:
        """Draws the frontier, makespans and bounds over memory limits, with Matplotlib,
        and returns its Axes; `ax` are those to draw on. Raises ValueError without
        `frontier`, and PackageNotFound without Matplotlib."""
        from ._plots import plot_frontier

        return plot_frontier(self, ax)


def search(schedule: Input | None = None, *, ranks: int, microbatches: int | None = None, slices: int | None = None,
           chunks: int | None = None, placement: str | None = None, backward: str | None = None, cost: Cost | None = None,
           profile: Profile | None = None, parts: int | None = None, memory_limit: float | str | None = None,
           memory_by: str | None = None,
           layers: str | int | None = None, layout: str | None = None, layouts: bool = False,
           start: Sequence[Input] = (), library: bool = True, effort: int | None = None,
           time: str | None = None, seed: int | None = None, within: str | None = None, prove: bool = False,
           readable: bool = False, minimize: str | None = None, frontier: bool = False, threads: int | None = None,
           every_m: bool = False, keep_order: bool = False, certificate: str | os.PathLike[str] | None = None,
           args: Sequence[str] = ()) -> SearchResult:
    """Looks for the schedule with the least makespan for these costs and this memory.

    With `schedule`, it keeps the placement, the stage graph, the tied stages and the
    costs of that, and looks for the order of its steps. The other arguments are the
    options of `pipec search`, and `args` are further ones; `start` are schedules from
    which it starts, too. With `every_m`, the result has a program that takes every
    number of micro-batches, and the schedule is that of `microbatches`, which then has a
    default. A KeyboardInterrupt ends the
    search, which then returns the best schedule so far; a second one, or one before
    there is a schedule, is raised.

    Raises CompileError if no schedule exists.
    """
    command = ["search", "--format=json",
               *counts(ranks=ranks, microbatches=microbatches, slices=slices, chunks=chunks, parts=parts, seed=seed,
                       threads=threads, effort=effort),
               *figures(memory_limit=memory_limit),
               *options(placement=placement, backward=backward, layers=layers_text(layers), layout=layout, time=time,
                        within=within, minimize=minimize, memory_by=memory_by,
                        certificate=None if certificate is None else path_text(certificate, "certificate")),
               *switches(layouts=layouts, no_library=not library, prove=prove, readable=readable, frontier=frontier, every_m=every_m,
                         keep_order=keep_order),
               *words(args)]
    with Inputs() as inputs:
        found = inputs.path("found.pipe" if every_m else "found.steps")
        inputs.names[found] = "<found>"
        command += [*inputs.costs(cost, profile), *options(start=[inputs.schedule(each) for each in listed(start, "start", "schedules")]),
                    f"--output={found}", *([] if schedule is None else [inputs.schedule(schedule)])]
        out, diagnostics = run(command, interruptible=True, names=inputs.names)
        with open(found, encoding="utf-8") as file:
            result = file.read()
    best = compile(source=result) if every_m else Schedule(result)
    return read(SearchResult, load(out, False), False, schedule=best, program=result if every_m else None,
                diagnostics=tuple(diagnostics))
