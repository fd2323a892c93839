# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""pipec.compare, check and search: their results have all that the JSON has."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import json
import subprocess

import pipec
from pipec import _check, _compare, _search

seen = {}


def same(data, value):
    """The fields of a result are the keys of the JSON, except those that it may lack."""
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(value)}
    keys = {key for key in data if not key.endswith("_exact")}
    assert keys <= set(fields), (type(value), keys - set(fields))
    seen.setdefault(type(value), set()).update(keys)
    for key in keys:
        given, made = data[key], getattr(value, fields[key].name)
        if isinstance(made, tuple):
            assert len(given) == len(made)
            for each in zip(given, made):
                same(*each) if isinstance(each[0], dict) else None
        elif isinstance(made, dict) and made and dataclasses.is_dataclass(next(iter(made.values()))):
            for name, item in made.items():
                same(given[name], item)
        elif dataclasses.is_dataclass(made):
            same(given, made)
        else:
            assert given == made, (type(value), key)


def output(*words):
    return json.loads(subprocess.run(["pipec", *words, "--format=json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True).stdout)


# Comparisons.
found = pipec.compare(ranks=2, microbatches=4, chunks=[2, 4], cost={"F": 1, "p2p": "1/3"}, memory_limit=2, search=1,
                      target=["torch", "torch-timed"], model="stream", sort="peak")
same(output("compare", "ranks=2", "microbatches=4", "chunks=2,4", "--cost=F=1,p2p=1/3", "--memory-limit=2", "--search=1",
            "--target=torch,torch-timed", "--model=stream", "--sort=peak"), found)
assert found.best is found.schedules[0] is next(iter(found)) and 0 < len(found) < len(found.schedules)
assert not found.schedules[-1].fits and found.schedules[-1].reason
assert {one.target for one in found} <= {"torch", "torch-timed", None} and any(one.search for one in found)
assert found.commands["pytorch"].commands and found.best.frameworks["pytorch"].runs_as == "csv"
assert f" fit, the best {found.best.name} with makespan {round(found.best.makespan, 4)}>" in repr(found)

# Given schedules: a name, a file, an object; parameters in ranges.
with open("mine.pipe", "w") as file:
    file.write("schedule mine(ranks p = 2, microbatches m = 3) { placement loop; steady { repeat m { F B } } expect makespan == 4; }\n")
mine = pipec.compile("mine.pipe", ranks=2, microbatches=4)
own = pipec.compare("hanayo", "mine.pipe", mine, ranks=2, microbatches=4, library=False, waves="1..2")
assert {one.name for one in own} == {"hanayo", "mine"} and {one.params.get("waves") for one in own} == {1, 2, None}
assert {one.file for one in own.schedules} >= {"mine.pipe"}
page = own._repr_html_()
assert page.count("<tr>") == len(own) + 1 and "<td>waves = 1</td>" in page and "<th>makespan</th>" in page

# Where nothing exists there is a result; a wrong option is an error.
two = pipec.compare("dualpipe", "one_f_one_b", ranks=4, microbatches=8, library=False)
same(output("compare", "dualpipe", "one_f_one_b", "ranks=4", "microbatches=8", "--no-library"), two)
assert two.best.frameworks["pytorch"].runs_as == "executor" and two.commands["pytorch"].executor.schedule.startswith("dualpipe")
none = pipec.compare("one_f_one_b", ranks=2, microbatches=4, library=False, memory_limit=0.1)
assert none.best is None and len(none.schedules) == 1
refused = pipec.compare("dualpipe", ranks=3, microbatches=4, library=False)
assert refused.best is None and not refused.schedules[0].fits and refused.diagnostics[-1].severity == "error", refused
assert refused.schedules[0].makespan is None and refused.schedules[0].frameworks == {} and repr(refused).endswith(": 0 of 1 fit>")
for wrong in {"sort": "beauty"}, {"args": ["--no-such"]}, {"model": "mail"}:
    try:
        pipec.compare(ranks=2, microbatches=4, **wrong)
        raise AssertionError(wrong)
    except pipec.CompileError as error:
        assert error.errors
try:
    pipec.compare("no_such_schedule", ranks=2, microbatches=4)
    raise AssertionError("compared nothing")
except pipec.CompileError as error:
    assert "no_such_schedule" in str(error)

# Checks.
good = pipec.check("one_f_one_b", "zbh2", ranks=[2, 4], microbatches="4..6", cost=["F=1", {"F": 2, "B": 3}])
assert good and [one.name for one in good.schedules] == ["one_f_one_b", "zbh2"] and good.schedules[0].costs == 2
assert good.schedules[0].sizes == 6 and good.schedules[1].refused[0].params
same(output("check", "one_f_one_b", "zbh2", "ranks=2,4", "microbatches=4..6", "--cost=F=1", "--cost=F=2,B=3"), good)
wrong = pipec.check("mine.pipe", mine, cost="p2p=1/3")
assert not wrong and [one.good for one in wrong.schedules] == [False, False]
failed = wrong.schedules[0].clauses[0].failed[0]
assert (failed.relation, failed.expected, failed.params, failed.rank) == ("==", 4, {"p": 2, "m": 3}, None), failed
assert wrong.diagnostics[0].file == "mine.pipe" and "expect makespan == 4;" in wrong.diagnostics[0].excerpt
assert wrong.schedules[1].file == "<mine>" == wrong.schedules[1].clauses[0].file, wrong.schedules[1]
same(output("check", "mine.pipe", "--cost=p2p=1/3")["schedules"][0], wrong.schedules[0])
for words in [], ["no_such_schedule"]:
    try:
        pipec.check(*words)
        raise AssertionError(words)
    except pipec.CompileError as error:
        assert error.errors

# Searches.
best = pipec.search(ranks=2, microbatches=4, cost={"F": 2, "I": 1, "W": 1, "p2p": 0.5}, memory_limit=2, effort=1, start=[mine, "zb1p"],
                    frontier=True, readable=True, certificate="best.proof")
assert best.optimal and best.reproducible and best.schedule.report().makespan == best.makespan == best.bound
assert best.schedule.ranks == 2 and "makespan 20, optimal" in repr(best) and open("best.proof").read()
same(output("search", "ranks=2", "microbatches=4", "--cost=F=2,I=1,W=1,p2p=0.5", "--memory-limit=2", "--effort=1", "--frontier",
            "--readable", "--start=mine.pipe", "--start=zb1p", "--certificate=again.proof"), best)
best = pipec.search(ranks=2, microbatches=4, parts=2, placement="best", minimize="memory", effort=1, backward="whole")
same(output("search", "ranks=2", "microbatches=4", "--parts=2", "--placement=best", "--minimize=memory", "--effort=1",
            "--backward=whole"), best)
assert {trial.outcome for trial in best.placements} >= {"best"} and best.minimal_memory.limit > 0
best = pipec.search(ranks=2, cost={"F": 2, "I": 1, "W": 1}, memory_limit=2, effort=1, every_m=True)
same(output("search", "ranks=2", "--cost=F=2,I=1,W=1", "--memory-limit=2", "--effort=1", "--every-m"), best)
assert best.schedule.microbatches == best.microbatches
many = pipec.compile(source=best.program, microbatches=best.every_m.from_ + 7 * best.every_m.step).report().makespan
assert many == best.every_m.rate * (best.every_m.from_ + 7 * best.every_m.step) + best.every_m.base
best = pipec.search(ranks=2, microbatches=4, parts=2, placement="best", effort=1, certificate="best.proof")
same(output("search", "ranks=2", "microbatches=4", "--parts=2", "--placement=best", "--effort=1", "--certificate=again.proof"), best)
assert best.certified_all == best.bound_all
best = pipec.search(ranks=2, microbatches=4, layers=8, layouts=True, cost="F=1", effort=1)
same(output("search", "ranks=2", "microbatches=4", "--layers=8", "--layouts", "--cost=F=1", "--effort=1"), best)
assert best.layouts.even == best.layout == "t*4|t*4"
best = pipec.search(ranks=4, microbatches=8, cost="F=1,B=2", memory_limit=2, effort=1)
same(output("search", "ranks=4", "microbatches=8", "--cost=F=1,B=2", "--memory-limit=2", "--effort=1"), best)
assert best.memory_by == "recompute" and best.makespan == best.schedule.report().makespan < best.plain.makespan
best = pipec.search(ranks=4, microbatches=8, cost="F=1,B=2", memory_limit=2, memory_by="plain", effort=1)
assert best.memory_by is None and best.bound_plain and best.plain is None
weighed = {"F": 10, "I": 11, "W": 9, "weights": [1, 1, 4, 1, 2, 1, 1, 3]}
with open("weighed.json", "w") as file:
    json.dump(weighed, file)
best = pipec.search(ranks=3, microbatches=8, profile=weighed, effort=1)
same(output("search", "ranks=3", "microbatches=8", "--cost-profile=weighed.json", "--effort=1"), best)
assert sorted(best.order) == list(range(8)) and best.makespan == best.schedule.report().makespan < best.given
kept = pipec.search(ranks=3, microbatches=8, profile=weighed, effort=1, keep_order=True)
assert kept.makespan == best.given == kept.schedule.report().makespan and not kept.order and kept.given is None
start = pipec.compile("interleaved", ranks=2, microbatches=4, chunks=2, target="pytorch")
best = pipec.search(start, ranks=2, microbatches=4, cost="F=1,B=2", backward="whole", effort=1)
due = output("search", "interleaved", "ranks=2", "microbatches=4", "chunks=2", "--cost=F=1,B=2", "--backward=whole", "--effort=1")
assert (best.makespan, best.bound, list(best.peaks)) == (due["makespan"], due["bound"], due["peaks"])
assert best.schedule.maps == start.maps == [[0, 1, 0, 1]]
try:
    pipec.search(ranks=2, microbatches=4, memory_limit=0.1)
    raise AssertionError("found a schedule without memory")
except pipec.CompileError as error:
    assert "rank 0 cannot hold one micro-batch" in str(error), error

# Every class was compared, with every field.
more = {"diagnostics", "schedule", "program"}  # not of the JSON
for module in _compare, _check, _search:
    for kind in vars(module).values():
        if dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__:
            fields = {field.name.rstrip("_") for field in dataclasses.fields(kind)}
            assert seen[kind] | more >= fields - {"reason"}, (kind, fields - seen[kind] - more)

# Slices.
sliced = pipec.search(ranks=2, microbatches=2, slices=2, effort=1)
assert sliced.slices == 2 == sliced.schedule.slices and sliced.optimal
assert pipec.compare("gpipe", ranks=2, microbatches=2, slices=2, library=False).slices == 2
