"""Checks critical paths against the lists that they go through.

    report_path.py RUNS [SEED]

Random schedules of the library, with random costs, transfers, models and FSDP
actions, are reported as JSON and printed as step IR. From the IR alone, and
sharing no code with pipec, the script finds out what may precede what, and asks
of every path: it is one interval from the first start to the last end, every
link ends where the next begins, and every link is of the kind that its reason
says. Without transfers it replays the schedule too, and compares all times.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import random
import re
import subprocess
import sys
from fractions import Fraction

COMPUTE = {"F", "B", "I", "W"}
FSDP = {"UNSHARD", "RESHARD", "REDUCE_GRAD"}
P2P = {"SEND_F", "RECV_F", "SEND_B", "RECV_B"}
STEP = re.compile(r"([A-Z_]+)(?: s(\d+))?(?: m(\d+))?(?: (?:->|<-) r(\d+))?")


def pipec(*args):
    run = subprocess.run(["pipec", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def exact(figures, key):
    text = figures.get(key + "_exact")
    return Fraction(text) if text else Fraction(str(figures[key]))


class Lists:
    """The steps of every rank: a list of groups, each a list of (kind, stage, micro-batch, peer)."""

    def __init__(self, text):
        self.maps = [[int(n) for n in line.split()[1:]] for line in text.splitlines()
                     if line.split()[:1] == ["map"]]
        self.stages = len(self.maps[0])
        self.microbatches = int(re.search(r"microbatches (\d+)", text)[1])
        self.ranks = []
        for line in text.splitlines():
            line = line.split("//")[0].split("@")[0].strip() if "schedule @" not in line else ""
            if re.fullmatch(r"rank \d+ \{", line):
                self.ranks.append([])
            elif self.ranks and line and not line.endswith(":") and line != "}":
                group = re.sub(r"^(overlap|batch) ", "", line)
                self.ranks[-1].append([self.step(part) for part in re.split(r" & |, ", group)])

    @staticmethod
    def step(text):
        if text == "bubble":
            return ("bubble", 0, 0, None)
        kind, stage, microbatch, peer = STEP.fullmatch(text).groups()
        return (kind, int(stage), int(microbatch or 0), None if peer is None else int(peer))

    def rank_of(self, stage, microbatch):
        direction = len(self.maps) == 2 and microbatch >= self.microbatches // 2
        return self.maps[direction][stage]

    def supplier(self, step):
        """(stage, is gradient) of the result that a step needs."""
        kind, stage, _, _ = step
        if kind == "F" and stage > 0:
            return stage - 1, False
        if kind in ("B", "I") and stage + 1 < self.stages:
            return stage + 1, True
        return None

    def receiver(self, rank, step):
        """The rank to which the result of a compute step goes, None when it stays."""
        kind, stage, microbatch, _ = step
        user = stage + (1 if kind == "F" else -1)
        if kind not in ("F", "B", "I") or not 0 <= user < self.stages:
            return None
        to = self.rank_of(user, microbatch)
        return None if to == rank else to

    def result(self, step):
        kind, stage, microbatch, _ = step
        if kind == "F":
            return stage, microbatch, False
        return (stage, microbatch, True) if kind in ("B", "I") else None


class Costs:
    def __init__(self, rng):
        pick = lambda: Fraction(rng.choice([1, 1, 1, 2, 3, Fraction(1, 2), Fraction(7, 3), Fraction(18522, 1000)]))
        self.of = {"F": pick(), "I": pick(), "W": pick()}
        self.of["B"] = self.of["I"] + self.of["W"] if rng.random() < 0.7 else pick()
        self.latency = rng.choice([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(5, 3)])
        self.occupancy = rng.choice([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(2)])
        self.hop = self.latency + self.occupancy
        gather = rng.choice([Fraction(0), Fraction(3, 4), Fraction(2)])
        self.of.update({"UNSHARD": gather, "RESHARD": gather / 3, "REDUCE_GRAD": gather * 2})

    def option(self):
        # A command line takes decimals; the fractions go into a profile.
        costs = {kind if kind in COMPUTE else kind.lower(): str(cost) for kind, cost in self.of.items()}
        return json.dumps({**costs, "p2p": str(self.latency), "occupancy": str(self.occupancy)})

    def duration(self, group):
        return sum((self.of.get(step[0], Fraction(0)) for step in group), Fraction(0))


def queue_of(step, model):
    kind, _, _, peer = step
    return {"stream": 0, "pair": peer}.get(model, (peer, kind.startswith("SEND")))


def other_side(lists, rank, step):
    kind, stage, microbatch, _ = step
    ahead = kind in ("SEND_F", "RECV_B")
    word = kind.replace("SEND", "RECV") if kind.startswith("SEND") else kind.replace("RECV", "SEND")
    return (word, stage + (1 if ahead else -1), microbatch, rank)


def check_link(lists, costs, model, before, link):
    """What is wrong with a link of a path, or None."""
    rank, position, reason = link["rank"], link["position"], link["reason"]
    group = lists.ranks[rank][position]
    start, end, latency = (exact(link, key) for key in ("start", "end", "latency"))
    computes = group[0][0] in COMPUTE
    if group[0][0] not in P2P and end - start != costs.duration(group):
        return "duration"
    if before is None:
        return None if reason == "first" and start == 0 else "does not begin at the start"
    if exact(before, "end") + latency != start:
        return "not where the link before ends"
    if latency and reason not in ("data", "edge"):
        return "latency without a way"
    source_rank, source_position = before["rank"], before["position"]
    source = lists.ranks[source_rank][source_position]
    own = [i for i in range(position) if lists.ranks[rank][i][0][0] in COMPUTE]
    if group[0][0] in FSDP and reason == "queue":
        collectives = [i for i in range(position) if lists.ranks[rank][i][0][0] in FSDP]
        good = source_rank == rank and collectives and collectives[-1] == source_position
    elif reason == "gather":
        stages = {step[1] for step in group}
        gathers = [i for i in range(position)
                   if lists.ranks[rank][i][0][0] == "UNSHARD" and lists.ranks[rank][i][0][1] in stages]
        good = computes and source_rank == rank and source_position in gathers
    elif reason == "edge" and computes:
        # Results that have kept the edge busy one after the other, that of the link before the first.
        busy = [step for i in range(source_position, len(lists.ranks[source_rank]))
                for step in lists.ranks[source_rank][i] if lists.receiver(source_rank, step) == rank]
        wanted = {(lists.supplier(step)[0], step[2], lists.supplier(step)[1])
                  for step in group if lists.supplier(step)}
        numbers = [i for i, step in enumerate(busy) if lists.result(step) in wanted]
        good = model is None and any(i > 0 and latency == i * costs.occupancy + costs.hop for i in numbers)
    elif reason == "edge":
        peers = {step[3] for step in group if step[0].startswith("SEND")}
        good = source_rank == rank and source_position <= position and any(
            step[0].startswith("SEND") and step[3] in peers for step in source)
    elif reason in ("order", "post"):
        wanted = computes if reason == "order" else not computes
        good = wanted and source_rank == rank and own and own[-1] == source_position
    elif reason == "data":
        good = computes and model is None and any(
            lists.supplier(step) and lists.result(made) == (lists.supplier(step)[0], step[2], lists.supplier(step)[1])
            for step in group for made in source)
        good = good and latency == (costs.hop if source_rank != rank else 0)
    elif reason == "receive":
        good = computes and source_rank == rank and any(
            step[0] in "FBI" and (("RECV_F" if step[0] == "F" else "RECV_B"), *step[1:3]) == made[:3]
            for step in group for made in source)
    elif reason == "queue":
        queues = {queue_of(step, model) for step in group} & {queue_of(step, model) for step in source}
        between = lists.ranks[rank][source_position + 1:position]
        good = source_rank == rank and source_position < position and any(
            not any(step[0] in P2P and queue_of(step, model) == queue for other in between for step in other)
            for queue in queues)
    elif reason == "peer":
        good = any(other_side(lists, rank, step) in source for step in group)
        good = good and source_rank in {step[3] for step in group}
    elif reason == "batch":
        good = (source_rank, source_position) == (rank, position) and len(group) > 1
    else:
        good = False
    return None if good else f"no such {reason}"


def replay(lists, costs):
    """Start of every group under free arrival."""
    left, starts = {}, [[None] * len(rank) for rank in lists.ranks]
    at, free = [0] * len(lists.ranks), [Fraction(0)] * len(lists.ranks)
    collectives, gathered, edges = [Fraction(0)] * len(lists.ranks), {}, {}
    moved = True
    while moved:
        moved = False
        for rank, groups in enumerate(lists.ranks):
            while at[rank] < len(groups):
                group = groups[at[rank]]
                kind, stage = group[0][:2]
                if kind in FSDP:
                    starts[rank][at[rank]] = max(free[rank], collectives[rank])
                    collectives[rank] = starts[rank][at[rank]] + costs.of[kind]
                    if kind == "UNSHARD":
                        gathered[rank, stage] = collectives[rank]
                elif kind in COMPUTE:
                    needs = [(lists.supplier(step)[0], step[2], lists.supplier(step)[1])
                             for step in group if lists.supplier(step)]
                    if any(need not in left for need in needs):
                        break
                    start = max([free[rank]] + [gathered.get((rank, step[1]), 0) for step in group])
                    for need in needs:
                        start = max(start, left[need] + (costs.hop if lists.rank_of(need[0], need[1]) != rank else 0))
                    starts[rank][at[rank]] = start
                    free[rank] = start + costs.duration(group)
                    for step in group:
                        if not lists.result(step):
                            continue
                        left[lists.result(step)] = free[rank]
                        to = lists.receiver(rank, step)
                        if to is not None:
                            leaves = max(free[rank], edges.get((rank, to), 0))
                            left[lists.result(step)] = leaves
                            edges[rank, to] = leaves + costs.occupancy
                else:
                    starts[rank][at[rank]] = free[rank]
                at[rank] += 1
                moved = True
    return starts


def check_replay(lists, costs, report):
    starts = replay(lists, costs)
    first, last = None, None
    for rank, groups in enumerate(lists.ranks):
        compute = [i for i, group in enumerate(groups) if group[0][0] in COMPUTE]
        timed = compute + [i for i, group in enumerate(groups)
                           if group[0][0] in FSDP and costs.duration(group)]
        begin = min(starts[rank][i] for i in timed)
        end = max(starts[rank][i] + costs.duration(groups[i]) for i in timed)
        work = sum(costs.duration(groups[i]) for i in compute)
        figures = report["ranks"][rank]
        for key, value in (("start", begin), ("end", end), ("work", work), ("gaps", end - begin - work)):
            if exact(figures, key) != value:
                return f"{key} of rank {rank} is {figures[key]}, replayed {value}"
        first = begin if first is None else min(first, begin)
        last = end if last is None else max(last, end)
    if exact(report, "makespan") != last - first:
        return f"makespan {report['makespan']}, replayed {last - first}"
    for link in report["critical_path"]:
        if exact(link, "start") != starts[link["rank"]][link["position"]]:
            return f"{link['step']} starts at {link['start']}, replayed otherwise"
    return None


def one(rng, folder):
    name, sizes = rng.choice([
        ("gpipe", (rng.randint(1, 5), rng.randint(1, 8))),
        ("one_f_one_b", (rng.randint(1, 6), rng.randint(1, 9))),
        ("eager_one_f_one_b", (rng.randint(2, 5), rng.randint(2, 9))),
        ("zb1p", (rng.randint(2, 5), rng.randint(2, 9))),
        ("zbh2", (rng.randint(2, 4), rng.randint(8, 10))),
        ("zbv", (rng.randint(2, 4), rng.randint(8, 10))),
        ("interleaved", (rng.randint(2, 4), 8)),
        ("looped_bfs", (rng.randint(2, 4), rng.randint(2, 6))),
        ("one_f_one_b_overlap", (rng.randint(2, 4), rng.randint(8, 10))),
        ("dualpipe", (4, 8)), ("dualpipev", (3, 8)), ("chimera", (4, 8))])
    model = rng.choice([None, "stream", "pair", "edge", "buffered"])
    costs = Costs(rng)
    profile = f"{folder}/costs.json"
    with open(profile, "w", encoding="utf-8") as file:
        file.write(costs.option())
    args = [name, f"-Dranks={sizes[0]}", f"-Dmicrobatches={sizes[1]}", f"--cost-profile={profile}"]
    fsdp = "inject-fsdp" if rng.random() < 0.4 else ""
    if fsdp and not model:
        args.append("--passes=inject-fsdp")
    if model:
        order = rng.choice(["simulate", "timed", "timed"])
        passes = f"insert-p2p{{order={order}}}"
        if rng.random() < 0.4 and order == "timed":
            passes += ",batch-p2p"
        if fsdp:
            passes = f"{fsdp},{passes}"
        args += [f"--passes={passes}", f"--model={model}"]
    words = " ".join(args)
    status, text, errors = pipec(*args, "--emit=report", "--format=json")
    if status:
        # Some orders do not end under some models; batches are refused where they would do harm.
        known = "deadlock" in errors or "batch" in errors or "outside" in errors or "require" in errors
        return None if known else f"{words}: {errors}"
    report = json.loads(text)
    _, ir, _ = pipec(*(arg for arg in args if "--model" not in arg), "--emit=ir")
    lists = Lists(ir)
    path = report["critical_path"]
    if not path or exact(path[-1], "end") != exact(report, "makespan"):
        return f"{words}: the path does not end with the schedule"
    for before, link in zip([None, *path], path):
        fault = check_link(lists, costs, report["model"], before, link)
        if fault:
            return f"{words}: {fault}: {before} -> {link}"
    if report["model"] is None:
        fault = check_replay(lists, costs, report)
        if fault:
            return f"{words}: {fault}"
    return len(path)


def main():
    runs = int(sys.argv[1])
    folder = sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    checked = links = 0
    for _ in range(runs):
        result = one(rng, folder)
        if isinstance(result, str):
            sys.exit(result)
        if result:
            checked += 1
            links += result
    print(f"{checked} of {runs} schedules checked, {links} links")


if __name__ == "__main__":
    main()
