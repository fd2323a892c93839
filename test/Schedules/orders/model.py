# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a schedule is, and what can be said about any of them.

A step is (kind, stage, microbatch, joined): kind one of F B I W, joined true
when the next step of the list runs together with this one. An order is one
list of steps per rank. A placement is a list of directions, each a list that
gives the rank of every stage; micro-batches of the second half belong to
direction 1 where there are two.
"""
from collections import namedtuple
from fractions import Fraction

Step = namedtuple("Step", "kind stage mb joined")
Order = namedtuple("Order", "placement microbatches ranks")


def loop(p, v=1):
    return [[s % p for s in range(p * v)]]


def zigzag(p, v=2):
    return [[s % p if s // p % 2 == 0 else p - 1 - s % p for s in range(p * v)]]


def bidirectional(p):
    return [list(range(p)), list(range(p))[::-1]]


def groups(steps):
    """The list as tuples of steps that run together."""
    together = []
    for step in steps:
        together.append(step)
        if not step.joined:
            yield tuple(together)
            together = []
    assert not together, "the last step is joined to nothing"


def cells(order):
    """Every rank's groups as the cells of PyTorch's CSV."""
    for steps in order.ranks:
        row = []
        for group in groups(steps):
            names = [f"{s.stage}{s.kind}{s.mb}" for s in group]
            kinds = "_".join(s.kind for s in group)
            row.append(names[0] if len(names) == 1 else
                       "(" + ";".join(names) + ")OVERLAP_" + kinds)
        yield row


class Broken(Exception):
    """What is wrong with an order."""


def check(order):
    """Every stage and micro-batch has one F and one B (or I and W), each on
    the rank that holds the stage, the backward after the forward."""
    place, m = order.placement, order.microbatches
    seen = {}
    for rank, steps in enumerate(order.ranks):
        for at, step in enumerate(steps):
            direction = len(place) == 2 and step.mb >= m // 2
            if not (0 <= step.mb < m and 0 <= step.stage < len(place[0])):
                raise Broken(f"no such step: {step}")
            if place[direction][step.stage] != rank:
                raise Broken(f"{step} on rank {rank}")
            if (step.kind, step.stage, step.mb) in seen:
                raise Broken(f"{step} twice")
            seen[step.kind, step.stage, step.mb] = at
    for stage in range(len(place[0])):
        for mb in range(m):
            at = [seen.get((kind, stage, mb)) for kind in "FBIW"]
            backward = at[1] if at[1] is not None else at[2]
            if at[0] is None or backward is None or not at[0] < backward:
                raise Broken(f"stage {stage} of {mb}: {at}")
            if (at[1] is None) == (at[3] is None) or (at[2] is None) != (at[3] is None):
                raise Broken(f"stage {stage} of {mb}: {at}")
            if at[3] is not None and not at[2] < at[3]:
                raise Broken(f"W of stage {stage} before its I, {mb}")


class Run:
    """An order with every group started as early as its data and its rank
    allow. `cost` gives F, I, W, B and optionally FB (a pair) and hop."""

    def __init__(self, order, **cost):
        cost = {"F": 1, "I": 1, "W": 1, "hop": 0, **cost}
        cost.setdefault("B", cost["I"] + cost["W"])
        place, m = order.placement, order.microbatches
        last = len(place[0]) - 1
        todo = [list(groups(steps)) for steps in order.ranks]
        self.start = [[] for _ in todo]
        self.end = [[] for _ in todo]
        self.work = [0] * len(todo)
        done = {}

        def ready(rank, group):
            """When the data of the group is there, None if never yet."""
            time = 0
            for k, step in enumerate(group):
                line = place[len(place) == 2 and step.mb >= m // 2]
                if step.kind == "W":
                    needs = [("I", step.stage, rank)]
                elif step.kind == "F":
                    needs = [("F", step.stage - 1, None)] if step.stage else []
                else:
                    needs = [("F", step.stage, rank)]
                    if step.stage < last:
                        needs.append(("BI", step.stage + 1, None))
                for kinds, stage, local in needs:
                    if stage == last and any(
                            (e.kind, e.stage, e.mb) == ("F", last, step.mb)
                            for e in group[:k]):
                        continue  # its own forward in the same pair
                    ends = [done[kind, stage, step.mb] for kind in kinds
                            if (kind, stage, step.mb) in done]
                    if not ends:
                        return None
                    far = local is None and line[stage] != rank
                    time = max(time, ends[0] + (cost["hop"] if far else 0))
            return time

        left = True
        while left:
            left = moved = False
            for rank, queue in enumerate(todo):
                at = len(self.end[rank])
                while at < len(queue):
                    when = ready(rank, queue[at])
                    if when is None:
                        left = True
                        break
                    kinds = "".join(s.kind for s in queue[at])
                    takes = cost.get(kinds)
                    if takes is None:
                        takes = cost.get("FB") if sorted(kinds) == ["B", "F"] else None
                    if takes is None:
                        takes = sum(cost[k] for k in kinds)
                    begin = max(when, self.end[rank][-1] if at else 0)
                    for s in queue[at]:
                        done[s.kind, s.stage, s.mb] = begin + takes
                    self.start[rank].append(begin)
                    self.end[rank].append(begin + takes)
                    self.work[rank] += takes
                    at += 1
                    moved = True
            if left and not moved:
                heads = [str(q[len(e)]) for q, e in zip(todo, self.end) if len(e) < len(q)]
                raise Broken("cannot run: " + ", ".join(heads))

    @property
    def makespan(self):
        return max(e[-1] for e in self.end) - min(s[0] for s in self.start)

    @property
    def span(self):
        return max(e[-1] - s[0] for s, e in zip(self.start, self.end))

    def idle(self, rank):
        return self.makespan - self.work[rank]

    def bubble(self, clock):
        return 1 - Fraction(sum(self.work)) / (len(self.work) * clock)


def peak(order, rank):
    """Most chunk activations alive at once: a group takes all of its own
    before it gives any back; B and W give back."""
    live = most = 0
    for group in groups(order.ranks[rank]):
        live += sum(s.kind == "F" for s in group)
        most = max(most, live)
        live -= sum(s.kind in "BW" for s in group)
    return most
