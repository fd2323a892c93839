# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPipe and 1F1B on 1 to 16 ranks with 1 to 64 micro-batches, fewer than ranks
included: verified as written and with transfers, and in the order that the
papers give."""

import subprocess

MICROBATCHES = [*range(1, 18), 23, 31, 32, 33, 47, 63, 64]


def gpipe(p, m, r):
    return [f"{r}F{i}" for i in range(m)] + [f"{r}B{i}" for i in range(m)]


def one_f_one_b(p, m, r):
    warmup = min(m, p - 1 - r)
    order = [f"{r}F{i}" for i in range(warmup)]
    for i in range(m - warmup):
        order += [f"{r}F{warmup + i}", f"{r}B{i}"]
    return order + [f"{r}B{i}" for i in range(m - warmup, m)]


def run(*arguments):
    return subprocess.run(["pipec", *arguments], check=True, capture_output=True, text=True).stdout


def transfers(p, m):
    return 4 * (p - 1) * m


for name, order in [("gpipe", gpipe), ("one_f_one_b", one_f_one_b)]:
    for p in range(1, 17):
        for m in MICROBATCHES:
            sizes = [name, f"-Dranks={p}", f"-Dmicrobatches={m}"]
            rows = [line.split(",") for line in run(*sizes, "--emit=csv").splitlines()]
            assert rows == [order(p, m, r) for r in range(p)], (name, p, m)
            # The target verifies: every transfer once, in place, in order, and
            # an end under the model that executors need.
            lowered = [line.split(",") for line in run(*sizes, "--target=cpp", "--emit=csv").splitlines()]
            computes = [[c for c in row if "SEND" not in c and "RECV" not in c] for row in lowered]
            assert computes == rows, (name, p, m)
            assert sum(map(len, lowered)) - sum(map(len, rows)) == transfers(p, m), (name, p, m)
