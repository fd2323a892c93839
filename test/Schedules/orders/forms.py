# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The papers' closed forms, held against rules.py: what proves the rules.

A form is a figure, the condition under which its paper claims it, and its
value. `python3 forms.py` runs every rule at every size of a grid, up to 8 ranks
in a run of all tests, else up to 6: each order must be complete, must run, and
must keep every form that applies.
"""
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from orders.model import Run, check, peak  # noqa: E402
from orders.rules import RULES  # noqa: E402

Cost = namedtuple("Cost", "F I W B FB hop")
UNIT = Cost(1, 1, 1, 2, 3, 0)
COSTS = [UNIT, Cost(10, 12, 7, 19, 29, 0), Cost(2, 2, 2, 4, 5, 0),
         Cost(10, 8, 8, 16, 22, 2), Cost(1, 1, 1, 1, 2, 0)]


class Size:
    """One size under one cost, as the forms below read it."""

    def __init__(self, p, m, more, cost):
        self.p, self.m, self.c = p, m, cost
        self.v, self.g = more.get("v", 1), more.get("group", p)
        self.still = cost.hop == 0
        self.unit = cost.F == cost.I == cost.W and cost.B == 2 * cost.F and self.still
        self.fb = cost.F + cost.B


def always(s):
    return s.still


def unit(s):
    return s.unit


def full(s):
    """Megatron-LM's rule: no group is smaller than the pipeline."""
    return s.still and s.p <= s.g <= s.m and (s.m % s.g == 0 or s.m % s.g >= s.p)


def one_group(s):
    return s.still and s.m <= s.g


INTERLEAVED = [
    ("makespan", full, lambda s: (s.m * s.v + s.p - 1) * s.fb),
    ("makespan", one_group,
     lambda s: (s.m * s.v + s.p - 1 + (s.v - 1) * max(0, s.p - s.m)) * s.fb)]

