# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %ortools-python %s | FileCheck %s
# REQUIRES: ortools
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optima that CP-SAT proves for small problems lie between the bounds and the makespans of
`pipec search`, `pipec order` and `insert-p2p{order=search}`. The problems are written from the
pages on these, without code of pipec. An argument gives other problems."""

# CHECK:      search: 16 problems, {{1[3-6]}} makespans optimal, {{[0-9]+}} known to be
# CHECK-NEXT: order: 16 problems, {{1[4-6]}} makespans optimal, {{[0-9]+}} known to be
# CHECK-NEXT: transfers: 18 problems, {{1[5-8]}} makespans optimal, {{[0-9]+}} known to be

import json
import pathlib
import random
import re
import subprocess
import sys

from ortools.sat.python import cp_model

SEED = sys.argv[1] if len(sys.argv) > 1 else 1
SCHEDULES = ("gpipe", "one_f_one_b", "eager_one_f_one_b", "zb1p", "zbv", "v_min", "looped_bfs", "interleaved_any")


class Problem:
    """Steps (kind, stage, micro-batch) with times that may depend on choices."""

    def __init__(self):
        self.model = cp_model.CpModel()
        self.makespan = self.time()
        self.starts, self.ends, self.intervals, self.split = {}, {}, {}, {}

    def time(self):
        return self.model.new_int_var(0, 4000, "")

    def choice(self):
        return self.model.new_bool_var("")

    def step(self, name, duration):
        """A compute step or a transfer; its time has at most one choice."""
        self.starts[name], self.ends[name] = self.time(), self.time()
        self.intervals[name] = self.model.new_interval_var(self.starts[name], duration, self.ends[name], "")
        self.model.add(self.makespan >= self.ends[name])

    def wait(self, later, earlier, away=0):
        self.model.add(self.starts[later] >= self.ends[earlier] + away)

    def run(self, lists):
        """Each list in its order."""
        for steps in lists:
            for earlier, later in zip(steps, steps[1:]):
                self.wait(later, earlier)

    def optimum(self):
        """The least makespan; None if there is none."""
        self.model.minimize(self.makespan)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        status = solver.solve(self.model)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
        return round(solver.objective_value) if status == cp_model.OPTIMAL else None


def judge(problem, bound, makespan):
    """Whether the makespan is optimal, and known to be."""
    optimum = problem.optimum()
    assert optimum is not None and bound <= optimum <= makespan, (bound, optimum, makespan)
    return makespan == optimum, makespan == bound


def pipec(*arguments):
    run = subprocess.run(["pipec", *map(str, arguments)], capture_output=True, text=True, check=False)
    # An order may need more memory than there is.
    assert run.returncode == 0 or "no order within the memory limit" in run.stderr, run.stderr
    return run.stdout


def costs_file(costs, **others):
    stages = {str(stage): row for stage, row in enumerate(costs)}
    pathlib.Path("costs.json").write_text(json.dumps({"stages": stages, **others}))
    return "--cost-profile=costs.json"


def read_lists(text):
    """The rank of each stage, and the compute steps of each rank."""
    ranks = [int(rank) for rank in re.search(r"^ *map (.*)", text, re.M)[1].split()]
    parts = re.split(r"^ *rank \d+ \{", text, flags=re.M)[1:]
    return ranks, [[(kind, int(stage), int(batch)) for kind, stage, batch in
                    re.findall(r"^ *([FBIW]) s(\d+) m(\d+)", part, re.M)] for part in parts]


def inputs(steps):
    """Pairs of steps of which the second needs the result of the first."""
    for kind, stage, batch in steps:
        sources = {"F": [("F", stage - 1)], "W": [("I", stage)]}.get(
            kind, [("F", stage), ("I", stage + 1), ("B", stage + 1)])
        for source in sources:
            if (*source, batch) in steps:
                yield (*source, batch), (kind, stage, batch)


def random_costs(rng, stages):
    return [{kind: rng.randint(1, 5) for kind in "FBIW"} for _ in range(stages)]


def library_lists(rng, batches):
    """Arguments for a schedule of the library, the costs of its stages, and what `read_lists` reads."""
    arguments = [rng.choice(SCHEDULES), f"ranks={rng.randint(2, 3)}", f"microbatches={batches}", "-Wno-split-cost"]
    ranks, lists = read_lists(pipec(*arguments, "--emit=ir"))
    return arguments, random_costs(rng, len(ranks)), ranks, lists


def list_problem(form, ranks, costs, early, p2p, batches, limit):
    """Any lists within a memory limit. A forward allocates 2, of which an I frees `early`. The
    backwards of mixed lists are either an I as long as a B and a W without a duration, or an I and a W."""
    problem = Problem()
    model, starts, ends = problem.model, problem.starts, problem.ends
    held = []
    for stage, rank in enumerate(ranks):
        cost = costs[stage]
        for batch in range(batches):
            forward, backward, weight = [(kind, stage, batch) for kind in "FIW"]
            problem.split[stage, batch] = split = problem.choice()
            if form != "mixed":
                model.add(split == (form == "split"))
            problem.step(forward, cost["F"])
            problem.step(backward, cost["B"] + (cost["I"] - cost["B"]) * split)
            problem.step(weight, cost["W"] * split)
            model.add(starts[weight] == ends[backward]).only_enforce_if(~split)
            for last, size in ((backward, early), (weight, 2 - early)):
                held.append((rank, model.new_interval_var(starts[forward], problem.time(), ends[last], ""), size))
    for earlier, later in inputs(starts):
        problem.wait(later, earlier, p2p if ranks[earlier[1]] != ranks[later[1]] else 0)
    for rank in set(ranks):
        model.add_no_overlap(problem.intervals[step] for step in starts if ranks[step[1]] == rank)
        model.add_cumulative(*zip(*[each[1:] for each in held if each[0] == rank]), limit)
    return problem


def search(rng):
    for form in ("split", "whole", "mixed", "best") * 4:
        placement, chunks, count = rng.choice((("loop", 1, 2), ("loop", 1, 3), ("loop", 2, 2), ("v", 2, 2)))
        batches, p2p, early = rng.randint(2, 4 // chunks + 1), rng.randint(0, 3), rng.randint(0, 1)
        limit, costs = 2 * rng.randint(chunks, chunks + 2), random_costs(rng, chunks * count)
        found = json.loads(pipec("search", "--ranks", count, "--microbatches", batches, "--chunks", chunks,
                                 "--placement", placement, "--backward", form, "--effort=1", "--memory-by=plain",
                                 "--memory-limit", limit, "-o", "found.steps", "--format=json", "-Wno-split-cost",
                                 costs_file(costs, p2p=p2p, memory={"F": 2, "I": -early})))
        ranks, lists = read_lists(pathlib.Path("found.steps").read_text())
        sizes = ranks, costs, early, p2p, batches, limit
        # The bound may be of fewer forms than were searched.
        covered = found["bound_covers"]
        for each in covered if "mixed" not in covered else ["mixed"]:
            assert found["bound"] <= list_problem(each, *sizes).optimum()
        # The lists fit, and run in this time, not in less.
        fixed = list_problem("mixed", *sizes)
        for kind, stage, batch in sum(lists, []):
            if kind != "F":
                fixed.model.add(fixed.split[stage, batch] == (kind != "B"))
        fixed.run([[(kind.replace("B", "I"), *rest) for kind, *rest in steps] for steps in lists])
        assert fixed.optimum() == found["makespan"]
        fixed.model.add(fixed.makespan < found["makespan"])
        assert fixed.optimum() is None
        problem = list_problem({"best": "mixed"}.get(form, form), *sizes)
        yield judge(problem, found["bound"] if form in covered or "mixed" in covered else 0, found["makespan"])


def order(rng):
    for _ in range(16):
        batches, p2p = rng.randint(4, 10), rng.randint(0, 3)
        arguments, costs, ranks, lists = library_lists(rng, batches)
        weights = [[rng.randint(1, 9) for _ in range(batches)] for _ in ranks]
        sizes, limit = [rng.randint(1, 5) for _ in range(batches)], rng.randint(15, 40)
        pathlib.Path("batch.json").write_text(json.dumps({"weights": weights, "sizes": sizes, "limit": limit}))
        problem = Problem()
        places = [[problem.choice() for _ in range(batches)] for _ in range(batches)]
        for each in places + list(zip(*places)):
            problem.model.add_exactly_one(each)
        for steps in lists:
            live = {}
            for kind, stage, batch in steps:
                duration = problem.time()
                weight = cp_model.LinearExpr.weighted_sum(places[batch], weights[stage])
                problem.model.add(duration == costs[stage][kind] * weight)
                problem.step((kind, stage, batch), duration)
                if kind == "F":
                    live[stage, batch] = cp_model.LinearExpr.weighted_sum(places[batch], sizes)
                    problem.model.add(sum(live.values()) <= limit)
                elif kind != "I":
                    del live[stage, batch]
        problem.run(lists)
        for earlier, later in inputs(problem.starts):
            problem.wait(later, earlier, p2p if ranks[earlier[1]] != ranks[later[1]] else 0)
        found = pipec("order", *arguments, costs_file(costs, p2p=p2p), "--weights=batch.json", "--format=json")
        if found:
            found = json.loads(found)
            yield judge(problem, found["bound"], found["makespan"])
        else:
            assert problem.optimum() is None
            yield True, True


def transfers(rng):
    for model in ("stream", "pair", "edge") * 6:
        arguments, costs, ranks, lists = library_lists(rng, rng.randint(3, 5))
        pairs = [(a, b) for a in set(ranks) for b in set(ranks) if a != b]
        edges = {pair: {"p2p": rng.randint(0, 4), "occupancy": rng.randint(1, 2)} for pair in pairs}
        report = pipec(*arguments, costs_file(costs, edges={f"{a} -> {b}": row for (a, b), row in edges.items()}),
                       f"--passes=insert-p2p{{order=search,model={model}}}", "--emit=report", "--format=json")
        found = json.loads(report)["transfers"]
        problem = Problem()
        for kind, stage, batch in sum(lists, []):
            problem.step((kind, stage, batch), costs[stage][kind])
        problem.run(lists)
        queues = {}
        for earlier, later in list(inputs(problem.starts)):
            edge = ranks[earlier[1]], ranks[later[1]]
            if edge[0] == edge[1]:
                problem.wait(later, earlier)
                continue
            transfer = earlier, later
            problem.step(transfer, sum(edges[edge].values()))
            problem.wait(transfer, earlier)
            problem.wait(later, transfer)
            for queue in {"stream": edge, "pair": [frozenset(edge)], "edge": [edge]}[model]:
                queues.setdefault(queue, []).append(problem.intervals[transfer])
        for queue in queues.values():
            problem.model.add_no_overlap(queue)
        yield judge(problem, found["bound"], found["makespan"])


def main():
    problem = Problem()
    for name in "FB":
        problem.step(name, 3)
    problem.run(["FB"])
    for wrong in ((5, 5), (7, 7), (6, 5), (7, 6)):
        try:
            judge(problem, *wrong)
        except AssertionError:
            continue
        raise SystemExit(f"{wrong} is not noticed")
    for part in (search, order, transfers):
        results = list(part(random.Random(f"{part.__name__} {SEED}")))
        optimal, known = map(sum, zip(*results))
        print(f"{part.__name__}: {len(results)} problems, {optimal} makespans optimal, {known} known to be", flush=True)


main()
