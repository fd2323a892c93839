#!/usr/bin/env python3
"""Checks a certificate of `pipec search`, by its definition alone.

    check-certificate.py FILE

Reads the problem, runs the words, and repeats the proof with dictionaries of
count vectors. It shares no code with pipec. Prints `proven: makespan M, no
schedule has R or less`, and for several variants `of all: no schedule has less
than N`, or the first mistake with status 1.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import heapq
import re
import sys
from fractions import Fraction
from math import ceil, floor, gcd


class Wrong(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Wrong(why)


class Certificate:
    def __init__(self, lines, is_variant=False):
        rest = iter(lines)
        self.tick, self.unit = Fraction(next(rest)[1]), Fraction(next(rest)[1])
        size = next(rest)
        self.sizes = {name: size[size.index(name) + 1] for name in ("ranks", "microbatches", "slices") if name in size}
        self.p, self.stages, self.m = int(size[1]), int(size[3]), int(size[5])
        self.kinds = "FIW" if size[-1] == "split" else "FB"
        # Stages that delay nothing, because they take no time and no memory.
        idle = int(size[size.index("idle") + 1]) if "idle" in size else 0
        self.map = [int(rank) for rank in next(rest)[1:]]
        # An edge: the stages, and the hops of F and of the other kind.
        self.time, self.gives, self.edges, hops = {}, [], [], []
        for stage in range(self.stages):
            words = next(rest)
            for kind in self.kinds:
                self.time[kind, stage] = int(words[words.index(kind) + 1])
            at = words.index("gives")
            self.gives.append((int(words[at + 1]), int(words[at + 2])))
            hops.append([int(word) for word in words[at + 4:]])
        if hops[0]:
            self.edges = [(s - 1, s, hops[s][0], hops[s - 1][1]) for s in range(1, self.stages)]
        else:
            for _ in range(int(next(rest)[1])):
                name, u, v, word, *both = next(rest)
                need((name, word) == ("edge", "hops") and int(u) < int(v), "no edge")
                self.edges.append((int(u), int(v), int(both[0]), int(both[1])))
        for stage in range(idle):
            need(not any(self.time[kind, stage] for kind in self.kinds) and self.gives[stage] == (0, 0), "an idle stage with work")
            need(all(e[2:] == (0, 0) for e in self.edges if e[0] == stage), "an idle stage with hops")
        need({e[0] for e in self.edges} == set(range(self.stages - 1)), "a stage without a way to the last one")
        self.caps = [int(cap) for cap in next(rest)[1:]]
        self.words = []
        for rank in range(0 if is_variant else self.p):
            word = []
            for item in next(rest)[2:]:
                letter, _, times = item.partition("*")
                word += [(letter[0], int(letter[1:]))] * int(times or 1)
            self.words.append(word)
        self.makespan = None if is_variant else Fraction(next(rest)[1])
        self.refuted = next(rest, None)  # none where other forms cover the problem
        self.refuted = self.refuted and int(self.refuted[1])
        self.proof = list(rest)
        self.chunks = [[s for s in range(self.stages) if self.map[s] == r] for r in range(self.p)]

    def inputs(self, kind, s):
        """What a step waits for: kind, stage and hop."""
        if kind == "F":
            return [("F", u, hop) for u, v, hop, _ in self.edges if v == s]
        if kind == "W":
            return [("I", s, 0)]
        return [("F", s, 0)] + [(kind, v, hop) for u, v, _, hop in self.edges if u == s]

    def feeds(self, s):
        """The stages to which there is a way from stage s."""
        found = {s}
        for u, v, *_ in self.edges:
            if u in found:
                found.add(v)
        return found - {s}

    def order(self, r, back):
        """By letter of rank r: the letters that come before it for the same micro-batch."""
        chunks = self.chunks[r]
        before = {}
        for s in chunks:
            before["F", s] = [("F", u) for u in chunks if s in self.feeds(u)]
            before[back, s] = [(back, v) for v in chunks if v in self.feeds(s)] + [("F", u) for u in chunks]
            if "W" in self.kinds:
                before["W", s] = [("I", s)]
        return before

    def run(self):
        """Runs the words within the caps; the makespan."""
        at, free, held = [0] * self.p, [0] * self.p, [0] * self.p
        count, end = {}, {}
        progress = True
        while progress:
            progress = False
            for r in range(self.p):
                while at[r] < len(self.words[r]):
                    kind, s = self.words[r][at[r]]
                    need(self.map[s] == r, f"stage {s} is not on rank {r}")
                    j = count.get((kind, s), 0)
                    needed = [(k, i, j) for k, i, _ in self.inputs(kind, s)]
                    if not all(step in end for step in needed):
                        break
                    start = max([free[r]] + [end[k, i, j] + hop for k, i, hop in self.inputs(kind, s)])
                    b, w = self.gives[s]
                    if kind == "F":
                        held[r] += b + w
                        need(held[r] <= self.caps[r], f"rank {r} holds more than its cap")
                    else:
                        held[r] -= w if kind == "W" else b
                    free[r] = end[kind, s, j] = start + self.time[kind, s]
                    count[kind, s] = j + 1
                    at[r] += 1
                    progress = True
        need(all(count.get((k, s)) == self.m for k in self.kinds for s in range(self.stages)),
             "the words are not complete, or wait for each other")
        return max(free)

    def safe(self, r, n):
        """The cap and lemma 2, of the counts n of the letters of rank r."""
        chunks, cap = self.chunks[r], self.caps[r]
        taken = [sum(self.gives[s]) for s in chunks]
        held = sum(taken[c] * (n["F", s] - n[self.kinds[1], s]) for c, s in enumerate(chunks))
        if "W" in self.kinds:
            held += sum(self.gives[s][1] * (n["I", s] - n["W", s]) for s in chunks)
        if held > cap:
            return False
        started = [n["F", s] for s in chunks]
        return all(sum(a * max(q - j, 1) for a, q in zip(taken, started)) <= cap
                   for j in started if j < max(started))

    def prove(self):
        self.H = {(k, s, j): 0 for k in self.kinds for s in range(self.stages) for j in range(self.m)}
        self.L = {step: self.refuted for step in self.H}
        need(self.makespan is None or self.refuted < self.makespan, "the refuted makespan is that of the schedule or more")
        rest = iter(self.proof)
        # The windows of the opposites of cases.
        opposites = []
        while True:
            line = next(rest)
            empty = self.paths()
            if line[0] == "windows":
                empty = self.rounds(line[1:]) or empty
                line = next(rest)
            if line[0] == "case":
                _, kind, s, j, relation, time = line
                step, time = (kind, int(s[1:]), int(j[1:])), int(time)
                need(s[0] == "s" and j[0] == "m" and step in self.H, f"no step {line}")
                H, L = dict(self.H), dict(self.L)
                end = time + self.time[step[:2]]
                if relation == "<=":
                    self.L[step], H[step] = min(self.L[step], end), max(H[step], time + 1)
                else:
                    need(relation == ">", f"no case {line}")
                    self.H[step], L[step] = max(self.H[step], time + 1), min(L[step], end)
                opposites.append((H, L))
                continue
            need(line[0] == "by", f"no proof {line}")
            proof, _, charges = " ".join(line[1:]).partition("charges")
            rounds, _, machine = proof.partition("machine")
            if not (empty or self.rounds(rounds.split()[1:]) or (machine and self.machine(int(machine)))
                    or (charges and self.charges(charges.split()))):
                return False
            if not opposites:
                return not list(rest)
            need(next(rest) == ["else"], "no opposite of a case")
            self.H, self.L = opposites.pop()

    def rounds(self, ranks):
        """Narrows the windows by these ranks; True if nothing is left."""
        return any(not (self.gaps(int(r[:-3])) if r.endswith(":FI") else self.filter(int(r))) or self.paths()
                   for r in ranks)

    def paths(self):
        """Moves windows along data and order; True if one is too small."""
        arcs = []
        for k, s, j in self.H:
            arcs += [((a, i, j), (k, s, j), hop) for a, i, hop in self.inputs(k, s)]
            if j:
                arcs.append(((k, s, j - 1), (k, s, j), 0))
        changed = True
        while changed:
            changed = False
            for a, b, hop in arcs:
                start = self.H[a] + self.time[a[:2]] + hop
                end = self.L[b] - self.time[b[:2]] - hop
                if start > self.H[b]:
                    self.H[b], changed = start, True
                if end < self.L[a]:
                    self.L[a], changed = end, True
            if any(self.H[x] + self.time[x[:2]] > self.L[x] for x in self.H):
                return True
        return False

    def filter(self, r):
        """All orders of rank r, by the counts of its letters; False if there is none."""
        chunks, back = self.chunks[r], self.kinds[1]
        letters = [(k, s) for k in self.kinds for s in chunks]
        before = self.order(r, back)
        zero = tuple(0 for _ in letters)
        layers = [{zero: 0}]
        steps = []
        for _ in range(len(letters) * self.m):
            following, used = {}, []
            for state, now in layers[-1].items():
                n = dict(zip(letters, state))
                for i, letter in enumerate(letters):
                    if n[letter] == self.m or any(n[other] <= n[letter] for other in before[letter]):
                        continue
                    step = (*letter, n[letter])
                    end = max(now, self.H[step]) + self.time[letter]
                    if end > self.L[step]:
                        continue
                    n[letter] += 1
                    fits = letter[0] != "F" or self.safe(r, n)
                    n[letter] -= 1
                    if not fits:
                        continue
                    to = state[:i] + (state[i] + 1,) + state[i + 1:]
                    following[to] = min(end, following.get(to, end))
                    used.append((state, to, step))
            layers.append(following)
            steps.append(used)
        if not layers[-1]:
            return False
        latest = {state: self.refuted for state in layers[-1]}
        H, L = {}, {}
        for used, layer in zip(reversed(steps), reversed(layers[:-1])):
            own = {}
            for state, to, step in used:
                if to not in latest:
                    continue
                end = min(latest[to], self.L[step])
                start = max(layer[state], self.H[step])
                last = end - self.time[step[:2]]
                if start > last:
                    continue
                own[state] = max(last, own.get(state, last))
                H[step] = min(start, H.get(step, start))
                L[step] = max(end, L.get(step, end))
            latest = own
        if zero not in latest:
            return False
        self.H.update(H)
        self.L.update(L)
        return True

    def least_work(self, r, n):
        """The least time of the W that rank r must have run, by the counts n of its F and I."""
        held = sum(sum(self.gives[s]) * n["F", s] - self.gives[s][0] * n["I", s] for s in self.chunks[r])
        over = held - self.caps[r]
        unit = gcd(*(self.gives[s][1] for s in self.chunks[r]))
        if over <= 0:
            return 0
        over += -over % unit
        work = 0
        for price, s in sorted((Fraction(self.time["W", s], self.gives[s][1]), s)
                               for s in self.chunks[r] if self.gives[s][1]):
            part = min(over, self.gives[s][1] * n["I", s])
            work += floor(price * part)
            over -= part
        return work

    def gaps(self, r):
        """All orders of F and I of rank r, with W as work in their gaps; False if there is none."""
        chunks = self.chunks[r]
        letters = [(k, s) for k in "FI" for s in chunks]
        before = self.order(r, "I")
        everything = self.m * sum(self.time["W", s] for s in chunks)
        zero = tuple(0 for _ in letters)
        # The time of a state, and the time less the W before it: least, then greatest.
        layers, steps = [{zero: (0, 0)}], []
        for _ in range(len(letters) * self.m):
            following, used = {}, []
            for state, (now, less) in layers[-1].items():
                n = dict(zip(letters, state))
                most = sum(self.time["W", s] * n["I", s] for s in chunks)
                for i, letter in enumerate(letters):
                    if n[letter] == self.m or any(n[other] <= n[letter] for other in before[letter]):
                        continue
                    step, least = (*letter, n[letter]), 0
                    if letter[0] == "F":
                        after = {**n, letter: n[letter] + 1}
                        if not self.safe(r, {**after, **{("W", s): n["I", s] for s in chunks}}):
                            continue
                        least = self.least_work(r, after)
                    end = max(now, self.H[step], less + least) + self.time[letter]
                    if end > self.L[step]:
                        continue
                    to = state[:i] + (state[i] + 1,) + state[i + 1:]
                    found = (end, max(less, self.H[step] - most) + self.time[letter])
                    following[to] = tuple(map(min, found, following.get(to, found)))
                    used.append((state, to, step, most, least))
            layers.append(following)
            steps.append(used)
        if not layers[-1] or min(less for _, less in layers[-1].values()) > self.refuted - everything:
            return False
        latest = {state: (self.refuted, self.refuted - everything) for state in layers[-1]}
        H, L = {}, {}
        for used, layer in zip(reversed(steps), reversed(layers[:-1])):
            own = {}
            for state, to, step, most, least in used:
                if to not in latest:
                    continue
                time = self.time[step[:2]]
                now, less = layer[state]
                start = max(now, self.H[step], less + least)
                last = min(latest[to][0], latest[to][1] + most, self.L[step]) - time
                if start > last or max(less, self.H[step] - most) > latest[to][1] - time:
                    continue
                found = (last, min(latest[to][1] - time, last - least))
                own[state] = tuple(map(max, found, own.get(state, found)))
                H[step] = min(start, H.get(step, start))
                L[step] = max(last + time, L.get(step, last + time))
            latest = own
        if zero not in latest:
            return False
        self.H.update(H)
        self.L.update(L)
        return True

    def machine(self, r):
        """Whether the steps of rank r take too long even with interruptions."""
        jobs = sorted((self.H[x], self.L[x], self.time[x[:2]]) for x in self.H if self.map[x[1]] == r)
        jobs.reverse()
        now, heap = 0, []
        while jobs or heap:
            if not heap:
                now = max(now, jobs[-1][0])
            while jobs and jobs[-1][0] <= now:
                _, end, left = jobs.pop()
                heapq.heappush(heap, (end, left))
            end, left = heapq.heappop(heap)
            until = min(now + left, jobs[-1][0]) if jobs else now + left
            left -= until - now
            now = until
            if left:
                heapq.heappush(heap, (end, left))
            elif now > end:
                return True
        return False


    def path(self, a, b):
        """The longest path of one micro-batch from the start of letter a to that of b."""
        found = {a: 0}
        steps = [("F", s) for s in range(self.stages)] + [(k, s) for k in self.kinds[1:]
                                                          for s in reversed(range(self.stages))]
        for step in steps:
            ways = [found[k, s] + self.time[k, s] + hop for k, s, hop in self.inputs(*step) if (k, s) in found]
            if ways:
                found[step] = max(ways)
        need(b in found, f"no way from {a} to {b}")
        return found[b]

    def charges(self, words):
        """Whether times that every run has exceed the makespan, weighted so that at most 1 is open at once."""
        words = words[::-1]
        rank, _, short = words.pop().partition(":")
        r = int(rank)
        need(words.pop() == "of" and short in ("", "FI"), "no charges")
        unit, work, total = int(words.pop()), 0, 0
        kinds = self.kinds[:2] if short else self.kinds
        letters = [(k, s) for k in kinds for s in self.chunks[r]]

        def letter(text):
            need((text[0], int(text[1:])) in letters, f"{text} is not on rank {r}")
            return letters.index((text[0], int(text[1:])))

        # What is open after these counts.
        opens = []
        while words:
            what = words.pop()
            if what == "W":
                work = int(words.pop())
                need(short and work >= 0, "W in the states")
                total += work * self.m * sum(self.time["W", s] for s in self.chunks[r])
            elif what in ("before", "after"):
                a, batch, weight = letter(words.pop()), words.pop(), int(words.pop())
                need(batch[0] == "m" and weight >= 0, "no weight")
                step = (*letters[a], int(batch[1:]))
                if what == "before":
                    total += weight * self.H[step]
                    opens.append(lambda n, a=a, j=step[2], w=weight: w * (n[a] <= j))
                else:
                    total += weight * (self.refuted - self.L[step] + self.time[step[:2]])
                    opens.append(lambda n, a=a, j=step[2], w=weight: w * (n[a] > j))
            else:
                a, b = map(letter, what.split("-"))
                weight = int(words.pop())
                need(weight >= 0, "no weight")
                total += weight * self.m * self.path(letters[a], letters[b])
                opens.append(lambda n, a=a, b=b, w=weight: w * (n[a] - n[b]))
        before = self.order(r, self.kinds[1])
        layer = {tuple(0 for _ in letters): 0}
        for _ in range(len(letters) * self.m):
            following, left = {}, {}
            for state, cost in layer.items():
                n = dict(zip(letters, state))
                for i, own in enumerate(letters):
                    if n[own] == self.m or any(n[other] <= n[own] for other in before[own]):
                        continue
                    to = state[:i] + (state[i] + 1,) + state[i + 1:]
                    if to not in left:
                        after = dict(zip(letters, to))
                        if short:
                            after.update({("W", s): after["I", s] for s in self.chunks[r]})
                        fits = own[0] != "F" or self.safe(r, after)
                        left[to] = unit - sum(open(to) for open in opens) if fits else None
                    if left[to] is None:
                        continue
                    if left[to] < work:
                        return False
                    new = cost + self.time[own] * left[to]
                    following[to] = min(new, following.get(to, new))
            layer = following
        need(unit >= work + sum(open(tuple(0 for _ in letters)) for open in opens), "too much is open at the start")
        return total + min(layer.values()) > self.refuted * unit


def rank_of(s, name, p):
    """The rank of a stage of a placement `loop` or `v`."""
    return p - 1 - s % p if name == "v" and s // p % 2 else s % p


def placed(certificate, words):
    """Whether a problem has the placement and the form of a line `variant`."""
    name, _, chunks, _, form = words
    slices = int(certificate.sizes.get("slices", 1))
    p = certificate.p
    good = certificate.kinds == {"split": "FIW", "whole": "FB"}[form]
    if name == "explicit":
        return good
    return good and certificate.map == [rank_of(s // slices, name, p) for s in range(p * int(chunks) * slices)]


def covers(split, whole):
    """Whether I and W of every stage take no longer than B, and hold no more."""
    def least(a, b):
        return a[0] * a[1] <= b[0] * b[1]

    t, u = split.tick, whole.tick
    good = split.map == whole.map and split.sizes == whole.sizes and len(split.edges) == len(whole.edges)
    for a, b in zip(split.edges, whole.edges):
        good = good and a[:2] == b[:2] and least((a[2], t), (b[2], u)) and least((a[3], t), (b[3], u))
    for s in range(split.stages):
        i, w = split.gives[s]
        # This checker reads no sizes of running steps.
        good = (good and i >= 0 and (i + w) * split.unit == sum(whole.gives[s]) * whole.unit
                and least((split.time["F", s], t), (whole.time["F", s], u))
                and least((split.time["I", s] + split.time["W", s], t), (whole.time["B", s], u)))
    return good and all(least((b, whole.unit), (a, split.unit)) for a, b in zip(split.caps, whole.caps))


def stages_of(text):
    """The layers of each stage of a layout, such as `Et*2|(t|)*2tL`."""
    text = re.sub(r"\(([^)]+)\)\*(\d+)", lambda found: found[1] * int(found[2]), text.replace(",", ""))
    return re.sub(r"(.)\*(\d+)", lambda found: found[1] * int(found[2]), text).split("|")


class AllLayouts:
    """All layouts of a placement and a form: those whose first stages leave less than the bound open have a proof of
    their own, or paths or one rank refute a smaller makespan."""

    def __init__(self, words, layers, kinds, table, bound):
        self.table, self.layers, self.kinds, self.p, self.m = table, layers, kinds, table.p, table.m
        self.ranks = [rank_of(s, words[0], self.p) for s in range(self.p * int(words[2]))]
        self.hops = {}
        for u, v, forward, back in table.edges:
            self.hops.setdefault((table.map[u], table.map[v]), forward)
            self.hops.setdefault((table.map[v], table.map[u]), back)
        self.refuted = ceil(bound / table.tick) - 1
        self.rest = [sum(min(sum(self.times(r, layer)) for r in range(self.p)) for layer in layers[i:])
                     for i in range(len(layers) + 1)]
        self.proven = []

    def times(self, r, layer):
        return [self.table.time[kind, self.kinds.index(layer) * self.p + r] for kind in self.table.kinds]

    def hop(self, s, t):
        return self.hops.get((self.ranks[s], self.ranks[t]), 0)

    def add(self, text, problem):
        """A layout with a problem of its own, whose proof refutes enough."""
        stages = stages_of(text)
        need("".join(stages) == self.layers, f"{text} has other layers")
        need(problem.map == self.ranks and problem.kinds == self.table.kinds, f"{text} has another problem")
        need(problem.edges == [(s - 1, s, *problem.edges[s - 1][2:]) for s in range(1, len(stages))], f"{text} is no chain")
        for s, letters in enumerate(stages):
            for at, kind in enumerate(problem.kinds):
                most = sum(self.times(self.ranks[s], layer)[at] for layer in letters)
                need(problem.time[kind, s] * problem.tick <= most * self.table.tick, f"stage {s} of {text} is longer")
        self.proven.append(stages)

    def alone(self, stages):
        own = Certificate.__new__(Certificate)
        own.kinds, own.stages, own.map, own.refuted = self.table.kinds, len(stages), self.ranks, self.refuted
        own.time = {(kind, s): sum(self.times(self.ranks[s], layer)[at] for layer in letters)
                    for s, letters in enumerate(stages) for at, kind in enumerate(own.kinds)}
        own.edges = [(s - 1, s, self.hop(s - 1, s), self.hop(s, s - 1)) for s in range(1, len(stages))]
        own.H = {(*letter, j): 0 for letter in own.time for j in range(self.m)}
        own.L = {step: self.refuted for step in own.H}
        return own.paths() or any(own.machine(r) for r in range(self.p))

    def begins(self, stages, used):
        """Whether the first stages of a layout leave no makespan to be refuted."""
        head, tail, ranks = 0, 0, {}
        for s, letters in enumerate(stages):
            if s:
                head, tail = head + self.hop(s - 1, s), tail + self.hop(s, s - 1)
            own = ranks.setdefault(self.ranks[s], [head, tail, 0, 0])
            for layer in letters:
                forward, back, *other = self.times(self.ranks[s], layer)
                head, tail = head + forward, tail + back
                own[2] += forward + back
                own[3] += forward + back + sum(other)
        if any(start + self.m * max(every, inputs + Fraction(after, self.m)) > self.refuted
               for start, after, inputs, every in ranks.values()):
            return False
        if used == len(self.layers):
            return True
        head += self.hop(len(stages) - 1, len(stages)) if stages else 0
        room = 0
        for r in set(self.ranks[len(stages):]):
            start, _, _, every = ranks.get(r, (head, 0, 0, 0))
            room += self.refuted - start - self.m * every
        return self.m * self.rest[used] <= room

    def check(self, stages=(), used=0):
        if len(stages) == len(self.ranks):
            need(list(stages) in self.proven or self.alone(stages), f"{'|'.join(stages)} has no proof")
            return
        left = len(self.ranks) - len(stages) - 1
        for end in range(used + 1 if left else len(self.layers), len(self.layers) - left + 1):
            longer = (*stages, self.layers[used:end])
            if self.begins(longer, end):
                self.check(longer, end)


def check_layouts(own, layout, words, state, lines, bound):
    """Checks a variant of all layouts; the problem of its layers."""
    at = state.index("layouts")
    layers, kinds = stages_of(state[at + 1])[0], state[at + 3]
    starts = [i for i, line in enumerate(lines) if line[0] == "layout"] + [len(lines)]
    table = Certificate(lines[:starts[0]], is_variant=True)
    need(layers == "".join(stages_of(layout)), f"other layers in {words}")
    need(table.sizes == own.sizes and table.map == [*range(table.p)] * len(kinds), f"another problem of layers in {words}")
    need(table.kinds == {"split": "FIW", "whole": "FB"}[words[4]], f"another form in {words}")
    if "covered" in state:
        return table
    layouts = AllLayouts(words, layers, kinds, table, bound)
    for begin, end in zip(starts, starts[1:]):
        is_own = lines[begin][2:] == ["best"]
        need(not is_own or (state[0] == "best" and lines[begin][1] == layout), "another layout is the best")
        problem = own if is_own else Certificate(lines[begin + 1:end], is_variant=True)
        layouts.add(lines[begin][1], problem)
        need((problem.refuted + 1) * problem.tick >= bound, f"the proof of {lines[begin]} is of another bound")
        need(is_own or problem.prove(), f"this does not refute {problem.refuted} of {lines[begin]}")
    layouts.check()
    return table


def check_all(own, layout, lines):
    """Checks the variants; their bound."""
    bound = Fraction(lines[0][1])
    starts = [i for i, line in enumerate(lines) if line[0] == "variant"]
    proven = {}
    for begin, end in zip(starts, starts[1:] + [len(lines)]):
        words, state = lines[begin][1:6], lines[begin][6:]
        if state[:1] == ["excluded"]:
            continue
        is_best, covered = state[:1] == ["best"], "covered" in state
        need(is_best == (begin == starts[0]), "the best variant is the first")
        if layout:
            problem = check_layouts(own, layout, words, state, lines[begin + 1:end], bound)
        else:
            problem = own if is_best else Certificate(lines[begin + 1:end], is_variant=True)
            need(state in ([], ["best"], ["covered"]), f"no state {state}")
            need(problem.sizes == own.sizes and placed(problem, words), f"another problem in {words}")
        if covered:
            split = proven.get(tuple(words[:4] + ["split"]))
            need(split and problem.refuted is None and covers(split, problem), f"{words} is not covered")
            continue
        proven[tuple(words)] = problem
        if not layout:
            need((problem.refuted + 1) * problem.tick >= bound, f"the proof of {words} is of another bound")
            need(problem is own or problem.prove(), f"this does not refute {problem.refuted} of {words}")
    return bound


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            lines = [line.split("//")[0].split() for line in file.read().splitlines()]
        lines = [line for line in lines if line]
        need(lines[0] == ["pipec-certificate", "1"], "not a certificate")
        layout = None
        if lines[1][0] == "layout":  # of which the problem is; not a part of the proof
            layout = lines.pop(1)[1]
        more = next((i for i, line in enumerate(lines) if line[0] == "bound_all"), len(lines))
        certificate = Certificate(lines[1:more])
        need(certificate.run() <= certificate.makespan, "the words take longer")
        need(certificate.prove(), f"this does not refute {certificate.refuted}")
        bound = check_all(certificate, layout, lines[more:]) if more != len(lines) else None
    except (Wrong, ValueError, IndexError, KeyError, StopIteration) as error:
        print(f"wrong: {error!r}")
        return 1
    print(f"proven: makespan {certificate.makespan}, no schedule has {certificate.refuted} or less")
    if bound is not None:
        print(f"of all: no schedule has less than {bound}")
    return 0


sys.exit(main())
