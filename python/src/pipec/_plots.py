"""Plots of results, for which Matplotlib is used."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ._compare import Candidate, shown_name
from ._packages import pyplot

if TYPE_CHECKING:
    from ._compare import Comparison
    from ._search import SearchResult

_BUSY, _IDLE = "#5b7fe6", "#d1d5db"


def _axes(ax: Any, needed_by: str, rows: int = 0) -> Any:
    """`ax`, or the axes of a figure with room for their labels and for rows of bars."""
    if ax is not None:
        return ax
    return pyplot(needed_by).subplots(layout="constrained", figsize=(6.4, max(0.24 * rows + 1.2, 2.4) if rows else 4.8))[1]


def _lay_out(ax: Any) -> bool:
    """Lets the figure of `ax` make room for what is beside the axes; false for axes without a figure."""
    if ax.figure is None:
        return False
    figure = ax.figure.figure  # also of a part of a figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return True


def _letters(ax: Any, rows: int) -> float | None:
    """The size of letters with which the names of the rows fit, from 4 to the usual one."""
    if not _lay_out(ax):
        return None
    labels, points = ax.get_yticklabels(), 72 / ax.figure.dpi
    size, widest = labels[0].get_fontsize(), max(label.get_window_extent().width for label in labels)
    fitting: float = min(size, size * 0.6 * ax.bbox.width / widest, 0.9 * ax.bbox.height * points / rows)
    return max(4, fitting)


def _legend(ax: Any, columns: int = 2, size: float | None = None) -> None:
    """A legend above the axes, which covers nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, fontsize=size)


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
        # Wide and below it, so that both are seen where they are equal.
        ax.plot(limits, [point.bound for point in points], drawstyle="steps-post", color=line.get_color(), label=f"{backward} backward, bound",
                linewidth=6, alpha=0.35, zorder=1)
    ax.set_xlabel("memory limit of a rank")
    ax.set_ylabel("makespan")
    is_wide = not _lay_out(ax) or ax.bbox.width > 4 * ax.figure.dpi
    _legend(ax, columns=2 if is_wide else 1)
    return ax


def _label(candidate: Candidate, names: list[str]) -> str:
    name = shown_name(candidate)
    if names.count(name) == 1:
        return name
    return f"{name} ({', '.join(f'{name} = {value}' for name, value in candidate.params.items())})"


def plot_comparison(result: Comparison, ax: Any = None, top: int | None = None) -> Any:
    """Bars of busy and idle time, the best schedule first; see `Comparison.plot`."""
    shown = [candidate for candidate in result if candidate.makespan is not None][:top]
    if not shown:
        raise ValueError("no schedule of the comparison fits")
    ax = _axes(ax, "Comparison.plot", len(shown))
    names = [shown_name(candidate) for candidate in shown]
    labels = [_label(candidate, names) for candidate in shown]
    makespans = [candidate.makespan or 0.0 for candidate in shown]
    idle = [makespan * (candidate.bubble_makespan or 0.0) for makespan, candidate in zip(makespans, shown)]
    busy = [makespan - part for makespan, part in zip(makespans, idle)]
    places = list(range(len(shown)))
    ax.barh(places, busy, color=_BUSY, label="busy")
    ax.barh(places, idle, left=busy, color=_IDLE, label="idle")
    ax.set_yticks(places, labels)
    size = _letters(ax, len(shown))
    ax.tick_params(labelsize=size)
    for place, makespan in zip(places, makespans):
        ax.text(makespan, place, f" {makespan:g}", va="center", fontsize=size)
    ax.invert_yaxis()
    ax.margins(x=0.16, y=0.02)  # room for the numbers
    ax.set_xlabel(f"makespan, {result.ranks} ranks, {result.microbatches} micro-batches", wrap=True, fontsize=size)
    _legend(ax, size=size)
    return ax