FORMS = {
    "gpipe": [
        ("makespan", always, lambda s: (s.m + s.p - 1) * s.fb),
        ("peak", always, lambda s, r: s.m)],
    "one_f_one_b": [
        ("makespan", lambda s: s.p > 1 and s.m % s.p == 0,
         lambda s: (s.m + s.p - 1) * s.fb
         + (2 * (s.p - 1) * s.m // s.p + 2 * (s.p - 2)) * s.c.hop),
        ("makespan", always, lambda s: (s.m + s.p - 1) * s.fb),
        ("peak", always, lambda s, r: min(s.m, s.p - r))],
    "eager_one_f_one_b": [
        ("makespan", lambda s: True,
         lambda s: (s.m + s.p - 1) * s.fb + 2 * (s.p - 1) * s.c.hop),
        ("peak", always, lambda s, r: min(s.m, 2 * (s.p - r) - 1))],
    "interleaved": [
        *INTERLEAVED,
        ("makespan", lambda s: s.p > 1 and s.g == s.p and s.m % s.p == 0,
         lambda s: (s.m * s.v + s.p - 1) * s.fb + (2 * s.p * s.v - 2) * s.c.hop),
        ("peak", always, lambda s, r: min(
            s.m * s.v, 2 * (s.p - 1 - r) + (s.v - 1) * s.g + 1))],
    "kimi_k2": [
        *INTERLEAVED,
        ("peak", always, lambda s, r: min(
            s.m * s.v, 2 * (s.p - 1 - r) + (s.v - 1) * s.g + 2))],
    "looped_bfs": [
        ("makespan", always,
         lambda s: ((s.v - 1) * max(s.m, s.p) + s.m + s.p - 1) * s.fb),
        ("peak", always, lambda s, r: s.m * s.v)],
    "zb1p": [
        ("idle", lambda s: s.m >= s.p and s.still and s.c.W <= min(s.c.F, s.c.I),
         lambda s, r: (s.p - 1) * (s.c.F + s.c.I - s.c.W)),
        ("makespan", lambda s: s.m <= s.p and s.still and s.c.W <= min(s.c.F, s.c.I),
         lambda s: (s.m + s.p - 1) * (s.c.F + s.c.I) + s.c.W),
        ("peak", always, lambda s, r: min(s.m, s.p))],
    "zbh2": [
        ("span", lambda s: s.still and s.c.W <= min(s.c.F, s.c.I),
         lambda s: s.m * (s.c.F + s.c.I + s.c.W)
         + (s.p - 1) * (s.c.F + s.c.I - 2 * s.c.W)),
        ("makespan", unit, lambda s: (3 * s.m + s.p - 1) * s.c.F),
        ("peak", always, lambda s, r: 2 * s.p - 1)],
    "zbv": [
        ("span", lambda s: s.unit and s.m >= 2 * s.p, lambda s: 6 * s.m * s.c.F),
        ("makespan", lambda s: s.unit and s.m >= 2 * s.p,
         lambda s: (6 * s.m + s.p - 1) * s.c.F),
        ("most", lambda s: s.m >= 2 * s.p, lambda s: 2 * s.p)],
    "v_half": [
        ("makespan", lambda s: s.unit and s.m >= s.p >= 2,
         lambda s: (6 * s.m + 3 * s.p - (4 if s.p % 2 else 5)) * s.c.F),
        ("most", lambda s: s.m >= s.p >= 2, lambda s: 2 * ((s.p + 2) // 2))],
    "v_min": [
        ("makespan", lambda s: s.unit and s.m >= s.p >= 2,
         lambda s: (6 * s.m + 4 * s.p - (5 if s.p % 3 else 7)) * s.c.F),
        ("most", lambda s: s.m >= s.p >= 2, lambda s: 2 * ((s.p + 4) // 3))],
    "chimera": [
        ("idle", lambda s: s.c.F == s.c.B and s.still, lambda s, r: (s.p - 2) * s.c.F)],
    "hanayo": [
        ("idle", lambda s: s.m % s.p == 0 and s.still,
         lambda s, r: (2 * s.p - 2) * (
             max(s.c.F, s.c.B) + (s.m // s.p - 1) * abs(s.c.F - s.c.B)))],
    "dualpipe": [
        # The idle time of the ranks in the middle; those at the ends run fewer
        # pairs, so they have more work.
        ("least idle", lambda s: s.unit and s.c.FB == s.fb,
         lambda s: (s.p // 2 - 1) * (s.c.FB + s.c.B - 3 * s.c.W)),
        ("most idle", unit, lambda s: (s.p // 2 - 1) * (s.c.FB + s.c.B - 3 * s.c.W)),
        ("peak", lambda s: s.m >= 2 * s.p, lambda s, r: s.p + 1)],
    "dualpipev": [
        ("least idle", lambda s: s.unit and s.c.FB == s.fb,
         lambda s: (s.p - 1) * (s.c.FB + s.c.B - 3 * s.c.W)),
        ("most idle", unit, lambda s: (s.p - 1) * (s.c.FB + s.c.B - 3 * s.c.W)),
        ("peak", lambda s: s.m >= 2 * s.p, lambda s, r: 2 * s.p + 1)],
    "one_f_one_b_overlap": [
        ("makespan", lambda s: s.still and s.m >= 2 * s.p - 1,
         lambda s: s.p * s.fb + (s.m - 1) * s.c.FB),
        ("peak", always, lambda s, r: min(s.m, 2 * (s.p - r)))],
    "interleaved_overlap": [
        ("makespan", lambda s: s.still and s.g == s.p and s.m % s.p == 0,
         lambda s: (s.p - 1) * s.fb + (s.p * (s.v - 1) + 1) * s.fb
         + (s.m * s.v - s.p * (s.v - 1) - 1) * s.c.FB),
        ("peak", always, lambda s, r: min(
            s.m * s.v, 2 * (s.p - 1 - r) + (s.v - 1) * s.g + 2))],
}

# Makespans that the papers print, under F = I = W = 1: (schedule, p, m,
# further parameters, cost of a pair, makespan, span or None).
PRINTED = [
    ("gpipe", 4, 8, {}, 3, 33, None), ("gpipe", 4, 16, {}, 3, 57, None),
    ("one_f_one_b", 4, 8, {}, 3, 33, None),
    ("eager_one_f_one_b", 4, 16, {}, 3, 57, None),
    ("interleaved", 4, 8, {"v": 2, "group": 4}, 3, 57, None),
    ("interleaved", 4, 16, {"v": 2, "group": 4}, 3, 105, None),
    ("looped_bfs", 4, 8, {"v": 2}, 3, 57, None),
    ("zb1p", 4, 8, {}, 3, 27, None), ("zb1p", 4, 16, {}, 3, 51, None),
    ("zbh2", 4, 8, {}, 3, 27, 24), ("zbh2", 4, 16, {}, 3, 51, 48),
    ("zbv", 4, 8, {}, 3, 51, 48), ("zbv", 4, 16, {}, 3, 99, 96),
    ("v_half", 4, 8, {}, 3, 55, None), ("v_half", 4, 16, {}, 3, 103, None),
    ("dualpipe", 4, 8, {}, 3, 26, None), ("dualpipe", 4, 8, {}, 2.5, 24, None),
    ("one_f_one_b_overlap", 4, 8, {}, 2.5, 29.5, None),
]


def figure(metric, order, run):
    """The values that a form describes: one, or one per rank."""
    ranks = range(len(order.ranks))
    if metric == "most":
        return max(peak(order, r) for r in ranks)
    if metric == "most idle":
        return max(run.idle(r) for r in ranks)
    if metric == "least idle":
        return min(run.idle(r) for r in ranks)
    if metric == "idle":
        return [run.idle(r) for r in ranks]
    if metric == "peak":
        return [peak(order, r) for r in ranks]
    return getattr(run, metric)


def grid():
    """(name, p, m, further parameters, order) of every size that exists."""
    for name, (rule, extra) in RULES.items():
        for p in range(1, 9 if os.environ.get("PIPEC_TEST_ALL") else 7):
            for m in sorted({1, 2, 3, p - 1, p, p + 1, 2 * p - 1, 2 * p, 3 * p, 4 * p} - {0}):
                for v in range(1, 5) if "v" in extra else [None]:
                    for group in {p, p + 2} if "group" in extra else [None]:
                        for waves in range(1, 4) if "waves" in extra else [None]:
                            for slices in {1, p, 3} if "slices" in extra else [None]:
                                more = {"v": v, "group": group, "waves": waves, "slices": slices}
                                more = {k: x for k, x in more.items() if x}
                                order = rule(p, m, **more)
                                if not isinstance(order, str):
                                    yield name, p, m, more, order


def main():
    proven, wrong = {}, 0
    for number, (name, p, m, more, order) in enumerate(grid()):
        check(order)
        for cost in (UNIT, COSTS[1 + number % (len(COSTS) - 1)]):
            size, run = Size(p, m, more, cost), Run(order, **cost._asdict())
            for metric, applies, value in FORMS.get(name, []):
                if not applies(size):
                    continue
                real = figure(metric, order, run)
                form = ([value(size, r) for r in range(p)]
                        if isinstance(real, list) else value(size))
                proven[name, metric] = proven.get((name, metric), 0) + 1
                if real != form:
                    wrong += 1
                    print(f"{name} p={p} m={m} {more} {cost}: {metric} {real}, not {form}")
    for name, p, m, more, pair, makespan, span in PRINTED:
        run = Run(RULES[name][0](p, m, **more), FB=pair)
        if run.makespan != makespan or span not in (None, run.span):
            wrong += 1
            print(f"{name} p={p} m={m}: {run.makespan}, {run.span}")
    for name, forms in FORMS.items():
        for metric, *_ in forms:
            if not proven.get((name, metric)):
                wrong += 1
                print(f"no size shows the {metric} of {name}")
    print(f"{sum(proven.values())} figures, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
