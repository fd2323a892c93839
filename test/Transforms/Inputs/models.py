"""What insert-p2p, align-bubbles and defer-weight do, written a second time.

These functions look at every rank in every round or slot, as the definitions
read; they share nothing with the compiler.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from fractions import Fraction

from schedules import COMPUTE, left, members, taken


def transfers(schedule, step):
    """[(receiving rank, send, receive)] for what a step leaves; one at most."""
    kind, stage, microbatch = step
    if kind == "F" and stage + 1 < schedule.stages:
        to, names = stage + 1, ("SEND_F", "RECV_F")
    elif kind in ("B", "I") and stage > 0:
        to, names = stage - 1, ("SEND_B", "RECV_B")
    else:
        return []
    rank = schedule.rank_of(to, microbatch)
    if rank == schedule.rank_of(stage, microbatch):
        return []
    return [(rank, (names[0], stage, microbatch), (names[1], to, microbatch))]


def insert_simulate(schedule):
    """The lists with P2P, None when a round makes no progress."""
    out = [[] for _ in range(schedule.ranks)]
    seen = [set() for _ in range(schedule.ranks)]
    rest = [list(steps) for steps in schedule.lists]

    def is_ready(rank, step):
        kind, stage, microbatch = step
        if kind == "F" and stage > 0:
            return bool({("RECV_F", stage, microbatch), ("F", stage - 1, microbatch)} & seen[rank])
        if kind in ("B", "I") and stage + 1 < schedule.stages:
            return bool({("RECV_B", stage, microbatch), ("B", stage + 1, microbatch),
                         ("I", stage + 1, microbatch)} & seen[rank])
        return True

    while any(rest):
        progress = False
        for rank in range(schedule.ranks):
            if not rest[rank]:
                continue
            head = rest[rank][0]
            if not all(is_ready(rank, step) for step in members(head)):
                continue
            rest[rank].pop(0)
            progress = True
            if head[0] == "bubble":
                continue
            out[rank].append(head)
            seen[rank].update(members(head))
            for step in members(head):
                for to, send, receive in transfers(schedule, step):
                    out[rank].append(send)
                    out[to].append(receive)
                    seen[to].add(receive)
        if not progress:
            return None
    return out


def align_dependency(schedule):
    """The lists with bubbles, None when a slot makes no progress."""
    out = [[] for _ in range(schedule.ranks)]
    rest = [list(steps) for steps in schedule.lists]
    seen = set()
    while any(rest):
        progress = False
        made = set()
        for rank in range(schedule.ranks):
            while rest[rank] and members(rest[rank][0])[0][0] not in COMPUTE + ("bubble",):
                out[rank].append(rest[rank].pop(0))
            if not rest[rank]:
                continue
            head = rest[rank][0]
            if all(taken(schedule, step) in seen | {None} for step in members(head)):
                out[rank].append(rest[rank].pop(0))
                made.update(filter(None, map(left, members(head))))
                progress = True
            else:
                out[rank].append(("bubble", 0, None))
        seen |= made
        if not progress and any(rest):
            return None
    return out


def align_lockstep(schedule):
    """HyperParallel's alignment, an overlap in as many slots as members."""
    pad = ("pad", 0, None)
    rest = []
    for rank, steps in enumerate(schedule.lists):
        steps = [step for step in steps if step[0] != "bubble"]
        compute = [i for i, step in enumerate(steps) if members(step)[0][0] in COMPUTE]
        kinds = [[step[0] for step in members(steps[i])] for i in compute]
        start = None
        for n, here in enumerate(kinds):
            if "F" in here and ("B" in here or "I" in here):
                start = compute[n]
            elif here == ["F"] and n + 1 < len(kinds) and kinds[n + 1] in (["B"], ["I"]):
                start = compute[n]
            if start is not None:
                break
        if start is not None:
            steps[start:start] = [pad] * (schedule.ranks - 1 - rank)
        rest.append(steps)
    out = [[] for _ in range(schedule.ranks)]
    busy = [[] for _ in range(schedule.ranks)]  # members of an overlap that still run
    forwards = [sum(step[0] == "F" for group in steps for step in members(group))
                for steps in rest]
    rests = [False] * schedule.ranks
    seen = set()
    bubble = ("bubble", 0, None)
    idle = 0
    while any(rest) or any(busy):
        made = set()
        progress = False
        for rank in range(schedule.ranks):
            if busy[rank]:
                made.add(left(busy[rank].pop(0)))
                progress = True
                continue
            while rest[rank] and rest[rank][0] != pad and \
                    members(rest[rank][0])[0][0] not in COMPUTE:
                out[rank].append(rest[rank].pop(0))
            if not rest[rank]:
                continue
            head = rest[rank][0]
            if head == pad:
                out[rank].append(bubble)
                rest[rank].pop(0)
                rests[rank] = False
                progress = True
                continue
            backward = any(step[0] in "BI" for step in members(head))
            drains = forwards[rank] == 0 and backward
            if drains and rests[rank]:
                out[rank].append(bubble)
                rests[rank] = False
                progress = True
                continue
            if not all(taken(schedule, step) in seen | {None} for step in members(head)):
                out[rank].append(bubble)
                rests[rank] = False
                continue
            out[rank].append(rest[rank].pop(0))
            progress = True
            forwards[rank] -= sum(step[0] == "F" for step in members(head))
            rests[rank] = drains
            made.add(left(members(head)[0]))
            busy[rank] = list(members(head)[1:])
        seen |= made
        idle = 0 if progress else idle + 1
        if idle > 1:
            return None
    return out


