# Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random-runs.py SEED COUNT: draws small schedules with costs of every kind,
transfers, batches, overlaps and FSDP actions, lets pipec-opt fill in the start
times under every model and without transfers, and compares them with model.py.
What does not end must be refused. Of the times that pipec gave, some are moved
forward; the verifier must find each."""

import collections
import concurrent.futures
import fractions
import pathlib
import random
import subprocess
import sys
import tempfile

import model

Fraction = fractions.Fraction


def fraction(rng, top=6):
    return Fraction(rng.randrange(top), rng.choice((1, 1, 2, 3, 4, 5)))


class Draw:
    """One schedule: lists of lines, each a list of texts of its steps."""

    def __init__(self, rng):
        self.rng = rng
        self.ranks = rng.randrange(1, 5)
        self.two = self.ranks > 1 and rng.random() < 0.25
        self.stages = self.ranks * (1 if self.two else rng.choice((1, 1, 2)))
        self.microbatches = rng.randrange(1, 5) * (2 if self.two else 1)
        if self.two:
            line = list(range(self.ranks))
            self.maps = [line, line[::-1]]
        else:
            zigzag = rng.random() < 0.5
            self.maps = [[self.ranks - 1 - s % self.ranks if zigzag and s // self.ranks % 2
                          else s % self.ranks for s in range(self.stages)]]

    def rank_of(self, stage, microbatch):
        return self.maps[self.two and microbatch >= self.microbatches // 2][stage]

    def computes(self):
        """Lists of groups of (kind, stage, microbatch) that can run, in the order in which the
        groups were drawn."""
        rng = self.rng
        split = {(s, m): rng.random() < 0.5 for s in range(self.stages)
                 for m in range(self.microbatches)}
        done, order = set(), []
        left = [("F", s, m) for s, m in split]
        left += [(kind, s, m) for (s, m), halves in split.items()
                 for kind in ("IW" if halves else "B")]

        def backward(stage, microbatch):
            return ("I" if split[stage, microbatch] else "B", stage, microbatch)

        def needs(kind, s, m):
            if kind == "F":
                return [("F", s - 1, m)] if s else []
            if kind == "W":
                return [("I", s, m)]
            return [("F", s, m)] + ([backward(s + 1, m)] if s + 1 < self.stages else [])

        favoured = rng.choice("FBIW")
        while left:
            ready = [step for step in left if all(need in done for need in needs(*step))]
            liked = [step for step in ready if step[0] == favoured]
            group = [rng.choice(liked if liked and rng.random() < 0.7 else ready)]
            rank = self.rank_of(*group[0][1:])
            while rng.random() < 0.2:
                more = [step for step in ready if self.rank_of(*step[1:]) == rank and
                        step not in group]
                if not more:
                    break
                group.append(rng.choice(more))
            order.append((rank, group))
            done.update(group)
            left = [step for step in left if step not in group]
        return order

    def transfers(self, rank, step):
        """(peer, send, receive) of a compute step whose result leaves its rank."""
        kind, s, m = step
        to = s + {"F": 1, "B": -1, "I": -1}.get(kind, self.stages)
        if not 0 <= to < self.stages or self.rank_of(to, m) == rank:
            return None
        letter = "F" if kind == "F" else "B"
        peer = self.rank_of(to, m)
        return (peer, f"SEND_{letter} s{s} m{m} -> r{peer}",
                f"RECV_{letter} s{to} m{m} <- r{rank}")

    def lists(self, with_transfers):
        rng = self.rng
        lists = [[] for _ in range(self.ranks)]
        for rank, group in self.order:
            lists[rank].append(" & ".join(f"{k} s{s} m{m}" for k, s, m in group))
            for step in group:
                moved = self.transfers(rank, step)
                if moved and with_transfers:
                    peer, send, receive = moved
                    lists[rank].append(send)
                    lists[peer].append(receive)
        if with_transfers:
            for lines in lists:
                self.shuffle(lines)
        return [self.batched(lines) for lines in lists]

    def shuffle(self, lines):
        """Moves receives up and down over computes that do not use them, sends down over
        computes that do not free what is sent."""
        rng = self.rng
        # Most schedules that take transfers out of their order do not end.
        unordered = rng.random() < 0.1
        for _ in range(2 * len(lines)):
            if len(lines) < 2:
                return
            i = rng.randrange(len(lines) - 1)
            first, second = lines[i], lines[i + 1]
            if (unordered and "_" in first and "_" in second and
                    self.edge(first) != self.edge(second)):
                lines[i:i + 2] = [second, first]
            if ("_" in first) == ("_" in second):
                continue
            transfer, computes = (first, second) if "_" in first else (second, first)
            name = transfer.split()[1:3]
            same = any(step.split()[1:] == name for step in computes.split(" & "))
            if same or ("SEND" in transfer and transfer == second):
                continue
            lines[i:i + 2] = [second, first]

    @staticmethod
    def edge(transfer):
        """What keeps its order: the direction and the peer."""
        return transfer[:4], transfer.split()[-1]

    def batched(self, lines):
        """Joins neighbouring transfers, now and then."""
        out = []
        for text in lines:
            both = out and "_" in out[-1] and "_" in text
            if both and self.rng.random() < 0.25:
                out[-1] += ", " + text
            else:
                out.append(text)
        return out

    def sharded(self, rank, lines):
        """The list with FSDP actions for some of the rank's stages."""
        rng = self.rng
        stages = {s for line in self.maps for s, r in enumerate(line) if r == rank}
        added = collections.defaultdict(list)  # before which line
        for stage in sorted(stages):
            uses = [i for i, text in enumerate(lines) if "_" not in text and
                    any(step.split()[1] == f"s{stage}" for step in text.split(" & "))]
            weights = [i for i in uses if any(step.split()[0] in "BW" and
                                              step.split()[1] == f"s{stage}"
                                              for step in lines[i].split(" & "))]
            reduce = rng.randrange(weights[-1] + 1, len(lines) + 1)
            if rng.random() < 0.3:
                added[reduce].append(f"REDUCE_GRAD s{stage}")
                continue
            cut = rng.randrange(1, len(uses) + 1)
            parts = [part for part in (uses[:cut], uses[cut:]) if part]
            free = 0
            for number, part in enumerate(parts):
                added[rng.randrange(free, part[0] + 1)].append(f"UNSHARD s{stage}")
                last = number + 1 == len(parts)
                free = rng.randrange(part[-1] + 1, (reduce if last else parts[1][0]) + 1)
                if last:
                    added[reduce].append(f"REDUCE_GRAD s{stage}")
                    free = reduce
                added[free].append(f"RESHARD s{stage}")
        return [text for i in range(len(lines) + 1)
                for text in added[i] + lines[i:i + 1]]

    def costs(self):
        rng = self.rng

        def row(names, some=0.5):
            return "".join(f" {n} = {fraction(rng)}" for n in names.split() if rng.random() < some)

        steps = "F B I W unshard reshard reduce_grad"
        edge = "p2p occupancy"
        lines = ["cost" + row(steps) + row(edge) + row("overlap", 0.3)]
        for stage in range(self.stages):
            lines.append(f"cost stage {stage}" + row(steps, 0.1))
        for rank in range(self.ranks):
            lines.append(f"cost rank {rank}" + row(steps, 0.1) + row("factor", 0.3))
        for m in range(self.microbatches):
            lines.append(f"cost microbatch {m}" + row("factor", 0.2))
        if rng.random() < 0.3:
            lines.append(f"cost nodes {rng.randrange(1, 3)}" + row(edge))
        for a in range(self.ranks):
            for b in range(self.ranks):
                if a != b:
                    lines.append(f"cost edge {a} -> {b}" + row(edge, 0.15))
        for pair in ("F & B", "B & F", "F & F", "W & F", "I & W"):
            if rng.random() < 0.4:
                lines.append(f"cost {pair}{rng.choice((' factor', ''))} = {fraction(rng)}")
        return [line for line in lines if "=" in line]

    def text(self, lists):
        out = ["pipec-steps 1", f"schedule @drawn {{ ranks {self.ranks} stages {self.stages} "
               f"microbatches {self.microbatches}"]
        out += ["  map " + " ".join(map(str, line)) for line in self.maps]
        out += ["  " + line for line in self.cost_lines]
        for rank, lines in enumerate(lists):
            out.append(f"  rank {rank} {{")
            for text in lines:
                word = "overlap " if " & " in text else "batch " if ", " in text else ""
                out.append("    " + word + text)
            out.append("  }")
        return "\n".join(out + ["}", ""])

    def draw(self):
        self.order, self.cost_lines = self.computes(), self.costs()
        fsdp = self.rng.random() < 0.5
        for with_transfers in (False, True):
            lists = self.lists(with_transfers)
            if fsdp:
                lists = [self.sharded(rank, lines) for rank, lines in enumerate(lists)]
            yield self.text(lists)


