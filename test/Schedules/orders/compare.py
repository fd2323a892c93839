# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py [--all] NAME...: pipec's orders against rules.py, step for step.

Runs `pipec NAME` at every size of a grid. Where the rule gives an order, pipec
must give the same one in silence, on the same placement, and every `expect`
that it prints must be what the run of that order under those costs shows.
Where the rule refuses, pipec must end with status 1, one message, the failed
requirement, and nothing on its output.
"""
import os
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from orders.model import Run, Step, check, peak  # noqa: E402
from orders.rules import RULES  # noqa: E402

# Taken in turn, so that sizes and costs mix.
COSTS = [
    {},
    {"F": 10, "I": 12, "W": 7},
    {"F": 4, "I": 4, "W": 4, "pair": 10},
    {"F": 10, "I": 7, "W": 9, "p2p": 2},
    {"F": 3, "I": 2, "W": 1, "B": 3},
    {"F": 5, "I": 4, "W": 4, "pair": 9, "p2p": 0},
    {"F": 2, "I": 2, "W": 2, "pair": 5},
]


def sizes(name, everything):
    """(p, m, further parameters) in a fixed order."""
    _, extra = RULES[name]
    for p in range(1, 9):
        some = {1, 2, p - 1, p, p + 1, 2 * p - 2, 2 * p - 1, 2 * p, 2 * p + 1,
                3 * p - 1, 3 * p, 4 * p - 1, 4 * p}
        for m in range(1, 4 * p + 1):
            if "v" in extra and not everything and m not in some:
                continue
            for v in range(1, 5) if "v" in extra else [None]:
                groups = [None]
                if "group" in extra and v:
                    groups = sorted({max(1, p - 1), p, p + 1, 2 * p, m})
                    if not everything:
                        groups = [p if (m + v) % 2 else groups[m % len(groups)]]
                for group in groups:
                    for waves in range(1, 4) if "waves" in extra else [None]:
                        for pairs in [0, 1] if "middle_pairs" in extra else [None]:
                            for slices in some_slices(p, m, extra, everything):
                                more = {"v": v, "group": group, "waves": waves, "middle_pairs": pairs, "slices": slices}
                                yield p, m, {k: x for k, x in more.items() if x}


def some_slices(p, m, extra, everything):
    """Numbers of slices; one for a size, unless all are wanted."""
    if "slices" not in extra:
        return [None]
    numbers = sorted({1, 2, 3, p, 2 * p})
    return numbers if everything else [numbers[m % len(numbers)]]


def command(name, p, m, more, cost):
    labels = {"v": "chunks"}
    line = ["pipec", name, f"-Dranks={p}", f"-Dmicrobatches={m}"]
    line += [f"-D{labels.get(k, k)}={x}" for k, x in more.items()]
    line += ["--emit=ir", "--show-kinds", "-o", "-"]
    costs = []
    for key, value in cost.items():
        for name in ["F & B", "B & F"] if key == "pair" else [key]:
            costs.append(f"{name}={value}")
    return line + (["--cost", ",".join(costs)] if costs else [])


def parse(text):
    """Maps, steps and expectations of step IR."""
    place, ranks, expects, slices = [], [], [], 1
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "schedule" and "slices" in words:
            slices = int(words[words.index("slices") + 1])
        if words[0] == "map":
            place.append([int(w) for w in words[1:]])
        elif words[0] == "expect":
            expects.append((words[1], words[2], Fraction(words[3])))
        elif words[0] == "rank":
            ranks.append([])
        elif words[0] in ("F", "B", "I", "W", "overlap"):
            members = line.replace("overlap", "").split("&")
            for k, member in enumerate(members):
                kind, stage, mb = member.split()
                mb, _, piece = mb[1:].partition(".")
                ranks[-1].append(Step(kind, int(stage[1:]), int(mb) * slices + int(piece or 0),
                                      k + 1 < len(members)))
    return place, ranks, expects


HOLDS = {"==": lambda a, b: a == b, "<=": lambda a, b: a <= b,
         ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, ">": lambda a, b: a > b}


def broken_expects(order, expects, cost):
    """The expectations that the order does not keep."""
    spell = {"pair": "FB", "p2p": "hop"}
    run = Run(order, **{spell.get(k, k): x for k, x in cost.items()})
    for metric, relation, value in expects:
        what, _, rank = metric.rstrip(")").partition("(")
        real = {"makespan": lambda: run.makespan, "span": lambda: run.span,
                "bubble_makespan": lambda: run.bubble(run.makespan),
                "bubble_span": lambda: run.bubble(run.span),
                "idle": lambda: run.idle(int(rank)),
                "peak": lambda: peak(order, int(rank))}[what]()
        if not HOLDS[relation](real, value):
            yield f"{metric} is {real}, not {relation} {value}"


def difference(want, got):
    if want.placement != got[0]:
        return f"placement {got[0]}"
    if len(want.ranks) != len(got[1]):
        return f"{len(got[1])} ranks"
    for rank, (a, b) in enumerate(zip(want.ranks, got[1])):
        for at in range(max(len(a), len(b))):
            x = a[at] if at < len(a) else None
            y = b[at] if at < len(b) else None
            if x != y:
                return f"rank {rank}, step {at}: {y} instead of {x}"
    return None


def compare(name, everything):
    rule, _ = RULES[name]
    accepted = refused = wrong = 0
    expected = set()
    for number, (p, m, more) in enumerate(sizes(name, everything)):
        cost = COSTS[number % len(COSTS)]
        line = command(name, p, m, more, cost)
        run = subprocess.run(line, capture_output=True, text=True)
        order = rule(p, m, **more)
        problems = []
        if isinstance(order, str):
            refused += 1
            errors = [e for e in run.stderr.splitlines() if " error: " in e]
            if run.returncode != 1 or run.stdout:
                problems.append(f"status {run.returncode} for a size to refuse: {order}")
            elif not errors or not all(e.endswith("[RequirementFailed]") for e in errors):
                problems.append(f"not refused by a requirement: {run.stderr}")
        elif run.returncode or run.stderr:
            problems.append(f"status {run.returncode}: {run.stderr}")
        else:
            accepted += 1
            check(order)
            got = parse(run.stdout)
            problem = difference(order, got)
            if problem:
                problems.append(problem)
            else:
                problems += broken_expects(order, got[2], cost)
                expected |= {e[0].partition("(")[0] for e in got[2]}
        for problem in problems:
            wrong += 1
            if wrong <= 10:
                print(" ".join(line) + ": " + problem)
    clocks = expected & {"makespan", "span", "idle"}
    if not accepted or not clocks or "peak" not in expected:
        wrong += 1
        print(f"{name} expects nothing of {'time' if not clocks else 'memory'}")
    print(f"{name}: {accepted} sizes equal, {refused} refused, {wrong} wrong")
    return wrong == 0


if __name__ == "__main__":
    args = sys.argv[1:]
    everything = "--all" in args
    names = [a for a in args if a != "--all"] or list(RULES)
    sys.exit(0 if all([compare(name, everything) for name in names]) else 1)
