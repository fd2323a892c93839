"""Random schedules, and step IR as plain Python lists.

A step is (kind, stage, micro-batch); an overlap or a batch is a tuple of steps in
a list `["overlap", ...]`. A list of a rank is a list of those.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import subprocess

COMPUTE = ("F", "B", "I", "W")


class Schedule:
    def __init__(self, ranks, stages, microbatches, maps, lists):
        self.ranks, self.stages, self.microbatches = ranks, stages, microbatches
        self.maps, self.lists = maps, lists
        self.settings = []  # further lines of the header

    def rank_of(self, stage, microbatch):
        direction = len(self.maps) == 2 and microbatch >= self.microbatches // 2
        return self.maps[direction][stage]

    def peer(self, step):
        kind, stage, microbatch = step
        return self.rank_of(stage + (1 if kind in ("SEND_F", "RECV_B") else -1), microbatch)

    def text(self):
        lines = ["pipec-steps 1",
                 f"schedule @random {{ ranks {self.ranks} stages {self.stages} "
                 f"microbatches {self.microbatches}"]
        lines += ["  map " + " ".join(map(str, row)) for row in self.maps]
        lines += ["  " + line for line in self.settings]
        for rank, steps in enumerate(self.lists):
            lines.append(f"  rank {rank} {{")
            lines += ["    " + self.step_text(step) for step in steps]
            lines.append("  }")
        return "\n".join(lines + ["}", ""])

    def step_text(self, step):
        if isinstance(step, list):
            between = " & " if step[0] == "overlap" else ", "
            return f"{step[0]} " + between.join(map(self.step_text, step[1:]))
        kind, stage, microbatch = step
        if kind == "bubble":
            return kind
        text = f"{kind} s{stage}"
        if microbatch is not None:
            text += f" m{microbatch}"
        if kind.startswith("SEND"):
            text += f" -> r{self.peer(step)}"
        if kind.startswith("RECV"):
            text += f" <- r{self.peer(step)}"
        return text


def members(step):
    return step[1:] if isinstance(step, list) else [step]


def taken(schedule, step):
    """What (kind of result, stage, micro-batch) a step takes from another stage."""
    kind, stage, microbatch = step
    if kind == "F" and stage > 0:
        return ("F", stage - 1, microbatch)
    if kind in ("B", "I") and stage + 1 < schedule.stages:
        return ("B", stage + 1, microbatch)
    return None


def left(step):
    """The result that a step leaves, if any."""
    kind, stage, microbatch = step
    if kind in ("F", "B", "I"):
        return ("F" if kind == "F" else "B", stage, microbatch)
    return None


def random_schedule(rng, overlaps=True, splits=True, fsdp=False, bubbles=False):
    """A schedule whose order can run, and is otherwise anything."""
    ranks = rng.randint(1, 5)
    microbatches = rng.randint(1, 6)
    if rng.random() < 0.2:
        stages = ranks
        microbatches = 2 * rng.randint(1, 3)
        maps = [list(range(ranks)), list(range(ranks))[::-1]]
        if ranks % 2:
            maps = maps[:1]
    else:
        stages = ranks * rng.randint(1, 3)
        row = list(range(ranks)) + [rng.randrange(ranks) for _ in range(stages - ranks)]
        kind = rng.random()
        if kind < 0.4:
            row = [s % ranks for s in range(stages)]
        elif kind < 0.6:
            row = [s % ranks if s // ranks % 2 == 0 else ranks - 1 - s % ranks
                   for s in range(stages)]
        else:
            rng.shuffle(row)
        maps = [row]
    schedule = Schedule(ranks, stages, microbatches, maps, [[] for _ in range(ranks)])

    split = {(s, m): splits and rng.random() < 0.4
             for s in range(stages) for m in range(microbatches)}
    ready = {("F", 0, m) for m in range(microbatches)}
    eager = rng.random()  # how much the order likes backwards

    def follow(step):
        kind, stage, microbatch = step
        if kind == "F":
            if stage + 1 < stages:
                ready.add(("F", stage + 1, microbatch))
            else:
                ready.add(("I" if split[stage, microbatch] else "B", stage, microbatch))
        elif kind in ("B", "I"):
            if kind == "I":
                ready.add(("W", stage, microbatch))
            if stage > 0:
                ready.add(("I" if split[stage - 1, microbatch] else "B", stage - 1, microbatch))

    while ready:
        pool = sorted(ready)
        later = [step for step in pool if step[0] != "F"]
        step = rng.choice(later if later and rng.random() < eager else pool)
        rank = schedule.rank_of(*step[1:])
        group = [step]
        if overlaps and rng.random() < 0.2:
            others = [s for s in pool if s != step and schedule.rank_of(*s[1:]) == rank]
            rng.shuffle(others)
            group += others[:rng.choice((1, 1, 1, 2))]
        for one in group:
            ready.remove(one)
        for one in group:
            follow(one)
        if bubbles and rng.random() < 0.2:
            schedule.lists[rank].append(("bubble", 0, None))
        if fsdp and rng.random() < 0.2:
            kind = rng.choice(("UNSHARD", "RESHARD", "REDUCE_GRAD"))
            schedule.lists[rank].append((kind, step[1], None))
        schedule.lists[rank].append(group[0] if len(group) == 1 else ["overlap"] + group)
    return schedule


def shuffled(rng, schedule):
    """The same schedule with a few steps of its lists out of place."""
    lists = [list(steps) for steps in schedule.lists]
    for _ in range(rng.randint(1, 4)):
        steps = rng.choice(lists)
        if len(steps) > 1:
            i = rng.randrange(len(steps) - 1)
            j = rng.randrange(len(steps))
            steps[i], steps[j] = steps[j], steps[i]
    return Schedule(schedule.ranks, schedule.stages, schedule.microbatches, schedule.maps, lists)


def run_passes(schedule, passes, verify=None):
    """The text that pipec-opt prints, or None and its messages when it fails."""
    command = ["pipec-opt", "--show-kinds", f"--passes={passes}", "-"]
    if verify:
        command.append(f"--verify={verify}")
    result = subprocess.run(command, input=schedule.text(), capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: status {result.returncode}\n{schedule.text()}"
                         + result.stderr)
    if result.returncode == 1:
        assert not result.stdout, result.stdout
        assert "error:" in result.stderr, result.stderr
        return None, result.stderr
    return result.stdout, result.stderr


STEP = re.compile(r"(\w+)(?: s(\d+))?(?: m(\d+))?")


def read_lists(text):
    """The lists of step IR as the functions above have them."""
    lists = []
    for line in text.splitlines()[2:]:
        line = line.strip()
        if line.startswith("rank "):
            lists.append([])
        elif line and line[0] not in "}" and not line.startswith(("map", "param", "cost", "memory")):
            word = line.split()[0]
            group = word in ("overlap", "batch")
            parts = re.split(r" & |, ", line[len(word):].strip()) if group else [line]
            steps = []
            for part in parts:
                kind, stage, microbatch = STEP.match(part).groups()
                steps.append((kind, int(stage or 0),
                              int(microbatch) if microbatch is not None else None))
            lists[-1].append([word] + steps if group else steps[0])
    return lists
