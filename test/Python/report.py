# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Reports and times as objects, with all that the JSON has, without NumPy."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import array
import dataclasses
import json
import sys
from fractions import Fraction

sys.modules["numpy"] = sys.modules["pandas"] = None

import pipec
from pipec import Kind, _report

plain = pipec.compile("one_f_one_b", ranks=2, microbatches=3)
report = plain.report()
assert (report.makespan, report.span, report.work, report.peak) == (12, 12, 18, 2)
assert report.bubble_makespan == 0.25 and report.params == {"p": 2, "m": 3, "s": 1} and report.model is None
assert [rank.idle for rank in report.ranks] == [3, 3] and report.ranks[0].memory.activations == 2
assert repr(report) == "<pipec.Report one_f_one_b: makespan 12, bubble 0.25, peak 2>", report
try:
    report.makespan = 1
    raise AssertionError("a report was changed")
except dataclasses.FrozenInstanceError:
    pass

# Costs of a report are not those of the schedule; figures are exact on request.
costs = {"F": 1, "p2p": Fraction(1, 3)}
assert plain.report(cost=costs).makespan == 40 / 3 and plain.report().makespan == 12
exact = plain.report(cost=costs, exact=True)
assert exact.makespan == Fraction(40, 3) and exact.ranks[0].waiting.latency == Fraction(2, 3)
assert exact.bubble_span == Fraction(13, 40) and isinstance(exact.ranks[0].start, Fraction)
assert plain.report(profile={"B": 5}).makespan == plain.report(cost={"B": 5}).makespan > 12
assert plain.report(cost={"F": 0.1, "B": 2}, exact=True).work == Fraction(63, 5)

# Transfers run under a model.
lowered = pipec.compile("one_f_one_b", ranks=2, microbatches=3, passes="insert-p2p,insert-waits", cost={"p2p": 1})
assert lowered.report().model == "edge" and lowered.report(model="stream").model == "stream"
for call in lowered.report, lowered.simulate:
    try:
        call(model="telepathy")
        raise AssertionError("a model that there is not")
    except pipec.CompileError as error:
        assert "telepathy" in str(error)

# The fields are those of the JSON, both ways, in every class.
seen = {}


def compare(data, value):
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(value)}
    keys = {key for key in data if not key.endswith("_exact")}
    assert keys <= set(fields), (type(value), keys - set(fields))
    assert all(fields[key].default is None for key in set(fields) - keys), (type(value), set(fields) - keys)
    seen.setdefault(type(value), set()).update(keys)
    for key in keys:
        given, made = data[key], getattr(value, fields[key].name)
        if isinstance(made, tuple):
            assert len(given) == len(made)
            for each in zip(given, made):
                if dataclasses.is_dataclass(each[1]):
                    compare(*each)
                else:
                    assert each[0] == each[1], (type(value), key)
        elif dataclasses.is_dataclass(made):
            compare(given, made)
        else:
            assert given == made, (type(value), key)


with open("streams.steps", "w") as file:
    file.write("pipec-steps 2\nschedule @s { ranks 1 stages 2 microbatches 1\n  map 0 0\n  stream network 1\n  rank 0 {\n"
               "    F s0 m0\n    F s1 m0\n    B s1 m0\n    B s0 m0\n  }\n}\n")
streams = pipec.compile("streams.steps")
assert [(stream.name, stream.stages) for stream in streams.report().streams] == [("network", (1,))]
limited = {"memory": {"receive": 0.5, "limit": 4, "limits": {"0": 5}, "parameters": 1}}
for schedule, options in ((plain, {}), (plain, {"profile": limited}), (lowered, {}), (streams, {}),
                          (pipec.compile("zb1p", ranks=4, microbatches=8, target="torch"), {"cost": "F=1/3", "model": "stream"}),
                          (pipec.compile("gpipe", ranks=3, microbatches=2, args=["--connect=0->2"]), {})):
    words = ["--format=json", *(["--model=stream"] if "model" in options else [])]
    words += [f"--cost={options['cost']}"] if "cost" in options else []
    if "profile" in options:
        with open("profile.json", "w") as file:
            json.dump(options["profile"], file)
        words.append("--cost-profile=profile.json")
    compare(json.loads(schedule.emit("report", *words)), schedule.report(**options))
classes = {kind for kind in vars(_report).values() if dataclasses.is_dataclass(kind)}
# Only the run of a search has the transfers that it placed, and step IR does not keep them.
assert set(seen) | {_report.PlacedTransfers} == classes, classes - set(seen)
for kind, keys in seen.items():
    assert {field.name.rstrip("_") for field in dataclasses.fields(kind)} == keys, (kind, keys)
graph = pipec.compile("gpipe", ranks=3, microbatches=2, args=["--connect=0->2"])
assert [(edge.from_, edge.to) for edge in graph.report().stage_edges] == graph.edges and report.stage_edges is None

# Times: an element for each step, in the order of `steps`.
times = plain.simulate()
steps = [(rank, step) for rank, steps in enumerate(plain.steps) for step in steps]
assert len(times) == len(steps) == 12 and repr(times) == "<pipec.Times one_f_one_b: 12 steps, end 12>"
assert isinstance(times.start, array.array) and isinstance(times.kind, array.array)
for number, (rank, step) in enumerate(steps):
    assert (times.rank[number], times.position[number]) == (rank, step.group)
    assert tuple(getattr(times, name)[number] for name in ("kind", "stage", "microbatch", "peer", "other")) == (
        step.kind, step.stage, step.microbatch, step.peer, step.other)
assert times.phases == ("warmup", "steady", "cooldown") and times.phase[0] == 0
assert list(times.start[:6]) == [0, 1, 4, 6, 7, 10] and list(times.end[:6]) == [1, 2, 6, 7, 9, 12]
third = plain.simulate(cost=costs)
assert third.ticks_per_unit == 3 and max(third.end_ticks) == 40 and max(third.end) == 40 / 3
busy = sum(end - start for rank, start, end in zip(third.rank, third.start_ticks, third.end_ticks) if rank == 1)
assert Fraction(busy, 3) == plain.report(exact=True).ranks[1].work
for schedule in lowered, graph, pipec.compile("dualpipev", ranks=2, microbatches=4, target="torch"):
    times = schedule.simulate()
    kinds = [int(step.kind) for steps in schedule.steps for step in steps]
    assert list(times.kind) == kinds and list(times.other) == [step.other for steps in schedule.steps for step in steps]
    assert max(times.end) == schedule.report().makespan and min(times.start) == 0
    assert all(start <= end for start, end in zip(times.start, times.end))
assert lowered.simulate(model="stream").model == "stream" and plain.simulate().model is None
idle = pipec.compile("one_f_one_b", passes="align-bubbles").simulate()
assert Kind.BUBBLE in idle.kind

# pandas is named where it is needed.
for call in plain.to_dataframe, times.to_dataframe, report.to_dataframe, pipec.compare(ranks=2, microbatches=4, top=1).to_dataframe:
    try:
        call()
        raise AssertionError("a data frame without pandas")
    except pipec.PackageNotFound as error:
        assert error.name == "pandas" and "pip install pandas" in str(error), error
