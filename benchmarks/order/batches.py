#!/usr/bin/env python3
"""Orders of random batches: makespans over the bound, for the table of
benchmarks/README.md.

    PYTHONPATH=python/src PIPEC=build/release/bin/pipec benchmarks/order/batches.py
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import random
import statistics
import time

import pipec

SIZES = [(2, 12), (4, 16), (4, 32), (8, 32), (8, 64), (16, 64)]
NAMES = {"one_f_one_b": {}, "zb1p": {}, "interleaved": {"chunks": 2}, "zbv": {}}


def weights(kind, microbatches, rng):
    """Weights with a mean near 1, of three digits."""
    if kind == "documents":  # packed to one length; attention is quadratic
        drawn = []
        for _ in range(microbatches):
            left, square = 1.0, 0.0
            while left > 0:
                part = min(left, rng.lognormvariate(-2, 1.2))
                square, left = square + part * part, left - part
            drawn.append(0.4 + square)
    else:
        drawn = [rng.lognormvariate(0, kind) for _ in range(microbatches)]
    return [round(weight, 3) for weight in drawn]


def replayed(schedule, own, order):
    """The makespan of an order: that of the batch in this order as it is given."""
    return pipec.order(schedule, [own[i] for i in order]).given


def main():
    rng = random.Random(7)
    print("weights | as given | descending | found | found at effort 10 | proven")
    for kind in (0.1, 0.3, 0.8, "documents"):
        rows, proven, slowest = [], 0, 0.0
        for ranks, microbatches in SIZES:
            for name, params in NAMES.items():
                schedule = pipec.compile(name, ranks=ranks, microbatches=microbatches, **params,
                                         cost={"F": 10, "I": 11, "W": 9, "p2p": 1})
                own = weights(kind, microbatches, rng)
                pipec.order(schedule, own)
                start = time.perf_counter()
                found = pipec.order(schedule, own)
                slowest = max(slowest, time.perf_counter() - start)
                more = pipec.order(schedule, own, effort=10)
                descending = replayed(schedule, own, sorted(range(microbatches), key=lambda i: -own[i]))
                rows.append([value / more.bound for value in (found.given, descending, found.makespan, more.makespan)])
                proven += more.optimal
        columns = [f"{statistics.median(column):.3f}, {max(column):.3f}" for column in zip(*rows)]
        print(f"{kind} | {' | '.join(columns)} | {proven} of {len(rows)} | slowest call {slowest * 1000:.0f} ms")


if __name__ == "__main__":
    main()
