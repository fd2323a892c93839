# RUN: %python %s
"""Plots of a frontier and of a comparison, on axes that record what is drawn; on those of
Matplotlib where it is installed. Texts of results."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import sys

import pipec


class Axes:
    """Takes every call, and keeps it."""

    figure = None

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*args, **keywords):
            self.calls.append((name, args, keywords))
            return (self,)
        return call if name != "get_color" else lambda: "blue"

    def of(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


found = pipec.search(ranks=2, microbatches=4, frontier=True, effort=1, library=False)
axes = Axes()
assert found.plot(axes) is axes
points = found.frontier
drawn = [point for (_, makespans), keywords in axes.of("plot") if "marker" in keywords for point in makespans]
bounds = [point for (_, values), keywords in axes.of("plot") if "marker" not in keywords for point in values]
assert sorted(drawn) == sorted(point.makespan for point in points) and sorted(bounds) == sorted(point.bound for point in points)
assert all(limits == sorted(limits) for (limits, _), _ in axes.of("plot")), axes.of("plot")
assert axes.of("set_xlabel") and len(axes.of("legend")) == 1

compared = pipec.compare("gpipe", "one_f_one_b", ranks=2, microbatches=4, library=False)
axes = Axes()
assert compared.plot(axes) is axes
(_, busy), _ = axes.of("barh")[0]
(_, idle), keywords = axes.of("barh")[1]
assert [a + b for a, b in zip(busy, idle)] == [one.makespan for one in compared] and keywords["left"] == busy
assert axes.of("set_yticks")[0][0][1] == [one.name for one in compared]
axes = Axes()
assert len(compared.plot(axes, top=1).of("text")) == 1
# Equal names have their parameters, and where they are from.
twice = pipec.compare("interleaved", ranks=2, microbatches=4, library=False, chunks=[2, 3])
axes = Axes()
twice.plot(axes)
labels = axes.of("set_yticks")[0][0][1]
assert len(set(labels)) == len(labels) == 2 and "chunks = 3" in str(labels), labels

own = pipec.compile("gpipe", ranks=2, microbatches=4)
axes = Axes()
pipec.compare(own, "gpipe", ranks=2, microbatches=4, library=False).plot(axes)
labels = axes.of("set_yticks")[0][0][1]
assert len(set(labels)) == 2 and "gpipe (library)" in labels, labels

for call, kind, message in (
        (lambda: pipec.search(ranks=2, microbatches=4, effort=1, library=False).plot(Axes()), ValueError, "no frontier"),
        (lambda: pipec.compare("gpipe", ranks=2, microbatches=4, library=False, memory_limit=0.5).plot(Axes()), ValueError, "no schedule"),
        (lambda: compared.plot(Axes(), top="all"), TypeError, "top")):
    try:
        call()
    except kind as error:
        assert message in str(error), error
    else:
        assert False, message

if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("agg")
    assert len(compared.plot().patches) == 4 and len(found.plot().lines) >= 2
    # All that is drawn lies in the figure, and the legend, above the axes, covers none of it.
    for axes in compared.plot(), found.plot(), pipec.compare(ranks=4, microbatches=8).plot():
        axes.figure.canvas.draw()
        legend = axes.get_legend().get_window_extent()
        for drawn in [*axes.texts, axes.xaxis.label, axes.get_legend()]:
            box = drawn.get_window_extent()
            assert axes.figure.bbox.containsx(box.x0) and axes.figure.bbox.containsx(box.x1), (drawn, box)
            assert axes.figure.bbox.containsy(box.y0) and axes.figure.bbox.containsy(box.y1), (drawn, box)
        assert all(label.get_window_extent().x0 >= 0 for label in axes.get_yticklabels()), axes
        assert all(axes.bbox.containsx(text.get_window_extent().x1) for text in axes.texts), axes
        assert legend.y0 >= axes.bbox.y1, (legend, axes.bbox)
    # Whole names are in small figures, too, also in a part of one.
    import matplotlib.pyplot

    for size in (3.2, 2.4), (2.4, 1.8):
        figure = matplotlib.pyplot.figure(figsize=size)
        for axes in figure.add_subplot(), matplotlib.pyplot.figure(figsize=size).subfigures().add_subplot():
            twice.plot(axes)
            axes.figure.figure.canvas.draw()
            boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
            assert all(box.x0 >= 0 for box in boxes) and axes.bbox.width > 0.3 * axes.figure.bbox.width, (size, boxes)
            assert all(one.y0 >= other.y1 - 1 for one, other in zip(boxes, boxes[1:])), (size, boxes)
            for drawn in [*axes.texts, axes.xaxis.label, axes.get_legend()]:
                box = drawn.get_window_extent()
                assert box.x0 >= 0 and box.x1 <= axes.figure.figure.bbox.x1 and box.y0 >= 0, (size, drawn, box)
    # Bounds are seen where they are equal to the makespans.
    for makespan, bound in zip(found.plot().lines[::2], found.plot().lines[1::2]):
        assert bound.get_linewidth() > 2 * makespan.get_linewidth() and bound.get_zorder() < makespan.get_zorder(), bound
    # Between two limits the makespan is that of the lower one.
    assert all(line.get_drawstyle() == "steps-post" for line in found.plot().lines)
sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = None
for result in compared, found:
    try:
        result.plot()
    except pipec.PackageNotFound as error:
        assert "needs Matplotlib, which is not installed: pip install matplotlib" in str(error) and error.name == "matplotlib"
    else:
        assert False, "plotted without Matplotlib"

# The texts of results are for people.
schedule = pipec.compile("gpipe", ranks=2, microbatches=2)
assert repr(schedule.lint()) == "<pipec.LintResult: 0 errors in 0 findings, safe under stream, pair, edge, buffered>", schedule.lint()
checked = pipec.check("gpipe", ranks=[2, 3], microbatches=4)
assert repr(checked).startswith("<pipec.CheckResult: 1 schedule, ") and repr(checked).endswith(" figures, all hold>"), repr(checked)
wrong = pipec.check(pipec.Schedule(schedule.ir.replace("  rank 0 {", "  expect makespan == 1\n  rank 0 {", 1)))
assert repr(wrong).endswith(" figures, 1 differ>"), repr(wrong)
assert repr(wrong.diagnostics[0]).startswith("<pipec.Diagnostic ") and ": error: " in repr(wrong.diagnostics[0]), wrong.diagnostics
order = pipec.order(schedule, [1, 2])
assert repr(order).startswith("<pipec.Order of 2 micro-batches: makespan ") and "as given, optimal>" in repr(order), order
report = pipec.compile("gpipe", ranks=2, microbatches=2, target="torch").report()
parts = [compared.best, checked.schedules[0], report.ranks[0], report.communication, report.gaps[0]]
for one, text in zip(parts, ("<Candidate one_f_one_b: makespan 15, peak 2>", "<CheckedSchedule gpipe: 3 clauses at 2 sizes, good>",
                             "<RankReport 0: work 6, idle ", "<Communication: 4 transfers on 2 edges, exposed ", "<Gap of rank ")):
    assert repr(one).startswith(text), one
for limit, text in (1, "gpipe: makespan 18, peak 1; fits by recompute"), (0.5, "gpipe: makespan 15, peak 4; does not fit: "):
    one = pipec.compare("gpipe", ranks=2, microbatches=4, library=False, memory_limit=limit).schedules[0]
    assert repr(one).startswith(f"<Candidate {text}"), one
for one in (found, compared, schedule, report, schedule.simulate(), checked, order, *parts):
    assert " object at 0x" not in repr(one) and len(repr(one)) < 200, repr(one)
