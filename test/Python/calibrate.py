# RUN: rm -rf %t && mkdir %t && cd %t && %python %s %root/test/Calibrate
"""pipec.calibrate: traces become a profile that every function takes."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pipec

recorded = sorted(pathlib.Path(sys.argv[1], "Inputs/traces").glob("rank*.json.gz"))
assert len(recorded) == 4

# The same as the command, whatever the paths are.
found = pipec.calibrate(recorded, for_="one_f_one_b")
command = ["pipec", "calibrate", *map(str, recorded), "--for=one_f_one_b", "--format=json", "-o", "costs.json"]
data = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
assert found.profile == open("costs.json").read()


def same(data, value):
    """The fields of a result are the keys of the JSON."""
    fields = {field.name for field in dataclasses.fields(value)}
    keys = {key for key in data if not key.endswith("_exact")}
    assert fields - keys <= {"profile", "diagnostics"} and keys <= fields, (type(value), fields ^ keys)
    for key in keys:
        given, made = data[key], getattr(value, key)
        if isinstance(made, tuple):
            assert len(given) == len(made)
            for each in zip(given, made):
                same(*each) if isinstance(each[0], dict) else None
        elif dataclasses.is_dataclass(made):
            same(given, made)
        else:
            assert given == made, (type(value), key)


same(data, found)
assert (found.ranks, found.stages, found.microbatches, found.training_steps) == (4, 4, 8, 3), found
assert found.step_time.min < found.step_time.median < found.step_time.max and found.clocks == ()
figures = {(one.block, one.figure, one.of): one for one in found.figures}
first = figures["cost", "F", "stage 0"]
assert (first.value, first.samples, first.found_in) == (21.487, 24, "spans without waits"), first
assert "I, W: not in the traces" in found.left_out
assert repr(found) == ("<pipec.Calibration: 4 ranks, 4 stages, 8 micro-batches: 15 figures, 3 training steps "
                       "of 854.498 ms>"), repr(found)
assert repr(found.profile).startswith("<pipec.CostProfile: ")
page = found._repr_html_()
assert page.count("<tr>") == 16 and "<td>edge 0 -&gt; 1</td>" in page and "<li>I, W: not in the traces</li>" in page

# It is a profile: as an object, as its text, as what the text holds, and as a file.
found.write_profile("mine.json")
assert open("mine.json").read() == found.profile
plain = pipec.compile("one_f_one_b", ranks=4, microbatches=8)
makespan = json.loads(subprocess.run(["pipec", "one_f_one_b", "ranks=4", "microbatches=8", "--cost-profile=costs.json",
                                      "--emit=report", "--format=json"], stdout=subprocess.PIPE, check=True).stdout)["makespan"]
for profile in found, found.profile, json.loads(found.profile), "mine.json", pathlib.Path("mine.json"):
    made = pipec.compile("one_f_one_b", ranks=4, microbatches=8, profile=profile)
    assert made.report().makespan == plain.report(profile=profile).makespan == makespan, profile
    assert max(plain.simulate(profile=profile).end) == makespan
    assert pipec.Schedule.from_steps(plain.ir, profile=profile).report().makespan == makespan
assert pipec.render(plain, format="svg", profile=found) == pipec.render(plain, format="svg", profile="costs.json")
compared = pipec.compare(plain, ranks=4, microbatches=8, profile=found, parts=found.stages, library=False)
assert compared.best.makespan == makespan
best = pipec.search(ranks=4, microbatches=8, profile=found, effort=1)
assert best.bound <= best.makespan <= makespan and best.schedule.report(profile=found).makespan == best.makespan
assert pipec.check("one_f_one_b", ranks=4, profile=found.profile).schedules[0].sizes > 0


# Times that are known: a simulated run as an executor traces it.
def traced(schedule, path, factor=1, **costs):
    times = schedule.simulate(**costs)
    events = [{"ph": "M", "pid": rank + 1, "tid": rank + 1, "name": "process_name", "args": {"name": f"rank {rank}"}}
              for rank in range(schedule.ranks)]
    for rank, kind, stage, microbatch, start, end in zip(times.rank, times.kind, times.stage, times.microbatch,
                                                         times.start, times.end):
        kind, rank = str(pipec.Kind(kind)), int(rank) + 1
        args = {"kind": kind, "stage": int(stage), "microbatch": int(microbatch), "chunk": 0, "run": 0}
        events.append({"ph": "X", "pid": rank, "tid": rank, "ts": 1000.0 * factor * start,
                       "dur": 1000.0 * factor * (end - start), "cat": "compute", "name": f"{kind} s{stage} m{microbatch}",
                       "args": args})
    with gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w") as file:
        json.dump({"displayTimeUnit": "ns", "otherData": {"schedule": schedule.name}, "traceEvents": events}, file)
    return path


mine = pipec.compile("zb1p", ranks=3, microbatches=5)
costs = {"F": 10, "I": 13, "W": 6}
again = pipec.calibrate([traced(mine, "executor.json.gz", cost=costs)], for_=mine)
assert {(one.figure, one.value) for one in again.figures} == {("F", 10), ("I", 13), ("W", 6)}, again.figures
assert mine.report(profile=again).makespan == mine.report(cost=costs).makespan
assert again.step_time.median == mine.report(cost=costs).makespan
assert again.diagnostics == ()

# Clocks of two machines.
spans = pathlib.Path(sys.argv[1], "clocks.test").read_text().split("#--- two.spans\n")[1].split("#---")[0]
subprocess.run([sys.executable, f"{sys.argv[1]}/Inputs/kineto.py", "."], input=spans, text=True, check=True)
two = ["rank0.json", "rank1.json"]
same(json.loads(subprocess.run(["pipec", "calibrate", *two, "--format=json", "-o", "two.json"], stdout=subprocess.PIPE,
                               check=True).stdout), pipec.calibrate(two))
clock, = pipec.calibrate(two).clocks
assert (clock.rank, clock.known, clock.offset_ns, clock.interval_ns) == (1, True, 1001000, 10000), clock

# Parameters are those of the schedule, and its other sizes those of the traces.
waves = pipec.compile("hanayo", ranks=2, microbatches=4, waves=2)
traced(waves, "waves.json")
assert pipec.calibrate(["waves.json"], for_="hanayo", waves=2).stages == waves.stages
# A file is what it is, also when its name looks like an option or a size.
for name in "-dash.json", "a=b.json":
    os.replace(traced(mine, "new.json"), name)
    assert pipec.calibrate([name]).ranks == 3
one = pipec.calibrate(iter(recorded), ranks_of={path: rank for rank, path in enumerate(reversed(recorded))},
                      warmup=2, args=["-Wno-trace-steps"])
assert one.training_steps < found.training_steps


def refused(*given, **keywords):
    try:
        pipec.calibrate(*given, **keywords)
    except pipec.CompileError as error:
        assert error.errors and "pipec-" not in str(error), error
        return error.errors[0]
    raise AssertionError((given, keywords))


# What is wrong is said with the names of the caller.
open("broken.json", "w").write('{"traceEvents": [\n  {"ph": X}\n]}\n')
wrong = refused(["broken.json"])
assert (wrong.kind, wrong.file, wrong.line) == ("TraceSyntax", "broken.json", 2), wrong
assert "`none.json`" in refused(["none.json"]).message
assert refused([recorded[0], recorded[0]]).kind == "TraceRankTwice"
assert refused(recorded[1:]).kind == "TraceRankMissing"
assert refused(recorded, for_=mine).message == "the traces are of 4 ranks, but `zb1p` has 3"
wrong = refused(recorded, for_=pipec.compile("gpipe", ranks=4, microbatches=9))
assert wrong.kind == "TraceOtherSizes" and wrong.file == "<gpipe>", wrong
assert refused(recorded, for_="no_such").kind == "InputNotFound"
assert refused(recorded, for_="zb1p", depth=3).kind == "UnknownParameter"
assert refused(recorded, warmup=99).kind == "TraceTooFewSteps"
assert refused(recorded, args=["--no-such"]).kind == "UnknownOption"
assert refused(recorded, args=["-o", "elsewhere.json"]) and not os.path.exists("elsewhere.json")
# A profile that does not fit the schedule is named as what it is.
for profile in found, found.profile:
    try:
        pipec.compile("one_f_one_b", ranks=2, microbatches=8, profile=profile)
        raise AssertionError("stages that are not there")
    except pipec.CompileError as error:
        assert error.errors[0].file == "<profile>" and "outside 0..2" in error.errors[0].message, error

# Arguments of other types.
for kind, text, given, keywords in (
        (TypeError, "traces is 'a.json', not a list of files", "a.json", {}),
        (TypeError, "traces is b'a.json', not a list of files", b"a.json", {}),
        (TypeError, "traces is PosixPath('a.json'), not a list", pathlib.Path("a.json"), {}),
        (TypeError, "traces is 5, not a list", 5, {}),
        (TypeError, "traces is None, not a list", None, {}),
        (ValueError, "traces is empty", [], {}),
        (TypeError, "traces[0] is b'a.json', not a file", [b"a.json"], {}),
        (TypeError, "traces[1] is 5, not a file", ["a.json", 5], {}),
        (TypeError, "warmup is 1.5, not an integer", recorded, {"warmup": 1.5}),
        (TypeError, "warmup is True, not an integer", recorded, {"warmup": True}),
        (TypeError, "ranks_of['a.json'] is '0', not an integer", recorded, {"ranks_of": {"a.json": "0"}}),
        (TypeError, "ranks_of is ['a.json'], not a mapping", recorded, {"ranks_of": ["a.json"]}),
        (TypeError, "for_ is 5, not a file, a name of the library or a Schedule", recorded, {"for_": 5}),
        (TypeError, "waves has no effect without for_", recorded, {"waves": 2}),
        (TypeError, "parameter waves is 1.5", recorded, {"waves": 1.5, "for_": "hanayo"}),
        (TypeError, "args is '-Werror', not a list of texts", recorded, {"args": "-Werror"})):
    try:
        pipec.calibrate(given, **keywords)
        raise AssertionError((given, keywords))
    except kind as problem:
        assert text in str(problem), (text, problem)

# No file is left.
os.mkdir("temporary")
tempfile.tempdir = os.path.abspath("temporary")
pipec.calibrate(recorded, for_=plain)
refused(recorded[1:], for_=plain)
pipec.compile("one_f_one_b", ranks=4, microbatches=8, profile=found)
assert os.listdir("temporary") == [], os.listdir("temporary")
