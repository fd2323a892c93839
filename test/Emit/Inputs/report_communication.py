"""Recounts from lists what a report says of communication.

    report_communication.py RUNS FOLDER [SEED]

Random schedules of the library, with random sizes, costs and sharding, are
reported as JSON and written as the CSV that PyTorch runs. From the CSV alone,
and sharing no code with pipec, the script counts UNSHARDs, refetches, transfers
and volumes, and lets the lists run with one queue per directed edge, to sum what
every rank waits for before its compute steps.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import random
import re
import subprocess
import sys
from fractions import Fraction

ACTION = re.compile(r"(\d+)(SEND_F|RECV_F|SEND_B|RECV_B|UNSHARD|RESHARD|REDUCE_GRAD|F|B|I|W)(\d*)$")
OVERLAP = re.compile(r"\((.*)\)OVERLAP_F_B$")
PARTS = ("dependency", "latency", "queue", "gather")


def pipec(*args):
    run = subprocess.run(["pipec", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        sys.exit(f"{' '.join(args)}: {run.stderr.decode()}")
    return run.stdout.decode()


def exact(figures, key):
    text = figures.get(key + "_exact")
    return Fraction(text) if text else Fraction(str(figures[key]))


def action(text):
    stage, kind, microbatch = ACTION.match(text).groups()
    return kind, int(stage), int(microbatch) if microbatch else None


def read(text):
    """The list of each rank: groups of (kind, stage, micro-batch), of which only overlaps have two."""
    ranks = []
    for line in text.splitlines():
        groups = []
        for cell in line.split(","):
            overlap = OVERLAP.match(cell)
            groups.append([action(part) for part in (overlap[1].split(";") if overlap else [cell])])
        ranks.append(groups)
    return ranks


class Costs:
    def __init__(self, rng, stages):
        def some():
            return rng.randint(0, 12) / 4

        self.profile = {"F": 1 + some(), "B": 1 + some(), "I": 1 + some(), "W": some(), "p2p": some() / 2,
                        "unshard": some(), "reshard": some() / 4, "reduce_grad": some(),
                        "overlap": rng.choice([0.5, 0.75, 1]),
                        "stages": {str(s): {"unshard": some()} for s in range(stages) if rng.random() < 0.3},
                        "memory": {"receive": some(), "stages": {
                            str(s): {"receive": 1 + some()} for s in range(stages) if rng.random() < 0.3}}}

    def of(self, kind, stage):
        own = self.profile["stages"].get(str(stage), {})
        return Fraction(own.get(kind.lower(), self.profile[kind if len(kind) == 1 else kind.lower()]))

    def duration(self, group):
        times = [self.of(kind, stage) for kind, stage, _ in group]
        return max(max(times), Fraction(self.profile["overlap"]) * sum(times)) if len(group) > 1 else times[0]

    def received(self, stage):
        memory = self.profile["memory"]
        return Fraction(memory["stages"].get(str(stage), memory)["receive"])


class Replay:
    """One run of the lists: when steps are posted, and when transfers complete."""

    def __init__(self, ranks, costs):
        self.ranks, self.costs = ranks, costs
        self.home = {stage: rank for rank, groups in enumerate(ranks)
                     for group in groups for kind, stage, _ in group if len(kind) == 1}
        self.stages = len(self.home)
        # By directed edge: when its k-th send and its k-th receive were posted.
        self.posted = {}
        # By rank, kind, stage and micro-batch: edge and number of a receive.
        self.receives = {}
        self.made = {}
        self.waits = [dict.fromkeys(PARTS, Fraction(0)) for _ in ranks]
        self.free = [Fraction(0)] * len(ranks)
        self.collectives = [Fraction(0)] * len(ranks)
        self.gathered = {}
        self.last = Fraction(0)

    def edge(self, rank, kind, stage):
        neighbour = stage + (1 if kind in ("SEND_F", "RECV_B") else -1)
        peer = self.home[neighbour]
        return (rank, peer) if kind.startswith("SEND") else (peer, rank)

    def complete(self, edge, number):
        """When the transfer of that number is complete; None while a side is missing."""
        sends, receives = self.posted[edge]
        if len(sends) <= number or len(receives) <= number:
            return None
        end = Fraction(0)
        for send, receive in zip(sends[:number + 1], receives):
            end = max(send, receive, end) + Fraction(self.costs.profile["p2p"])
        return end

    def needs(self, group):
        """The results that a step or an overlap takes from other stages."""
        for kind, stage, microbatch in group:
            if kind == "F" and stage > 0:
                yield "F", stage - 1, microbatch
            elif kind in ("B", "I") and stage + 1 < self.stages:
                yield "B", stage + 1, microbatch

    def step(self, rank, group):
        """Runs one group; False when it has to wait for another rank."""
        kind, stage, microbatch = group[0]
        now = self.free[rank]
        if kind in ("UNSHARD", "RESHARD", "REDUCE_GRAD"):
            self.collectives[rank] = max(now, self.collectives[rank]) + self.costs.of(kind, stage)
            if kind == "UNSHARD":
                self.gathered[rank, stage] = self.collectives[rank]
            if self.costs.of(kind, stage):
                self.last = max(self.last, self.collectives[rank])
            return True
        if len(kind) > 1:
            edge = self.edge(rank, kind, stage)
            side = self.posted.setdefault(edge, ([], []))[kind.startswith("RECV")]
            if kind.startswith("RECV"):
                self.receives[rank, kind[-1], stage, microbatch] = edge, len(side)
            side.append(now)
            return True
        arrived = now
        for kind, stage, microbatch in group:
            receive = self.receives.get((rank, "F" if kind == "F" else "B", stage, microbatch))
            if receive and kind != "W":
                end = self.complete(*receive)
                if end is None:
                    return False
                arrived = max(arrived, end)
        start = max([arrived] + [self.gathered.get((rank, stage), now) for _, stage, _ in group])
        made = there = now
        for need in self.needs(group):
            if need not in self.made:
                continue  # another member makes it
            made = max(made, self.made[need])
            hop = Fraction(self.costs.profile["p2p"]) if self.home[need[1]] != rank else 0
            there = max(there, self.made[need] + hop)
        for part, begin, end in zip(PARTS, (now, made, there, arrived), (made, there, arrived, start)):
            self.waits[rank][part] += end - begin
        self.free[rank] = start + self.costs.duration(group)
        self.last = max(self.last, self.free[rank])
        for kind, stage, microbatch in group:
            if kind != "W":
                self.made["F" if kind == "F" else "B", stage, microbatch] = self.free[rank]
        return True

    def run(self):
        at = [0] * len(self.ranks)
        moved = True
        while moved:
            moved = False
            for rank, groups in enumerate(self.ranks):
                while at[rank] != len(groups) and self.step(rank, groups[at[rank]]):
                    at[rank] += 1
                    moved = True
        return all(i == len(groups) for i, groups in zip(at, self.ranks))


def count(replay, costs):
    """Unshards and refetches by rank; transfers and volumes by edge and kind."""
    fetches, edges = [], {}
    for rank, groups in enumerate(replay.ranks):
        fetched = [stage for group in groups for kind, stage, _ in group if kind == "UNSHARD"]
        fetches.append((len(fetched), len(fetched) - len(set(fetched))))
        for [(kind, stage, _), *_] in groups:
            if not kind.startswith("SEND"):
                continue
            gradients = kind == "SEND_B"
            receiver = stage + (-1 if gradients else 1)
            edge = rank, replay.home[receiver], "gradients" if gradients else "activations"
            number, volume = edges.get(edge, (0, Fraction(0)))
            edges[edge] = number + 1, volume + costs.received(receiver)
    return fetches, edges


def differ(what, said, counted):
    if said != counted:
        yield f"{what}: {said} in the report, {counted} counted"


def counts_differ(report, replay, costs):
    fetches, edges = count(replay, costs)
    for figures, counted in zip(report["ranks"], fetches):
        yield from differ(f"fetches of rank {figures['rank']}", (figures["unshards"], figures["refetches"]), counted)
    sums = report["communication"]
    yield from differ("fetches", (sums["unshards"], sums["refetches"]), tuple(map(sum, zip(*fetches))))
    yield from differ("edges", {(edge["from"], edge["to"], edge["kind"]): (edge["transfers"], exact(edge, "volume"))
                                for edge in sums["edges"]}, edges)
    yield from differ("transfers", sums["transfers"], sum(number for number, _ in edges.values()))
    yield from differ("volume", exact(sums, "volume"), sum(volume for _, volume in edges.values()))


def waits_differ(report, replay):
    yield from differ("makespan", exact(report, "makespan"), replay.last)
    for figures, waits in zip(report["ranks"], replay.waits):
        for part in PARTS:
            yield from differ(f"{part} of rank {figures['rank']}", exact(figures["waiting"], part), waits[part])
    for part in PARTS:
        yield from differ(part, exact(report["waiting"], part), sum(waits[part] for waits in replay.waits))
    exposed = sum(waits[part] for waits in replay.waits for part in PARTS[1:])
    yield from differ("exposed", exact(report["waiting"], "exposed"), exposed)
    yield from differ("exposed communication", exact(report["communication"], "exposed"), exposed)


def one(rng, folder, seen):
    name, chunks, options = rng.choice([
        ("gpipe", 1, []), ("one_f_one_b", 1, []), ("zb1p", 1, []),
        ("interleaved", 2, ["-Dchunks=2"]), ("interleaved", 4, ["-Dchunks=4"]),
        ("interleaved", 5, ["-Dchunks=5"]),
        ("looped_bfs", 2, ["-Dchunks=2"]), ("looped_bfs", 3, ["-Dchunks=3"]), ("looped_bfs", 5, ["-Dchunks=5"]),
        ("zbv", 2, []), ("dualpipev", 2, [])])
    ranks = rng.randint(2, 4)
    costs = Costs(rng, ranks * chunks)
    with open(f"{folder}/costs.json", "w", encoding="utf-8") as file:
        json.dump(costs.profile, file)
    sharding = f"max-active={rng.choice([1, 1, 2, 3])},prefetch={rng.choice(['all', 0, 1, 4])}"
    if rng.random() < 0.3:
        sharding += ",stages=" + "+".join(map(str, rng.sample(range(ranks * chunks), rng.randint(1, ranks))))
    args = [name, f"-Dranks={ranks}", f"-Dmicrobatches={ranks * rng.choice([2, 3])}", *options,
            f"--cost-profile={folder}/costs.json"]
    shard = f"--passes=inject-fsdp{{{sharding}}}"
    words = " ".join([*args, shard])
    report = json.loads(pipec(*args, shard + ",torch-2.13", "--emit=report", "--format=json"))
    replay = Replay(read(pipec(*args[:-1], shard + ",torch-2.13", "--emit=csv")), costs)
    if not replay.run():
        sys.exit(f"{words}: the lists do not end")
    # The same schedule without transfers as steps, which are counted all the same.
    without = json.loads(pipec(*args, shard, "--emit=report", "--format=json"))
    for difference in (*counts_differ(report, replay, costs), *waits_differ(report, replay),
                       *counts_differ(without, replay, costs)):
        sys.exit(f"{words}: {difference}")
    for figure in ("refetches", "volume"):
        seen[figure] += bool(report["communication"][figure])
    for part in PARTS:
        seen[part] += bool(report["waiting"][part])


def main():
    runs, folder = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    seen = dict.fromkeys(("refetches", "volume", *PARTS), 0)
    for _ in range(runs):
        one(rng, folder, seen)
    print(f"{runs} schedules recounted;", ", ".join(f"{number} with {figure}" for figure, number in seen.items()))


if __name__ == "__main__":
    main()
