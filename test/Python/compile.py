# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""pipec.compile: the schedule is what pipec prints, read without NumPy."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import re
import subprocess
import sys

# Nothing but the standard library is needed.
sys.modules["numpy"] = sys.modules["torch"] = None

import pipec
from pipec import Kind, Step


def output(*words):
    return subprocess.run(["pipec", *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


assert pipec.__version__ == output("--version").split()[1]

# The kinds are those of the compiler.
table = (pathlib.Path(__file__).parents[2] / "lib/Support/Steps.def").read_text()
kinds = re.findall(r'^PIPEC_[A-Z_]+\(\w+, "(\w+)"', table, re.M)
assert sorted(map(str.upper, kinds)) == sorted(Kind.__members__), kinds

# Sizes, steps, text.
plain = pipec.compile("one_f_one_b", ranks=2, microbatches=3)
assert (plain.name, plain.ranks, plain.stages, plain.microbatches) == ("one_f_one_b", 2, 2, 3)
assert plain.params == {"p": 2, "m": 3, "s": 1}
assert plain.stage_to_rank == [0, 1] and plain.stages_of(1) == [1]
assert not plain.forward_only
laid = pipec.compile("one_f_one_b", ranks=2, microbatches=2, args=["--layout=Ett|tL"])
assert laid.layout == "Et*2|tL" and plain.layout is None and laid.report().layout == laid.layout
assert plain.diagnostics == ()
assert repr(plain) == "<pipec.Schedule one_f_one_b: 2 ranks, 2 stages, 3 micro-batches>"
assert (plain.slices, plain.units) == (1, 3)
order = [(Kind.F, 0), (Kind.B, 0), (Kind.F, 1), (Kind.B, 1), (Kind.F, 2), (Kind.B, 2)]
assert repr(plain.steps[1]).startswith("<6 steps of stage 1: F0, B0, "), plain.steps[1]
assert plain.makespan == plain.report().makespan
assert plain.steps[1] == tuple(Step(kind, 1, m, -1, i) for i, (kind, m) in enumerate(order))
assert plain.csv == output("one_f_one_b", "-Dranks=2", "-Dmicrobatches=3", "--emit=csv")
assert plain.ir == output("one_f_one_b", "-Dranks=2", "-Dmicrobatches=3", "--emit=ir")


# Texts, with any further argument.
again = pipec.Schedule.from_csv(plain.csv, name="mine")
assert again.name == "mine" and again.csv == plain.csv and pipec.Schedule.from_csv(plain.csv).name == "csv"
assert pipec.Schedule.from_csv("0F0,0BW0\n", args=["--dialect=torch-2.5"]).csv == "0F0,0B0\n"
assert pipec.Schedule.from_steps(plain.ir).ir == plain.ir
for wrong, text in ("a b", "is not a name"), ("../a", "is not a name"), ("", "is not a name"):
    try:
        pipec.Schedule.from_csv(plain.csv, name=wrong)
        raise AssertionError("a name that is not one")
    except ValueError as error:
        assert text in str(error)


def cells(schedule):
    """The CSV of a schedule, made of its steps."""
    rows = []
    for steps in schedule.steps:
        groups = {}
        for s in steps:
            text = "" if s.kind == Kind.BUBBLE else f"{s.stage}{s.kind}" + (str(s.microbatch) if s.microbatch >= 0 else "")
            groups.setdefault(s.group, []).append(text)
        rows.append(",".join(f"({g[0]};{g[1]})OVERLAP_F_B" if len(g) == 2 else g[0] for g in groups.values()))
    return "\n".join(rows) + "\n"


# Every kind of step, for every schedule of the library.
seen = set()
tried = 0
for name in pipec.library():
    for target in None, "torch", "torch-timed":
        sizes = {"ranks": 4, "microbatches": 8} if name != "dualpipe" else {"ranks": 4, "microbatches": 8}
        try:
            schedule = pipec.compile(name, target=target, **sizes)
        except pipec.CompileError as error:
            assert target and {d.kind for d in error.errors} <= {"TargetBidirectional", "TargetGroup"}, (name, error)
            continue
        seen |= {step.kind for steps in schedule.steps for step in steps}
        for rank, steps in enumerate(schedule.steps):
            for step in steps:
                if step.peer >= 0:
                    # The peer holds the next stage or the one before.
                    step_to = step.stage + (1 if step.kind in (Kind.SEND_F, Kind.RECV_B) else -1)
                    assert step.peer == schedule.stage_to_rank[step_to], (name, rank, step)
        if "_bf" not in name:
            assert cells(schedule) == schedule.csv, (name, target)
        tried += 1
assert tried > 40, tried
extra = {Kind.R, Kind.OFFLOAD, Kind.WAIT_OFFLOAD, Kind.RELOAD, Kind.UPDATE}
assert seen >= set(Kind) - {Kind.BUBBLE, Kind.REDUCE_TIED} - extra, seen
objects = pipec.compile(pathlib.Path(__file__).parents[1] / "IRGen/objects.pipe")
assert {step.kind for step in objects.steps[0]} == {Kind.F, Kind.B} | extra and cells(objects) == objects.csv
assert repr(objects.steps[0][1:2]) == "(OFFLOAD s0 m0,)" and repr(objects.steps[0][-1]) == "UPDATE s0", objects.steps[0]
assert repr(objects.steps[0]).startswith("<18 steps: F s0 m0, OFFLOAD s0 m0, "), objects.steps[0]
assert pipec.Schedule.from_steps(objects.steps, stages=4).steps == objects.steps
report = objects.report()
assert [rank.host for rank in report.ranks] == [2, 2] and report.ranks[0].peak == 2.2 and report.host == 2, report.ranks[0]
assert objects.simulate().kind[1] == Kind.OFFLOAD and plain.report().ranks[0].host == 0
assert Kind.BUBBLE in {s.kind for s in pipec.compile("one_f_one_b", passes="align-bubbles").steps[1]}

# Batches and overlaps share a group; a second direction has a map.
batched = pipec.compile("one_f_one_b", ranks=2, microbatches=3, passes="insert-p2p,batch-p2p").steps[0]
pairs = [(a, b) for a, b in zip(batched, batched[1:]) if a.group == b.group]
assert pairs and all({a.kind, b.kind} == {Kind.SEND_F, Kind.RECV_B} for a, b in pairs), pairs
both = pipec.compile("chimera", ranks=2, microbatches=4)
assert both.maps == [[0, 1], [1, 0]] and both.stages_of(0) == [0, 1]

# A stage graph has edges, and transfers on those that a chain does not have name
# the other stage.
assert batched[0].other == -1 and both.edges == [(0, 1)]
skip = pipec.compile("gpipe", ranks=3, microbatches=1, passes="insert-p2p,insert-waits", args=["--connect=0->2"])
assert skip.edges == [(0, 1), (0, 2), (1, 2)]
assert [(str(s.kind), s.peer, s.other) for s in skip.steps[0]] == [
    ("F", -1, -1), ("SEND_F", 1, 1), ("SEND_F", 2, 2), ("RECV_B", 2, 2), ("RECV_B", 1, 1), ("B", -1, -1),
    ("WAIT_SEND_F", -1, 1), ("WAIT_SEND_F", -1, 2)], skip.steps[0]
assert pipec.compile("gpipe", ranks=3, microbatches=1, args=["--graph=0->2,1->2"]).edges == [(0, 2), (1, 2)]

# A CSV takes the sizes that it must have; what was lowered stays.
lowered = pipec.compile("zb1p", ranks=2, microbatches=4, target="torch")
assert [d.kind for d in lowered.diagnostics] == ["TargetSplitBackward"]
lowered.write_csv("zb1p.csv")
again = pipec.compile("zb1p.csv", stages=2, microbatches=4, target="torch")
assert again.csv == lowered.csv
assert lowered.torch_config["microbatches"] == 4
assert "exec_order" in plain.emit("hyperparallel")
assert "zero" in pipec.describe("zb1p").lower()

# Names of step IR are any text.
STEPS = """pipec-steps 1
schedule @%s { ranks 1 stages 1 microbatches 1
  param %s = -2, m = 1
  map 0
  rank 0 {
    "F s0 m0":
      F s0 m0
      B s0 m0
  }
}
"""
for written, name in [('"two words"', "two words"), ('"tw-o"', "tw-o"), ('"a,b"', "a,b"), ('"a=b"', "a=b"), ('"a = 1, b"', "a = 1, b"),
                      (r'"q\"\\\0A"', 'q"\\\n'), (r'"\C3\A9"', "é"), (r'"a\FFb"', r"a\xffb"), ('"1 { ranks 3"', "1 { ranks 3")]:
    with open("named.steps", "w") as file:
        file.write(STEPS % (written, written))
    named = pipec.compile("named.steps")
    assert (named.name, named.params) == (name, {name: -2, "m": 1}), (written, named.name, named.params)
    assert len(named.steps[0]) == 2 and named.ranks == 1
    assert named.csv == "0F0,0B0\n"

# Costs, in three ways.

def makespan(**options):
    timed = pipec.compile("one_f_one_b", ranks=2, microbatches=4, passes="simulate", **options)
    return json.loads(timed.emit("report", "--format=json"))["makespan"]


with open("costs.json", "w") as file:
    file.write('{"F": 0.5, "B": 2}\n')
given = makespan(cost={"F": 0.5, "B": 2})
assert given == makespan(cost="F=0.5,B=2") == makespan(profile="costs.json") == makespan(args=["--cost=F=1/2,B=2"])
assert given != makespan()
assert makespan(cost={"F": 1e-5, "B": "1/3"}) == makespan(cost="F=0.00001,B=1/3")
for wrong in {"F": True}, {"F": None}:
    try:
        makespan(cost=wrong)
        raise AssertionError(wrong)
    except TypeError as problem:
        assert "cost F" in str(problem)

# Without PyTorch there is no pipec.torch; other names there never are.
try:
    pipec.torch
    raise AssertionError("pipec.torch without PyTorch")
except ImportError:
    pass
assert not hasattr(pipec, "tensorflow")
