# Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Simulation.md as equations over small schedules in step IR text: every
time is the latest of those that it depends on, asked for one by one, in exact
fractions."""

import collections
import fractions
import re
import sys

Fraction = fractions.Fraction
sys.setrecursionlimit(100000)

COMPUTE = ("F", "B", "I", "W")
MODELS = ("stream", "pair", "edge", "buffered")
Step = collections.namedtuple("Step", "kind stage microbatch")
# What is on one line: an overlap or a batch has several steps.
Line = collections.namedtuple("Line", "steps time")


class Deadlock(Exception):
    """A time that depends on itself."""


def missing_cost(kind, given):
    """The cost of a kind of step that is not given."""
    given = {kind: cost for kind, cost in given.items() if cost is not None}
    if not given:
        return Fraction(2 if kind == "B" else 1)
    if not given.keys() & set("BIW"):
        return given["F"] * (2 if kind == "B" else 1)
    halves = [given[half] for half in "IW" if half in given]
    backward = given["B"] if "B" in given else sum(halves) * (1 if len(halves) == 2 else 2)
    if kind == "B":
        return backward
    if kind in "IW" and halves and "B" not in given:
        return halves[0]
    if kind in "IW" and halves and halves[0] < backward:
        return backward - halves[0]
    return backward / 2


class Schedule:
    """The header and the lists of a .steps text."""

    def __init__(self, text):
        self.maps, self.lists = [], []
        self.costs = collections.defaultdict(dict)  # by scope: ("stage", 1), ("edge", 0, 1), ()
        self.pairs, self.nodes = {}, None
        for line in text.splitlines():
            words = line.split("//")[0].split()
            if words[:1] == ["schedule"]:
                sizes = dict(zip(words[3::2], words[4::2]))
                self.ranks, self.stages, self.microbatches = (
                    int(sizes[name]) for name in ("ranks", "stages", "microbatches"))
            elif words[:1] == ["map"]:
                self.maps.append([int(word) for word in words[1:]])
            elif words[:1] == ["cost"]:
                self.read_costs(" ".join(words[1:]))
            elif words[:1] == ["rank"] and words[-1:] == ["{"]:
                self.lists.append([])
            elif self.lists and words and words[0] != "}" and not words[0].endswith(":"):
                self.lists[-1].append(self.read_line(" ".join(words)))

    def read_costs(self, text):
        pair = re.fullmatch(r"((?:\w & )+\w)( factor)? = (\S+)", text)
        if pair:
            self.pairs[tuple(pair[1].split(" & "))] = (bool(pair[2]), Fraction(pair[3]))
            return
        scope = re.match(r"(stage|rank|microbatch|nodes|edge) (\d+)(?: -> (\d+))? ", text)
        key = ()
        if scope:
            text = text[scope.end():]
            key = (scope[1],) + tuple(int(n) for n in scope.groups()[1:] if n)
            if key[0] == "nodes":
                self.nodes, key = key[1], ("nodes",)
        for name, value in re.findall(r"(\w+) = (\S+)", text):
            self.costs[key][name] = Fraction(value)

    @staticmethod
    def read_line(text):
        text, _, time = text.partition("@")
        steps = []
        for part in re.split(r"[&,]", re.sub(r"^(overlap|batch) ", "", text)):
            found = re.match(r"\s*(\w+)(?: s(\d+))?(?: m(\d+))?", part)
            steps.append(Step(found[1], *(int(n) if n else None for n in found.groups()[1:])))
        return Line(steps, Fraction(time.strip()) if time else None)

    def rank_of(self, stage, microbatch):
        second = len(self.maps) == 2 and microbatch >= self.microbatches // 2
        return self.maps[second][stage]

    def first(self, name, *scopes):
        """The figure of the first scope that has it."""
        return next((self.costs[scope][name] for scope in scopes if name in self.costs[scope]), None)

    def cost(self, rank, step):
        scopes = (("rank", rank), ("stage", step.stage), ())
        own = self.first(step.kind.lower() if step.kind not in COMPUTE else step.kind, *scopes)
        if own is None:
            if step.kind not in COMPUTE:
                own = Fraction(0)
            else:
                own = missing_cost(step.kind, {kind: self.first(kind, *scopes) for kind in COMPUTE})
        return own

    def factor(self, *scope):
        return self.costs[scope].get("factor", Fraction(1))

    def duration(self, rank, steps):
        times = [self.cost(rank, step) * self.factor("rank", rank) *
                 self.factor("microbatch", step.microbatch) for step in steps]
        if len(steps) == 1:
            return times[0]
        is_factor, value = self.pairs.get(tuple(step.kind for step in steps),
                                          (True, self.costs[()].get("overlap", Fraction(1))))
        if is_factor:
            return max([value * sum(times)] + times)
        return value * self.factor("rank", rank) * max(
            self.factor("microbatch", step.microbatch) for step in steps)

    def edge(self, name, source, target):
        if source == target:
            return Fraction(0)
        scopes = [("edge", source, target)]
        if self.nodes and source // self.nodes != target // self.nodes:
            scopes.append(("nodes",))
        own = self.first(name, *scopes, ())
        return Fraction(0) if own is None else own

    def takes(self, source, target):
        return self.edge("occupancy", source, target) + self.edge("p2p", source, target)

    def supplier(self, step):
        """(kind of result, stage) that a compute step takes from another stage."""
        if step.kind == "F" and step.stage > 0:
            return "F", step.stage - 1
        if step.kind in "BI" and step.stage + 1 < self.stages:
            return "B", step.stage + 1
        return None

    def user(self, step):
        """The stage that takes the result of a compute step."""
        stage = step.stage + {"F": 1, "B": -1, "I": -1}.get(step.kind, self.stages)
        return stage if 0 <= stage < self.stages else None

    def peer(self, step):
        after = step.kind in ("SEND_F", "RECV_B")
        return self.rank_of(step.stage + (1 if after else -1), step.microbatch)


def once(function):
    """Remembers results; a question that comes up again while it is being answered is a cycle."""

    def ask(self, *key):
        known = self.known.setdefault(function.__name__, {})
        if key not in known:
            known[key] = Deadlock
            known[key] = function(self, *key)
        if known[key] is Deadlock:
            raise Deadlock
        return known[key]

    return ask


class Run:
    """The times of a schedule: under a model, or with results that arrive freely."""

    def __init__(self, schedule, model):
        self.schedule, self.model, self.known = schedule, model, {}
        self.place, self.edges, self.position = {}, collections.defaultdict(list), {}
        self.made = collections.defaultdict(list)  # by directed edge: (place, member)
        for rank, lines in enumerate(schedule.lists):
            for index, line in enumerate(lines):
                for member, step in enumerate(line.steps):
                    at = (rank, index, member)
                    kind = "B" if step.kind == "I" else step.kind
                    self.place.setdefault((kind, step.stage, step.microbatch), at)
                    if "_" in kind and kind[-1] in "FB":
                        peer = schedule.peer(step)
                        send = kind.startswith("SEND")
                        edge = (rank, peer) if send else (peer, rank)
                        self.position[at] = (edge, send, len(self.edges[edge, send]))
                        self.edges[edge, send].append(at)
                    elif kind in COMPUTE and schedule.user(step) is not None:
                        to = schedule.rank_of(schedule.user(step), step.microbatch)
                        if to != rank:
                            self.position[at] = ((rank, to), len(self.made[rank, to]))
                            self.made[rank, to].append(at)

    def step(self, at):
        return self.schedule.lists[at[0]][at[1]].steps[at[2]]

    def kind(self, rank, index):
        return self.schedule.lists[rank][index].steps[0].kind

    @once
    def reach(self, rank, index):
        """When the rank comes to the line."""
        if index == 0:
            return Fraction(0)
        if self.kind(rank, index - 1) in COMPUTE:
            return self.end(rank, index - 1)
        return self.reach(rank, index - 1)

    @once
    def start(self, rank, index):
        steps = self.schedule.lists[rank][index].steps
        times = [self.reach(rank, index)]
        if steps[0].kind in COMPUTE:
            for step in steps:
                times += self.inputs(rank, index, step)
        elif steps[0].kind in ("UNSHARD", "RESHARD", "REDUCE_GRAD"):
            before = [i for i in range(index) if self.kind(rank, i) in
                      ("UNSHARD", "RESHARD", "REDUCE_GRAD")]
            if before:
                times.append(self.end(rank, before[-1]))
        elif self.model and steps[0].kind != "bubble":
            # Every queue that contains the batch, without the batch itself.
            queues = {self.queue(rank, step) for step in steps}
            for queue in queues:
                before = [(i, step) for i in range(index)
                          for step in self.schedule.lists[rank][i].steps
                          if "_" in step.kind and step.kind[-1] in "FB" and
                          self.queue(rank, step) == queue]
                if before:
                    times.append(self.complete(rank, before[-1][0]))
        return max(times)

    def queue(self, rank, step):
        peer = self.schedule.peer(step)
        return {"stream": (), "pair": (peer,)}.get(self.model, (peer, step.kind[:4]))

    @once
    def end(self, rank, index):
        steps = self.schedule.lists[rank][index].steps
        if steps[0].kind in COMPUTE:
            return self.start(rank, index) + self.schedule.duration(rank, steps)
        return self.start(rank, index) + self.schedule.cost(rank, steps[0])

    def inputs(self, rank, index, step):
        gathers = [i for i in range(index) if self.kind(rank, i) == "UNSHARD" and
                   self.schedule.lists[rank][i].steps[0].stage == step.stage]
        if gathers:
            yield self.end(rank, gathers[-1])
        supplier = self.schedule.supplier(step)
        if not supplier:
            return
        producer = self.place[supplier + (step.microbatch,)]
        if producer[:2] == (rank, index):
            return  # the last stage's own F in an overlap has no supplier at all
        if producer[0] == rank:
            yield self.end(*producer[:2])
        elif self.model:
            receive = "RECV_F" if step.kind == "F" else "RECV_B"
            yield self.complete(*self.place[receive, step.stage, step.microbatch][:2])
        else:
            yield self.leaves(producer) + self.schedule.takes(producer[0], rank)

    @once
    def leaves(self, producer):
        """Free arrival: when a result gets onto its edge."""
        edge, number = self.position[producer]
        times = [self.end(*producer[:2])]
        if number:
            times.append(self.leaves(self.made[edge][number - 1]) +
                         self.schedule.edge("occupancy", *edge))
        return max(times)

    # Under a model.

    @once
    def transfer(self, edge, number):
        """When transfer `number` of an edge gets onto it, and when it could without the edge."""
        send, receive = self.edges[edge, True][number], self.edges[edge, False][number]
        ready = self.start(*send[:2])
        if self.model != "buffered":
            ready = max(ready, self.start(*receive[:2]))
        if not number:
            return ready, ready
        free = self.transfer(edge, number - 1)[0] + self.schedule.edge("occupancy", *edge)
        return max(ready, free), ready

    @once
    def done(self, at):
        """When one send or receive is over for its own rank."""
        edge, send, number = self.position[at]
        leaves = self.transfer(edge, number)[0]
        arrives = leaves + self.schedule.takes(*edge)
        if self.model != "buffered":
            return arrives
        return leaves if send else max(self.start(*at[:2]), arrives)

    @once
    def complete(self, rank, index):
        count = len(self.schedule.lists[rank][index].steps)
        return max(self.done((rank, index, member)) for member in range(count))

    def shown(self, rank, index):
        """The start time that pipec prints for a line, None for none."""
        kind = self.kind(rank, index)
        if kind == "bubble":
            return None
        if "_" not in kind or kind == "REDUCE_GRAD":
            return self.start(rank, index)
        if not self.model:
            return None
        starts = []
        for member, _ in enumerate(self.schedule.lists[rank][index].steps):
            edge, send, number = self.position[rank, index, member]
            leaves, ready = self.transfer(edge, number)
            held = send and (self.model == "buffered" or leaves != ready)
            starts.append(leaves if held else self.start(rank, index))
        return min(starts)

    def times(self):
        for rank, lines in enumerate(self.schedule.lists):
            for index in range(len(lines)):
                kind = self.kind(rank, index)
                if "_" in kind and kind[-1] in "FB" and self.model:
                    self.complete(rank, index)
        return [[self.shown(rank, index) for index in range(len(lines))]
                for rank, lines in enumerate(self.schedule.lists)]


def figures(schedule, times):
    """makespan, span and the work of each rank, from start times."""
    spans, works = [], []
    for rank, lines in enumerate(schedule.lists):
        bounds, work = [], Fraction(0)
        for line, time in zip(lines, times[rank]):
            kind = line.steps[0].kind
            if kind in COMPUTE:
                length = schedule.duration(rank, line.steps)
                work += length
            elif kind in ("UNSHARD", "RESHARD", "REDUCE_GRAD"):
                length = schedule.cost(rank, line.steps[0])
                if not length:
                    continue
            else:
                continue
            bounds.append((time, time + length))
        spans.append((min(b for b, _ in bounds), max(e for _, e in bounds)))
        works.append(work)
    makespan = max(e for _, e in spans) - min(b for b, _ in spans)
    return makespan, max(e - b for b, e in spans), works