def insert_column(schedule):
    """Transfers slot by slot, None when a step is before its data."""
    slots = []
    for steps in schedule.lists:
        row, before = [], []
        for step in steps:
            if members(step)[0][0] not in COMPUTE + ("bubble",):
                before.append(step)
                continue
            row.append((before + [step], members(step)[0]))
            row += [([], member) for member in members(step)[1:]]
            before = []
        row.append((before, ("bubble", 0, None)))
        slots.append(row)
    out = [[] for _ in range(schedule.ranks)]
    seen = set()
    for slot in range(max(map(len, slots))):
        here = [row[slot] if slot < len(row) else ([], ("bubble", 0, None)) for row in slots]
        for rank, (new, _) in enumerate(here):
            out[rank] += new
            for group in new:
                for step in members(group):
                    if taken(schedule, step) not in seen | {None}:
                        return None
        for parity in (0, 1):
            for rank in range(parity, schedule.ranks, 2):
                step = here[rank][1]
                seen.add(left(step))
                for to, send, receive in transfers(schedule, step):
                    out[rank].append(send)
                    out[to].append(receive)
    return out


class Costs:
    """Times of the kinds, of one stage's W, of a pair, and of a transfer."""

    def __init__(self, rng):
        self.of = {kind: Fraction(rng.randint(0, 6), rng.choice((1, 1, 2, 3))) for kind in COMPUTE}
        self.stage = rng.randrange(4)
        self.stage_w = Fraction(rng.randint(0, 5), 2)
        self.pair = Fraction(rng.randint(0, 9), 2)
        self.p2p = Fraction(rng.choice((0, 0, 1, 2)), 2)

    def lines(self, schedule):
        def number(value):
            return f"{value.numerator}/{value.denominator}"
        lines = ["cost " + " ".join(f"{kind} = {number(self.of[kind])}" for kind in COMPUTE)
                 + f" p2p = {number(self.p2p)}", f"cost F & B = {number(self.pair)}"]
        if self.stage < schedule.stages:
            lines.append(f"cost stage {self.stage} W = {number(self.stage_w)}")
        return lines

    def duration(self, group):
        if [step[0] for step in group] == ["F", "B"]:
            return self.pair
        return sum(self.stage_w if kind == "W" and stage == self.stage else self.of[kind]
                   for kind, stage, _ in group)


TAKES = {"F": 1, "B": -1, "I": 0, "W": -1}


class PeakPassed(Exception):
    pass


def run_lists(schedule, costs, move, peak=None):
    """(makespan, lists, peaks) of a run in which every rank goes as early as it can.

    With `move` plain weight gradients after their I go where their rank would
    wait. Looks at all ranks again and again until no more can be known.
    """
    rest, now = [list(steps) for steps in schedule.lists], [0] * schedule.ranks
    live, peaks = [0] * schedule.ranks, [0] * schedule.ranks
    out, owed = [[] for _ in rest], [[] for _ in rest]
    seen = [set() for _ in rest]
    ends, starts = {}, []

    def fits(rank, limit):
        return next((w for w in owed[rank] if costs.duration([w]) <= limit), None)

    def do(rank, group):
        starts.append(now[rank])
        now[rank] += costs.duration(group)
        live[rank] += sum(max(TAKES[step[0]], 0) for step in group)
        peaks[rank] = max(peaks[rank], live[rank])
        live[rank] += sum(min(TAKES[step[0]], 0) for step in group)

    def move_w(rank, w):
        owed[rank].remove(w)
        do(rank, [w])
        out[rank].append(w)

    progress = True
    while progress:
        progress = False
        for rank in range(schedule.ranks):
            if not rest[rank]:
                continue
            head = rest[rank][0]
            group = members(head)
            if group[0][0] == "bubble":
                out[rank].append(rest[rank].pop(0))
                progress = True
                continue
            inputs = [taken(schedule, step) for step in group]
            if any(one and one not in ends for one in inputs):
                continue
            rest[rank].pop(0)
            progress = True
            if move and head[0] == "W" and ("I",) + head[1:] in seen[rank]:
                continue
            arrival = 0
            for one in filter(None, inputs):
                hop = costs.p2p if schedule.rank_of(*one[1:]) != rank else 0
                arrival = max(arrival, ends[one] + hop)
            while (w := fits(rank, arrival - now[rank])) is not None:
                move_w(rank, w)
            need = sum(max(TAKES[step[0]], 0) for step in group)
            while peak is not None and live[rank] + need > peak and owed[rank]:
                move_w(rank, owed[rank][0])
            if move and peak is not None and live[rank] + need > peak:
                raise PeakPassed
            now[rank] = max(now[rank], arrival)
            do(rank, group)
            out[rank].append(head)
            seen[rank].update(group)
            for step in group:
                if left(step):
                    ends[left(step)] = now[rank]
                # What is owed is what is alone after the I.
                if step[0] == "I" and ("W",) + step[1:] in rest[rank]:
                    owed[rank].append(("W",) + step[1:])
    for rank in range(schedule.ranks):
        while move and owed[rank]:
            move_w(rank, owed[rank][0])
    return max(now) - min(starts), out, peaks


def defer_weight(schedule, costs, peak):
    """The lists of defer-weight; raises PeakPassed."""
    before, _, _ = run_lists(schedule, costs, move=False)
    after, lists, peaks = run_lists(schedule, costs, move=True, peak=peak)
    if after > before:
        return schedule.lists
    assert peak is None or max(peaks) <= peak
    return lists
