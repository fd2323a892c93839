"""What insert-p2p and align-bubbles do, written a second time.

These functions look at every rank in every round or slot, as the definitions
read; they share nothing with the compiler.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    """Transfers slot by slot, None when a step stands before its data."""
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
