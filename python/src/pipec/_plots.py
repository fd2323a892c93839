"""Plots of results, for which Matplotlib is used."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ._packages import pyplot

if TYPE_CHECKING:
    from ._compare import Candidate, Comparison
    from ._search import SearchResult

_BUSY, _IDLE = "#5c7ce4", "#d1d5db"


def _axes(ax: Any, needed_by: str, rows: int = 0) -> Any:
    """`ax`, or the axes of a figure with room for their labels and for rows of bars."""
    if ax is not None:
        return ax
    return pyplot(needed_by).subplots(layout="constrained", figsize=(6.4, max(0.24 * rows + 1.2, 2.4) if rows else 4.8))[1]


def _legend(ax: Any) -> None:
    """A legend above the axes, which covers nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)


def plot_frontier(result: SearchResult, ax: Any = None) -> Any:
    """The makespans and the bounds of a frontier over the memory limits; see `SearchResult.plot`."""
    if not result.frontier:
        raise ValueError("the result has no frontier, which search(frontier=True) gives")
    ax = _axes(ax, "SearchResult.plot")
    for backward, group in itertools.groupby(sorted(result.frontier, key=lambda one: (one.backward, one.limit)), key=lambda one: one.backward):
        points = list(group)
        limits = [point.limit for point in points]
        # The schedule of a limit is the one up to the next.
        line, = ax.plot(limits, [point.makespan for point in points], marker="o", drawstyle="steps-post", label=f"{backward} backward")
        ax.plot(limits, [point.bound for point in points], linestyle="--", drawstyle="steps-post", color=line.get_color(), label=f"{backward} backward, bound")
    ax.set_xlabel("memory limit of a rank")
    ax.set_ylabel("makespan")
    _legend(ax)
    return ax


def _label(candidate: Candidate, names: list[str]) -> str:
    if names.count(candidate.name) == 1:
        return candidate.name
    return f"{candidate.name} ({', '.join(f'{name} = {value}' for name, value in candidate.params.items())})"


def plot_comparison(result: Comparison, ax: Any = None, top: int | None = None) -> Any:
    """Bars of busy and idle time, the best schedule first; see `Comparison.plot`."""
    shown = [candidate for candidate in result if candidate.makespan is not None][:top]
    if not shown:
        raise ValueError("no schedule of the comparison fits")
    ax = _axes(ax, "Comparison.plot", len(shown))
    names = [candidate.name for candidate in shown]
    labels = [_label(candidate, names) for candidate in shown]
    makespans = [candidate.makespan or 0.0 for candidate in shown]
    idle = [makespan * (candidate.bubble_makespan or 0.0) for makespan, candidate in zip(makespans, shown)]
    busy = [makespan - part for makespan, part in zip(makespans, idle)]
    places = list(range(len(shown)))
    ax.barh(places, busy, color=_BUSY, label="busy")
    ax.barh(places, idle, left=busy, color=_IDLE, label="idle")
    for place, makespan in zip(places, makespans):
        ax.text(makespan, place, f" {makespan:g}", va="center")
    ax.set_yticks(places, labels)
    ax.invert_yaxis()
    ax.margins(x=0.12, y=0.02)  # room for the numbers
    ax.set_xlabel(f"makespan, {result.ranks} ranks, {result.microbatches} micro-batches")
    _legend(ax)
    return ax
