# REQUIRES: notebook
# RUN: rm -rf %t && mkdir %t && cd %t && %notebook-python %s
"""Arrays of NumPy and data frames of pandas."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pickle
import sys
from fractions import Fraction

import pipec

assert "numpy" not in sys.modules and "pandas" not in sys.modules
import numpy  # noqa: E402
import pandas  # noqa: E402

plain = pipec.compile("zb1p", ranks=numpy.int64(3), microbatches=4, cost={"F": numpy.float64(1.5), "p2p": "1/3", "W": numpy.int32(2)})
assert plain.ranks == 3 and plain.ir == pipec.compile("zb1p", ranks=3, microbatches=4, cost="F=1.5,p2p=1/3,W=2").ir
assert pipec.check("one_f_one_b", ranks=numpy.arange(2, 5))

# Times are arrays that can be computed with.
times = plain.simulate()
report = plain.report(exact=True)
assert isinstance(times.start, numpy.ndarray) and times.start.dtype == numpy.float64
assert {times.start_ticks.dtype, times.position.dtype} == {numpy.dtype("int64")} and times.stage.dtype == numpy.int32
assert times.kind.dtype == numpy.uint8 and len(times) == len(times.end) == sum(map(len, plain.steps))
assert Fraction(int(times.end_ticks.max()), times.ticks_per_unit) == report.makespan and repr(times)
for name in "kind", "stage", "microbatch", "peer", "other":
    assert (getattr(times, name) == numpy.concatenate([steps[name] for steps in plain.steps])).all(), name
for rank in range(3):
    mine = times.rank == rank
    assert Fraction(int((times.end_ticks - times.start_ticks)[mine].sum()), times.ticks_per_unit) == report.ranks[rank].work

# Steps are arrays, and lists of them are steps again.
assert plain.steps[0].dtype.names == pipec.Step._fields
again = pipec.Schedule.from_steps(plain.steps)
assert repr(plain.steps[0][:2]) == str(plain.steps[0][:2]) == "<2 steps of stage 0: F0, F1>", plain.steps[0]
assert repr(plain.steps[0][:1]) == "<1 step of stage 0: F0>" and repr(plain.steps[0][:0]) == "<0 steps>"
many = pipec.compile("gpipe", ranks=2, microbatches=99, target="torch").steps[0]
assert repr(many).startswith(f"<{len(many)} steps of stage 0: UNSHARD, F0, SEND_F0 -> r1, ") and repr(many).endswith(", ...>"), many
assert len(repr(many)) < 1500 and repr(plain.steps[0] == plain.steps[0]).startswith("array([ True")
assert type(many["stage"]) is numpy.ndarray and isinstance(many["stage"].sum(), numpy.integer)
assert (pickle.loads(pickle.dumps(many)) == many).all() and repr(many.copy()) == repr(many)
assert all((a == b).all() for a, b in zip(again.steps, plain.steps))
overlapped = pipec.compile("dualpipev", ranks=2, microbatches=4)
assert "F s0 m3 & B s3 m1, " in repr(overlapped.steps[0]), overlapped.steps[0]
again = pipec.Schedule.from_steps([list(steps) for steps in overlapped.steps], placement=numpy.array(overlapped.stage_to_rank))
assert again.csv == overlapped.csv

# Data frames.
frame = plain.to_dataframe()
assert list(frame.columns) == ["rank", "position", "kind", "stage", "microbatch", "peer", "other", "phase", "start", "end"]
assert len(frame) == len(times) and set(frame.kind) == {"F", "I", "W"} and frame.end.max() == times.end.max()
assert isinstance(frame.phase.dtype, pandas.CategoricalDtype) and set(frame.phase) == set(times.phases)
assert plain.to_dataframe(cost={"F": 9}).end.max() == plain.report(cost={"F": 9}).makespan
unnamed = pipec.Schedule.from_steps([["F0", None, "B0"]]).to_dataframe()
assert unnamed.phase.isna().all() and list(unnamed.kind) == ["F", "BUBBLE", "B"]

ranks = plain.report().to_dataframe()
assert list(ranks.index) == [0, 1, 2] and ranks.work.sum() == plain.report().work
assert list(ranks["memory.total"]) == [rank.memory.total for rank in plain.report().ranks]

table = pipec.compare("chimera", ranks=3, microbatches=4, library=False, chunks=None).to_dataframe()
assert len(table) == 1 and not table.fits[0] and table.makespan.isna().all()
found = pipec.compare(ranks=4, microbatches=8, memory_limit=5, search=1)
table = found.to_dataframe()
assert len(table) == len(found.schedules) and table[table.fits].makespan.is_monotonic_increasing
assert set(table.pytorch.dropna()) == {"csv"} and table.params[0] == found.best.params
assert "search.placement" in table.columns and not {"search", "frameworks"} & set(table.columns), table.columns
