"""Runs step IR by hand: free arrival, and one in-order stream per rank.

A reading of docs/Rationale/Waiting.md that shares nothing with the compiler.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import collections
import fractions
import re

STEP = re.compile(r"(F|B|I|W|SEND_F|RECV_F|SEND_B|RECV_B) s(\d+) m([\d.]+)(?: (?:->|<-) r(\d+))?")

Step = collections.namedtuple("Step", "kind stage microbatch peer")


class Schedule:
    """The lists of a text of step IR: one list per rank, of lists of steps."""

    def __init__(self, text):
        self.ranks = []
        self.expected = None
        for line in text.splitlines():
            line = line.strip()
            if line.startswith("rank "):
                self.ranks.append([])
            elif line.startswith("expect makespan == "):
                self.expected = fractions.Fraction(line.split()[-1])
            elif self.ranks:
                steps = [Step(k, int(s), m, None if p is None else int(p))
                         for k, s, m, p in map(
                             lambda x: (x[0], x[1], x[2], x[3] or None),
                             STEP.findall(line))]
                if steps:
                    self.ranks[-1].append(steps)
        self.stages = 1 + max(s.stage for r in self.ranks for g in r for s in g)


def duration(group, costs):
    """How long a rank is busy with a step or an overlap."""
    return sum(costs[s.kind] for s in group if s.kind in costs)


def source(step, stages):
    """The kind and stage that a compute step takes its input from."""
    if step.kind == "F" and step.stage > 0:
        return "F", step.stage - 1
    if step.kind in "BI" and step.stage + 1 < stages:
        return "B", step.stage + 1
    return None


def free(schedule, costs, hop):
    """The makespan when results arrive as soon as they are made."""
    made, at = {}, [0] * len(schedule.ranks)
    time = [fractions.Fraction(0)] * len(schedule.ranks)
    progress = True
    while progress:
        progress = False
        for rank, groups in enumerate(schedule.ranks):
            while at[rank] < len(groups):
                group = [s for s in groups[at[rank]] if s.kind in costs]
                start = time[rank]
                for step in group:
                    wanted = source(step, schedule.stages)
                    if wanted is None:
                        continue
                    key = wanted + (step.microbatch,)
                    if key not in made:
                        break
                    end, producer = made[key]
                    start = max(start, end + (hop if producer != rank else 0))
                else:
                    time[rank] = start + duration(group, costs)
                    for step in group:
                        if step.kind != "W":
                            key = ("F" if step.kind == "F" else "B", step.stage,
                                   step.microbatch)
                            made[key] = time[rank], rank
                    at[rank] += 1
                    progress = True
                    continue
                break
    assert all(a == len(g) for a, g in zip(at, schedule.ranks)), "cannot run"
    return max(time)


def stream(schedule, costs, hop):
    """The makespan with one in-order stream per rank; None for a deadlock."""
    ranks = range(len(schedule.ranks))
    at = [0] * len(ranks)
    time = [fractions.Fraction(0)] * len(ranks)
    queue = [collections.deque() for _ in ranks]
    last = [fractions.Fraction(0)] * len(ranks)
    received = [{} for _ in ranks]
    receives = [{(s.kind, s.stage, s.microbatch) for g in groups for s in g
                 if s.kind.startswith("RECV")} for groups in schedule.ranks]
    progress = True
    while progress:
        progress = False
        for rank in ranks:
            groups = schedule.ranks[rank]
            while at[rank] < len(groups):
                group = groups[at[rank]]
                if group[0].peer is not None:
                    assert len(group) == 1, "no batches here"
                    queue[rank].append((time[rank], group[0]))
                else:
                    wanted = [("RECV_F" if s.kind == "F" else "RECV_B", s.stage,
                               s.microbatch) for s in group if s.kind != "W"]
                    wanted = [w for w in wanted if w in receives[rank]]
                    if any(w not in received[rank] for w in wanted):
                        break
                    time[rank] = max([time[rank]] +
                                     [received[rank][w] for w in wanted])
                    time[rank] += duration(group, costs)
                at[rank] += 1
                progress = True
            while queue[rank]:
                posted, step = queue[rank][0]
                peer = step.peer
                if not queue[peer]:
                    break
                other_posted, other = queue[peer][0]
                # On one edge both heads are the first that is left of it.
                if other.peer != rank or \
                        other.kind.startswith("SEND") == step.kind.startswith("SEND"):
                    break
                send, recv = (step, other) if step.kind.startswith("SEND") \
                    else (other, step)
                assert (send.kind[-1], send.microbatch) == \
                    (recv.kind[-1], recv.microbatch), "crossed"
                assert abs(send.stage - recv.stage) == 1, "crossed"
                end = max(posted, last[rank], other_posted, last[peer]) + hop
                for r, s in ((rank, step), (peer, other)):
                    queue[r].popleft()
                    last[r] = end
                    if s.kind.startswith("RECV"):
                        received[r][s.kind, s.stage, s.microbatch] = end
                progress = True
    if any(queue) or any(a != len(g) for a, g in zip(at, schedule.ranks)):
        return None
    return max(time)
