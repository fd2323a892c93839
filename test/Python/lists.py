# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Schedules of lists of steps in Python."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

sys.modules["numpy"] = None

import pipec
from pipec import Kind, Schedule

LISTS = [["F0", "F1", "B0", "B1"], ["F0", "B0", "F1", "B1"]]
plain = Schedule.from_steps(LISTS)
assert plain.csv == pipec.compile("one_f_one_b", ranks=2, microbatches=2).csv
assert (plain.name, plain.stages, plain.microbatches, plain.maps) == ("steps", 2, 2, [[0, 1]])



def refused_edges(edges):
    try:
        Schedule.from_steps(LISTS, edges=edges)
    except pipec.CompileError as error:
        return error.errors
    raise AssertionError(edges)


# Every form of a step, and generators.
forms = [["0F0", "F s0 m1", (Kind.B, 0, 0), ("B", 0, 1)], (word for word in ["F0", [("B", 1, 0), "F1"][0], "1F1", "B s1 m1"])]
assert Schedule.from_steps(forms).csv == plain.csv
assert Schedule.from_steps([["F0", None, "B0"]], name="idle time").csv == "0F0,,0B0\n"
assert Schedule.from_steps([["F0", None, "B0"]], name='q"é\\').name == 'q"é\\'

# Groups are overlaps or batches.
overlapped = Schedule.from_steps([["F0", ("F1", "B0"), "B1"]])
assert overlapped.csv == "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n", overlapped.csv
moved = [["F0", "SEND_F0", "F1", ["SEND_F1", "RECV_B0"], "B0", "RECV_B1", "B1"],
         ["RECV_F0", "F0", "B0", ["SEND_B0", "RECV_F1"], "F1", "B1", "SEND_B1"]]
assert "batch SEND_F s0 m1 -> r1, RECV_B s0 m0 <- r1" in Schedule.from_steps(moved).ir

# Placements, sizes, costs, targets.
for placement in "loop", "v", [0, 1, 1, 0]:
    where = [0, 1, 0, 1] if placement == "loop" else [0, 1, 1, 0]
    lists = [[f"{stage}F0" for stage in range(4) if where[stage] == rank]
             + [f"{stage}B0" for stage in reversed(range(4)) if where[stage] == rank] for rank in range(2)]
    made = Schedule.from_steps(lists, stages=4, placement=placement)
    assert made.stage_to_rank == where and made.stages == 4, placement
assert Schedule.from_steps(lists, placement=[0, 1, 1, 0]).stages == 4
assert Schedule.from_steps([["F0"]]).forward_only and not plain.forward_only
assert Schedule.from_steps(LISTS, cost={"F": 1, "B": 3}).report().makespan == 12 == plain.report(profile={"F": 1, "B": 3}).makespan
assert Schedule.from_steps(LISTS, target="torch").lint().safe["stream"]
assert Schedule.from_steps([["F0", "B0"], ["F0", "B0"], ["F0", "B0"]], edges=[(0, 2), (1, 2)]).edges == [(0, 2), (1, 2)]

# What compile makes can be taken apart and put together: every schedule of the
# library, with all that is inserted.
for name in pipec.library():
    for target in None, "cpp":
        made = pipec.compile(name, ranks=4, microbatches=8, target=target)
        assert Schedule.from_steps(made.steps, placement=made.maps).steps == made.steps, (name, target)
skip = pipec.compile("gpipe", ranks=3, microbatches=1, passes="insert-p2p,insert-waits", args=["--connect=0->2"])
assert Schedule.from_steps(skip.steps, edges=skip.edges).steps == skip.steps
fsdp = pipec.compile("zb1p", ranks=2, microbatches=2, target="torch")
assert {Kind.UNSHARD, Kind.REDUCE_GRAD} <= {step.kind for step in fsdp.steps[0]}
assert Schedule.from_steps(fsdp.steps).steps == fsdp.steps

assert Schedule.from_steps(plain.steps, edges=plain.edges, name=plain.name).ir == plain.ir
assert Schedule.from_steps([["F0", "B0"]], edges=[]).edges == []
assert refused_edges([(1, 0)]) and refused_edges([(0, 5)])

# What is wrong with the schedule is said by the compiler, at the step.


def refused(*args, **keywords):
    try:
        Schedule.from_steps(*args, **keywords)
    except pipec.CompileError as error:
        return error.errors
    raise AssertionError(args)