def optimize(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "drawn.steps"
        path.write_text(text)
        return subprocess.run(["pipec-opt", "--show-kinds", *options, path],
                              capture_output=True, text=True, timeout=60)


def compare(text, under, rng):
    """One run; returns what it was, for the count."""
    schedule = model.Schedule(text)
    ran = optimize(text, f"--passes=simulate{{model={under or 'edge'}}}", "--verify-each")
    try:
        wanted = model.Run(schedule, under).times()
    except model.Deadlock:
        assert ran.returncode and "deadlock" in ran.stderr, (text, under, ran.stderr)
        assert "NoteBlocked" in ran.stderr, (text, under, ran.stderr)
        return "refused"
    assert ran.returncode == 0, (text, under, ran.stderr)
    shown = [[line.time for line in lines] for lines in model.Schedule(ran.stdout).lists]
    assert shown == wanted, (text, under, ran.stdout, wanted)
    if under:
        return "under " + under
    # Every time of free arrival is as early as it can be.
    timed = [(rank, i) for rank, times in enumerate(wanted) for i, time in enumerate(times)
             if time is not None]
    for rank, i in rng.sample(timed, min(2, len(timed))):
        lines = ran.stdout.splitlines()
        begin = lines.index(f"  rank {rank} {{") + 1
        head, _, time = lines[begin + i].rpartition("@")
        lines[begin + i] = f"{head}@{Fraction(time) - Fraction(1, 97)}"
        moved = optimize("\n".join(lines) + "\n", "--verify=timed")
        first = Fraction(time) == 0
        found = any(kind in moved.stderr for kind in (
            "StartWhileBusy", "StartBeforeData", "StartBeforeUnshard", "CollectiveWhileBusy"))
        assert first or found, (lines[begin + i], ran.stdout, moved.stderr)
    return "free"


def case(seed):
    rng = random.Random(seed)
    counts = collections.Counter()
    for text in Draw(rng).draw():
        for under in model.MODELS if has_transfers(text) else (None,):
            counts[compare(text, under, rng)] += 1
        counts["fsdp"] += "REDUCE_GRAD" in text
        counts["batches"] += "batch " in text
        counts["overlaps"] += "overlap " in text
    return counts


def has_transfers(text):
    return "SEND_" in text


def main():
    seed, count = map(int, sys.argv[1:])
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for one in pool.map(case, range(seed, seed + count)):
            counts.update(one)
    print(", ".join(f"{value} {name}" for name, value in sorted(counts.items())))


if __name__ == "__main__":
    main()
