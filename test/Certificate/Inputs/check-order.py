#!/usr/bin/env python3
"""Checks a certificate of `pipec order`, by its definition alone.

    check-order.py STEPS CERTIFICATE

STEPS is step IR of a chain of stages in which the costs of F, B, I and W are
given. Replays the order, adds the paths up, and finds the least sum of each
case with plain fractions and an assignment of its own. It shares no code with
pipec. Prints `proven: makespan M, no order has less than B`, or the first
mistake with status 1.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys
from fractions import Fraction
from math import ceil, lcm


class Wrong(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Wrong(why)


class Steps:
    """The compute steps of each rank, as (kind, stage, micro-batch, overlap)."""

    def __init__(self, text):
        self.p, self.stages, self.m = (int(n) for n in re.search(r"ranks (\d+) stages (\d+) microbatches (\d+)", text).groups())
        self.cost, self.ranks, lines = {}, [], 0
        for line in text.splitlines():
            words = line.split("//")[0].split()
            if words[:1] == ["cost"]:
                place, words = [], words[1:]
                while words and words[0] in ("stage", "microbatch"):
                    place += words[:2]
                    words = words[2:]
                for name, equals, value in zip(words[::3], words[1::3], words[2::3]):
                    need(equals == "=", "a cost of another form")
                    self.cost[" ".join(place), name] = Fraction(value)
            elif words[:1] == ["rank"] and words[-1] == "{":
                self.ranks.append([])
            elif words and words[0] in ("overlap", *"FBIWR"):
                lines += 1
                for part in " ".join(words).removeprefix("overlap").split("&"):
                    kind, stage, microbatch = part.split()[:3]
                    self.ranks[-1].append((kind, int(stage[1:]), int(microbatch[1:]), lines))
        self.holder = {(kind, s, m): rank for rank, steps in enumerate(self.ranks) for kind, s, m, _ in steps}

    def time(self, kind, stage):
        own = self.cost.get((f"stage {stage}", kind), self.cost.get(("", kind)))
        need(own is not None, f"no cost of {kind}")
        return own

    def weight(self, rows, stage, data):
        own = rows[stage if len(rows) > 1 else 0][data]
        for place in (f"microbatch {data}", f"stage {stage} microbatch {data}"):
            own *= self.cost.get((place, "factor"), 1)
        return own

    def hop(self):
        return self.cost.get(("", "p2p"), Fraction(0))

    def feeds(self, a, b):
        """Whether the result of step a is an input of step b on another rank."""
        if a[2] != b[2]:
            return False
        if a[0] == "F" == b[0]:
            return a[1] + 1 == b[1]
        return a[0] in "BI" and b[0] in "BI" and b[1] + 1 == a[1]

    def makespan(self, rows, order):
        """By repeating what every step waits for, until nothing changes."""
        ends, at, free = {}, [0] * self.p, [Fraction(0)] * self.p
        moved = True
        while moved:
            moved = False
            for rank, steps in enumerate(self.ranks):
                while at[rank] < len(steps):
                    group = [step for step in steps if step[3] == steps[at[rank]][3]]
                    start, ready = free[rank], True
                    for kind, stage, m, _ in group:
                        before = [("F", stage - 1)] if kind == "F" else [(k, stage + 1) for k in "BI"] if kind in "BI" else []
                        for k, s in before:
                            if (k, s, m) in self.holder and self.holder[k, s, m] != rank:
                                ready &= (k, s, m) in ends
                                start = max(start, ends.get((k, s, m), 0) + self.hop())
                    if not ready:
                        break
                    free[rank] = start + sum(self.time(k, s) * self.weight(rows, s, order[m]) for k, s, m, _ in group)
                    ends.update({(k, s, m): free[rank] for k, s, m, _ in group})
                    at[rank] += len(group)
                    moved = True
        need(at == [len(steps) for steps in self.ranks], "the lists do not complete")
        return max(free)


def least(matrix):
    """The least sum of an assignment, by prices that are checked."""
    n = len(matrix)
    u, v, row_of = [0] * n, [0] * n, [None] * n
    for start in range(n):
        best, before, done, row, column, length = [None] * n, [None] * n, set(), start, None, 0
        while row is not None:
            for j in range(n):
                if j not in done and (best[j] is None or length + matrix[row][j] - u[row] - v[j] < best[j]):
                    best[j], before[j] = length + matrix[row][j] - u[row] - v[j], column
            column = min((j for j in range(n) if j not in done), key=lambda j: best[j])
            done.add(column)
            length, row = best[column], row_of[column]
        u[start] += length
        for j in done:
            if row_of[j] is not None:
                u[row_of[j]] += length - best[j]
                v[j] -= length - best[j]
        while column is not None:
            row_of[column] = start if before[column] is None else row_of[before[column]]
            column = before[column]
    need(all(u[i] + v[j] <= matrix[i][j] for i in range(n) for j in range(n)), "prices above a cost")
    return sum(u) + sum(v)


class Checker:
    def __init__(self, steps, text):
        self.steps = steps
        self.lines = [line.split("//")[0].split() for line in text.splitlines()]
        self.lines = [line for line in self.lines if line][::-1]
        need(self.take() == ["pipec-order-certificate", "1"], "not a certificate of an order")
        size = self.take()
        need([int(n) for n in size[1::2]] == [steps.p, steps.stages, steps.m], "other sizes")
        self.rows = [[Fraction(w) for w in self.take("row")] for _ in range(int(self.take("weights")[0]))]
        order = [int(n) for n in self.take("order")]
        need(sorted(order) == list(range(steps.m)), "no order")
        self.makespan = Fraction(self.take("makespan")[0])
        need(self.makespan == steps.makespan(self.rows, order), f"the makespan is {steps.makespan(self.rows, order)}")
        self.bound = Fraction(self.take("bound")[0])
        self.chains = [self.chain(self.take("path")) for _ in range(int(self.take("paths")[0]))]
        # Weights by stage and micro-batch; makespans are multiples of the tick.
        self.weights = [[steps.weight(self.rows, s, i) for i in range(steps.m)] for s in range(steps.stages)]
        numbers = [time * weight for (place, kind), time in steps.cost.items() if kind != "factor" for row in self.weights for weight in row]
        self.tick = Fraction(1, lcm(*(n.denominator for n in [*numbers, *steps.cost.values()])))
        self.case({}, None, first=True)
        need(not self.lines, "text after the proof")

    def take(self, word=None):
        need(self.lines, "the certificate ends early")
        line = self.lines.pop()
        need(word is None or line[0] == word, f"{line[0]} in place of {word}")
        return line[1:] if word else line

    def chain(self, words):
        shares, fixed, before = {}, Fraction(0), None
        for word in words:
            rank, first, last = (int(n) for n in re.fullmatch(r"(\d+):(\d+)-(\d+)", word).groups())
            steps = self.steps.ranks[rank]
            need(first <= last < len(steps), "steps that a rank does not have")
            if before:
                group = [s for s in steps if s[3] == steps[first][3]]
                other, end = before
                sources = [s for s in self.steps.ranks[other] if s[3] == end[3]]
                need(other != rank and any(self.steps.feeds(a, b) for a in sources for b in group), f"no data at {word}")
                fixed += self.steps.hop()
            for kind, stage, microbatch, _ in steps[first:last + 1]:
                key = stage, microbatch
                shares[key] = shares.get(key, 0) + self.steps.time(kind, stage)
            before = rank, steps[last]
        return shares, fixed

    def value(self, placed, mean):
        shares, fixed, total = mean
        free = [k for k in range(self.steps.m) if k not in placed.values()]
        data = [i for i in range(self.steps.m) if i not in placed]

        def cost(i, k):
            return sum(shares.get((s, k), 0) * self.weights[s][i] for s in range(self.steps.stages))

        sum_ = fixed + sum(cost(i, k) for i, k in placed.items())
        if free:
            sum_ += least([[cost(i, k) for i in data] for k in free])
        return ceil(sum_ / total / self.tick) * self.tick

    def case(self, placed, around, first=False):
        words = self.lines[-1] if self.lines else []
        self.take()
        words = words if first else words[2:]
        mean = around
        if words[:1] != ["same"]:
            need(words[:1] == ["mean"], "neither a mean nor that of the case around")
            shares, fixed, total = {}, Fraction(0), 0
            for word in words[1:]:
                path, count = (int(n) for n in word.split("*"))
                own, latency = self.chains[path]
                for key, time in own.items():
                    shares[key] = shares.get(key, 0) + time * count
                fixed, total = fixed + latency * count, total + count
            mean = shares, fixed, total
        if not self.lines or self.lines[-1][0] != "split":
            return need(self.value(placed, mean) >= self.bound, f"a case shows only {self.value(placed, mean)}")
        data = int(self.take("split")[0])
        need(data not in placed, "a micro-batch twice")
        last = list(placed.items())[-1:] or [None]
        alike = last[0] and all(row[last[0][0]] == row[data] for row in self.weights)
        for position in range(self.steps.m):
            # Of equal micro-batches, the first one is at the first position.
            if position in placed.values() or (alike and position < last[0][1]):
                continue
            need(self.lines and self.lines[-1][:2] == ["at", str(position)], f"no case with {data} at {position}")
            self.case({**placed, data: position}, mean)


def main():
    try:
        with open(sys.argv[1]) as steps, open(sys.argv[2]) as text:
            checker = Checker(Steps(steps.read()), text.read())
    except Wrong as wrong:
        print(f"wrong: {wrong}")
        return 1
    print(f"proven: makespan {checker.makespan}, no order has less than {checker.bound}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
