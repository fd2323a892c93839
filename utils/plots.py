#!/usr/bin/env python3
"""Draws the tables of a page of measurements as plots for the documentation's web site.

    plots.py PAGE OUT

Reads PAGE, writes the page with the plots before their tables to OUT, and the plots, for
light and for dark pages, into the folder plots/ beside it. A plot has the numbers of its
table and no others: every table below a heading of PLOTS must have the columns there, or
this fails. Needs Matplotlib.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

import matplotlib
matplotlib.use("svg")
from matplotlib import pyplot, ticker  # noqa: E402 (after the backend is chosen)

# Of Okabe and Ito, for all types of color vision, on light and on dark pages.
COLORS = {"light": ["#0072b2", "#b8480a", "#007d5c", "#8a5a9e"], "dark": ["#56b4e9", "#f0a13a", "#2cc295", "#d9a3c7"]}
INK = {"light": ("#1f2937", "#d1d5db"), "dark": ("#e5e7eb", "#4b5563")}
MARKERS, HATCHES = "osD^", ["", "////", "....", "xxxx"]

# Below these headings of pages: the file's name, the kind of plot, the columns that name a
# row, the series and the text of the axis. Headings of tables are the words in bold before them.
PLOTS = {
    "Transfers": ("transfers", "ranges", ["model"], ["`simulate`", "best of the rules", "`search`"],
                  "makespan over the best known one: median to largest"),
    "Orders of batches": ("batches", "ranges", ["weights"], ["as given", "largest first", "`pipec order`"],
                          "makespan over the bound: median to largest"),
    "Layouts": ("layouts", "ranges", ["model"], ["1F1B", "interleaved"],
                "makespan over the found one: median to largest"),
    "8 ranks, sleeps in place of work": ("plans-8", "bars", ["model", "row"], ["predicted", "measured"],
                                         "milliseconds per step"),
    "2 ranks, real work": ("plans-2", "bars", ["model", "row"], ["predicted", "median", "least"],
                           "milliseconds per step"),
}


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def tables(lines):
    """(first line, heading, column names, rows) of each table of a page."""
    heading, at = "", 0
    while at < len(lines):
        if match := re.match(r"#+ (.*)|\*\*(.*?)\.?\*\*", lines[at]):
            heading = match[1] or match[2]
        first = at
        while at < len(lines) and lines[at].startswith("|"):
            at += 1
        if at > first:
            yield first, heading, cells(lines[first]), [cells(line) for line in lines[first + 2:at]]
        at += at == first


def numbers(text):
    found = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    if not 1 <= len(found) <= 2:
        sys.exit(f"plots.py: `{text}` is not one or two numbers")
    return found


def plain(text):
    return text.replace("`", "")


def draw_ranges(axes, rows, series, colors, room):
    """A line per row and series from the median, a filled mark, to the largest, an open one."""
    for s, (name, color, marker) in enumerate(zip(series, colors, MARKERS)):
        for y, row in enumerate(rows):
            found, at = numbers(row[name]), y + (s - (len(series) - 1) / 2) * 0.22
            # One number is both.
            axes.plot([found[0], found[-1]], [at, at], color=color, linewidth=2)
            axes.plot(found[-1], at, marker, color=color, markerfacecolor=room, markersize=6)
            axes.plot(found[0], at, marker, color=color, markersize=6, label=plain(name) if y == 0 else None)
    axes.set_xscale("log")
    axes.set_xlim(left=0.98)
    largest = max(max(numbers(row[name])) for row in rows for name in series)
    axes.xaxis.set_major_locator(ticker.FixedLocator(
        [1, 1.1, 1.2, 1.4, 1.6, 1.8, 2] if largest < 2.2 else [1, 1.2, 1.5, 2, 3, 4, 5]))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))


def draw_bars(axes, rows, series, colors, room):
    """A group of bars per row, with their values."""
    height = 0.8 / len(series)
    for s, (name, color, hatch) in enumerate(zip(series, colors, HATCHES)):
        values = [numbers(row[name])[0] for row in rows]
        places = [y + (s - (len(series) - 1) / 2) * height for y in range(len(rows))]
        bars = axes.barh(places, values, height * 0.9, color=color, hatch=hatch, edgecolor=room, linewidth=0, label=plain(name))
        axes.bar_label(bars, [f"{value:g}" for value in values], padding=3, fontsize=8)
    axes.margins(x=0.1)


def draw(path, scheme, kind, names, series, unit, rows):
    ink, line = INK[scheme]
    room = "#ffffff" if scheme == "light" else "#1e2129"  # the page
    with pyplot.rc_context({"text.color": ink, "axes.labelcolor": ink, "xtick.color": ink, "ytick.color": ink,
                            "axes.edgecolor": line, "grid.color": line, "svg.fonttype": "none", "svg.hashsalt": "pipec",
                            "hatch.linewidth": 0.8, "font.family": "sans-serif", "font.size": 9}):
        each = 0.19 * len(series) + 0.22
        figure, axes = pyplot.subplots(figsize=(7.4, 1.1 + each * len(rows)), layout="constrained")
        (draw_bars if kind == "bars" else draw_ranges)(axes, rows, series, COLORS[scheme], room)
        labels = [", ".join(plain(row[name]) for name in names) for row in rows]
        axes.set_yticks(range(len(rows)), [label.replace(", ", ",\n", 1) if len(label) > 28 else label for label in labels])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(unit)
        axes.grid(axis="x", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=len(series), frameon=False)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def main():
    page, out = map(pathlib.Path, sys.argv[1:])
    lines = page.read_text(encoding="utf-8").splitlines()
    folder = out.parent / "plots"
    folder.mkdir(exist_ok=True)
    missing, before = set(PLOTS), {}
    for first, heading, header, rows in tables(lines):
        if heading not in PLOTS:
            continue
        missing.discard(heading)
        name, kind, names, series, unit = PLOTS[heading]
        if unknown := [column for column in names + series if column not in header]:
            sys.exit(f"plots.py: {page}: the table of `{heading}` has no column {', '.join(unknown)}")
        rows = [dict(zip(header, row)) for row in rows]
        for scheme in COLORS:
            draw(folder / f"{name}-{scheme}.svg", scheme, kind, names, series, unit, rows)
        alt = f"{heading}: {unit}, of {', '.join(map(plain, series))}, as in the table below"
        images = "".join(f"![{alt}](plots/{name}-{scheme}.svg#only-{scheme})\n" for scheme in COLORS)
        before[first] = f'<div class="wide" markdown>\n{images}</div>\n'
    if missing:
        sys.exit(f"plots.py: {page} has no table of `{'`, `'.join(sorted(missing))}`")
    out.write_text("\n".join(before.get(at, "") + ("\n" if at in before else "") + line for at, line in enumerate(lines)) + "\n",
                   encoding="utf-8")
    print(f"{len(before)} plots")


if __name__ == "__main__":
    main()