late, = refused([["F0", "F1", "B0", "B1"], ["B0", "F0", "F1", "B1"]])
assert (late.kind, late.rank, late.position, late.file) == ("StepTooEarly", 1, 0, "<source>"), late
assert late.excerpt == "    B s1 m0\n    ^~~~~~~\n", late.excerpt
assert "missing 1 of 3 forwards" in refused(LISTS, microbatches=3)[0].message
assert refused([["F0", "B0"], ["F0", "B0", "SEND_F0"]])[0].rank is None
assert refused([["F0", "RECV_F0", "B0"]])
assert refused([["0F0", "0B0"], ["1F0", "1B0"]], placement=[0, 2])
assert refused([["F0", "0F0", "B0"]])
assert refused(LISTS, target="trch")
# Transfers that wait for each other are said by `lint`, and by what runs the lists.
stuck = Schedule.from_steps([["F0", "RECV_B0", "SEND_F0", "B0"], ["RECV_F0", "F0", "B0", "SEND_B0"]])
assert not stuck.lint()
try:
    stuck.report(model="stream")
    raise AssertionError("a deadlock has a report")
except pipec.CompileError as problem:
    assert "deadlock" in str(problem), problem

# What is not a step is said before.
for lists, keywords, kind, text in (
        ([], {"stages": 2}, ValueError, "there are no lists of steps"),
        ([["x0"]], {}, ValueError, "rank 0 step 0: 'x0' is not a step"),
        ([["F0", "B0"], ["F0", "B-1"]], {}, ValueError, "rank 1 step 1: 'B-1' is not a step"),
        ([["F"]], {}, ValueError, "rank 0 step 0: F names no micro-batch"),
        ([[1.5]], {}, TypeError, "rank 0 step 0 is 1.5, not a step"),
        ([[("F", 0)]], {}, ValueError, "F names no micro-batch"),
        ([[("F", -7, 0)]], {}, ValueError, "F is of stage -7"),
        ([["F0", "B s0 m0 // c"]], {}, ValueError, "'B s0 m0 // c' has a comment"),
        (LISTS, {"edges": [(0, "1\n cost F = 7")]}, TypeError, "a stage in edges is"),
        (LISTS, {"microbatches": "2"}, TypeError, "microbatches is '2'"),
        ([[("Q", 0, 0)]], {}, ValueError, "is not a kind, a stage and a micro-batch"),
        ([[(99, 0, 0)]], {}, ValueError, "is not a kind, a stage and a micro-batch"),
        ([[[]]], {}, ValueError, "is an empty group"),
        ([["F0"]], {"stages": 2}, ValueError, "rank 0 step 0: F names no stage, and the rank has 2"),
        (LISTS, {"placement": "w"}, ValueError, "placement is 'w'"),
        (LISTS, {"placement": [0, 1], "stages": 3}, ValueError, "for 2 stages, not 3"),
        (plain.ir, {"stages": 2}, TypeError, "step IR has its own sizes")):
    try:
        Schedule.from_steps(lists, **keywords)
        raise AssertionError((lists, keywords))
    except kind as problem:
        assert text in str(problem), (text, problem)

# Slices: numbers are units, and those of step IR are of micro-batch and slice.
sliced = Schedule.from_steps([["F0", "F1", "B1", "B0"], [("F", 1, 0), "F s1 m0.1", "1B1", "B s1 m0.0"]], slices=2)
assert (sliced.microbatches, sliced.slices, sliced.units) == (1, 2, 2)
assert sliced.csv == pipec.compile("one_f_one_b", ranks=2, microbatches=1, slices=2).csv
for name in "seq1f1b", "zb1p", "interleaved_zb":
    made = pipec.compile(name, ranks=3, microbatches=6, slices=3)
    assert Schedule.from_steps(made.steps, placement=made.maps, slices=3).steps == made.steps, name
graph = Schedule.from_steps([["F0", "F1", "B1", "B0"]] * 3, edges=[(0, 2), (1, 2)], slices=2)
assert graph.edges == [(0, 2), (1, 2)] and graph.slices == 2
for wrong, lists in (0, [["F0", "B0"]]), (-1, [["F0", "B0"]]):
    try:
        Schedule.from_steps(lists, slices=wrong)
    except ValueError as error:
        assert str(error) == f"slices is {wrong}, not a positive number"
    else:
        raise AssertionError(wrong)
try:
    Schedule.from_steps([["F0", "F1", "B0", "B1"]], slices=2)
except pipec.CompileError as error:
    assert "m0.0" in error.errors[0].message, error.errors
else:
    raise AssertionError("backwards ascend")
