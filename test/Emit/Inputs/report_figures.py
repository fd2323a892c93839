"""Compares the figures of JSON reports with the closed forms of the papers.

    report_figures.py

All comparisons are of exact fractions; the four rates of Qi et al. 2023 (table
of measured bubble rates) are printed there to four digits.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys
from fractions import Fraction

FAULTS = []


def report(*args):
    text = subprocess.run(["pipec", *args, "--emit=report", "--format=json"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text, parse_float=Fraction)


def exact(figures, key):
    return Fraction(figures.get(key + "_exact", figures[key]))


def expect(what, found, wanted):
    if found != wanted:
        FAULTS.append(f"{what}: {found}, not {wanted}")


def at(name, p, m, *more):
    return report(name, f"-Dranks={p}", f"-Dmicrobatches={m}", *more)


def unit_costs():
    """Makespan and span for F = I = W = 1, p = 4 and m = 8, 16."""
    table = {
        "gpipe": [(33, 33), (57, 57)],
        "one_f_one_b": [(33, 33), (57, 57)],
        "eager_one_f_one_b": [(33, 33), (57, 57)],
        "interleaved": [(57, 57), (105, 105)],
        "looped_bfs": [(57, 57), (105, 105)],
        "zb1p": [(27, 27), (51, 51)],
        "zbh2": [(27, 24), (51, 48)],
        "zbv": [(51, 48), (99, 96)],
        "v_half": [(55, None), (103, None)],
    }
    for name, rows in table.items():
        for m, (makespan, span) in zip((8, 16), rows):
            chunks = ["-Dchunks=2"] if name in ("interleaved", "looped_bfs") else []
            figures = at(name, 4, m, *chunks)
            expect(f"{name} makespan", exact(figures, "makespan"), makespan)
            if span is not None:
                expect(f"{name} span", exact(figures, "span"), span)
    expect("dualpipe FB=3", exact(at("dualpipe", 4, 8, "--cost=F&B=3,B&F=3"), "makespan"), 26)
    expect("dualpipe FB=2.5", exact(at("dualpipe", 4, 8, "--cost=F&B=2.5,B&F=2.5"), "makespan"), 24)
    figures = at("one_f_one_b_overlap", 4, 8, "--cost=F=1,B=2,F&B=2.5")
    expect("1F1B with overlap", exact(figures, "makespan"), Fraction("29.5"))


def ranks():
    """What single ranks do, at sizes of no table."""
    p, m, f, b, c = 6, 12, Fraction("1.5"), Fraction(4), Fraction("0.25")
    figures = at("one_f_one_b", p, m, f"--cost=F={float(f)},B={float(b)},p2p={float(c)}")
    makespan = (m + p - 1) * (f + b) + (2 * (p - 1) * Fraction(m, p) + 2 * (p - 2)) * c
    expect("1F1B with hop", exact(figures, "makespan"), makespan)
    for rank, self in enumerate(figures["ranks"]):
        expect("work", exact(self, "work"), m * (f + b))
        expect("idle", exact(self, "idle"), makespan - m * (f + b))
        expect("bubble", exact(self, "bubble_makespan"), 1 - m * (f + b) / makespan)
        expect("start", exact(self, "start"), rank * (f + c))
        expect("end", exact(self, "end"), makespan - rank * (b + c))
        expect("peak", exact(self, "peak"), min(m, p - rank))
        waited = sum(exact(self["waiting"], part) for part in ("dependency", "latency", "queue", "gather"))
        expect("waiting", waited, exact(self, "start") + exact(self, "gaps"))
        expect("exposed", exact(self["waiting"], "exposed"), waited - exact(self["waiting"], "dependency"))
    expect("transfers", figures["communication"]["transfers"], 2 * (p - 1) * m)
    expect("edges", len(figures["communication"]["edges"]), 2 * (p - 1))
    work = p * m * (f + b)
    expect("bubble", exact(figures, "bubble_makespan"), 1 - work / (p * makespan))
    expect("bubble of the span", exact(figures, "bubble_span"), 1 - work / (p * exact(figures, "span")))

    p, m = 5, 11
    figures = at("zbh2", p, m)
    for rank, self in enumerate(figures["ranks"]):
        expect("peak of ZB-H2", exact(self, "peak"), 2 * p - 1)
        expect("idle of ZB-H2, span", exact(self, "idle_span"), (p - 1) * (1 + 1 - 2))
    expect("makespan of ZB-H2", exact(figures, "makespan"), exact(figures, "span") + p - 1)


def measured():
    """Bubble rates of the span; costs in milliseconds, with hops."""
    for p, m, f, i, w, hop, rates in [(8, 24, "18.522", "18.086", "9.337", ".601", (".2431", ".1585", ".1083")),
                                      (16, 48, "11.347", "11.248", "8.132", ".377", (".2552", ".1397", ".0672"))]:
        for name, rate in zip(("one_f_one_b", "zb1p", "zbh2"), rates):
            figures = at(name, p, m, f"--cost=F={f},I={i},W={w},p2p=0{hop}")
            expect(f"{name} {p} {m}", f"{float(exact(figures, 'bubble_span')):.4f}", "0" + rate)


def orders():
    """The cost of the order of the transfers: interleaved, p = 4, v = 2, m = 8, hop 0.2."""
    queued = []
    for passes, makespan in (([], "59.8"), (["--passes=insert-p2p", "--model=stream"], "75"),
                             (["--passes=insert-p2p", "--model=edge"], "59.8")):
        figures = at("interleaved", 4, 8, "-Dchunks=2", "--cost=p2p=0.2", *passes)
        expect(f"interleaved {passes}", exact(figures, "makespan"), Fraction(makespan))
        expect("model", figures["model"], passes[1][8:] if passes else None)
        if passes:
            expect("free arrival", exact(figures, "free_makespan"), Fraction("59.8"))
            queued.append(exact(figures["waiting"], "queue"))
    if queued[0] <= queued[1]:
        FAULTS.append(f"one stream waits in queues for {queued[0]}, edges for {queued[1]}")


unit_costs()
ranks()
measured()
orders()
for fault in FAULTS:
    print(fault, file=sys.stderr)
if FAULTS:
    sys.exit(1)
print("all figures as printed")
