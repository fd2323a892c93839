# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s
"""Schedules of JaxPP, with own classes in place of its own: what `--emit=jaxpp` writes is
loaded and read back as the same lists."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import jaxpp_tasks as own

import pipec
import pipec.jax

own.install()


def refused(kind, text, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{call} took {arguments}")


# Every schedule of the library that the target takes, as JaxPP's objects and back.
loaded = []
for name in pipec.library():
    for ranks, microbatches in [(2, 4), (4, 8)]:
        try:
            compiled = pipec.compile(name, target="jaxpp", ranks=ranks, microbatches=microbatches)
        except pipec.CompileError:
            continue
        schedule = pipec.jax.schedule(name, ranks=ranks, microbatches=microbatches)
        assert schedule.num_stages == compiled.stages and schedule.mpmd_dim == ranks
        assert [schedule.get_mpmd_idx(stage) for stage in range(compiled.stages)] == compiled.stage_to_rank
        rows = schedule.tasks(microbatches)
        flat = [task for row in rows for entry in row for task in (entry if isinstance(entry, own.FusedTask) else [entry])]
        kinds = {task.fwd_or_bwd.name for task in flat}
        assert kinds == ({"FWD", "BWD_I", "BWD_W"} if schedule.is_partial_bwd else {"FWD", "BWD"}), (name, kinds)
        again = pipec.Schedule.from_steps(pipec.jax.dump(rows))
        assert again.stage_to_rank == compiled.stage_to_rank
        mine, theirs = (made.emit("ir", "--passes=").split("rank 0 {")[1] for made in (again, compiled))
        steps = lambda text: [line.split(" @")[0].strip() for line in text.split("\n") if not line.strip().endswith(":")]
        assert steps(mine) == steps(theirs), name
        assert pipec.jax.dump(schedule, microbatches) == pipec.jax.dump(rows)
        loaded.append(name)
assert {"one_f_one_b", "zb1p", "zbv", "dualpipev", "interleaved"} <= set(loaded), loaded

# The other sources: a compiled schedule, a plan, a file, other passes, a CSV.
compiled = pipec.compile("zb1p", ranks=2, microbatches=2)
rows = pipec.jax.schedule(compiled).tasks(2)
assert rows[0][-1] == own.FusedTask(own.Task(0, 1, own.TaskType[kind]) for kind in ("BWD_I", "BWD_W"))
assert rows[1][-1] == own.Task(1, 1, own.TaskType.BWD_W)
with open("zb1p.json", "w", encoding="utf-8") as file:
    file.write(compiled.emit("jaxpp"))
assert pipec.jax.schedule("zb1p.json").tasks(2) == rows
with open("zb1p.csv", "w", encoding="utf-8") as file:
    file.write(compiled.csv)
assert pipec.jax.schedule("zb1p.csv").tasks(2) == rows
merged = pipec.jax.schedule("zb1p", passes="merge-backward{which=all},jaxpp", ranks=2, microbatches=2)
assert not merged.is_partial_bwd
plan = pipec.plan({"layers": {"t": {"F": 1, "B": 2}}}, ranks=2, microbatches=4, layers=4, effort=1)
assert pipec.jax.schedule(plan).num_stages == plan.schedule.stages

# Fused tasks of one micro-batch follow one another.
assert pipec.jax.dump(own.Own(1, 1), 2) == """pipec-steps 1
schedule @jaxpp { ranks 1 stages 1 microbatches 2
  map 0
  rank 0 {
    F s0 m0
    B s0 m0
    F s0 m1
    B s0 m1
  }
}
"""
options = argparse.Namespace(schedule="Own", ranks=1, microbatches=2, chunks=1, path=None)
assert "@jaxpp_own" in pipec.jax.dump_command(options)

# What cannot be.
refused(ValueError, "zb1p is for 2 micro-batches, not for 3", pipec.jax.schedule(compiled).tasks, 3)
refused(ValueError, "zb1p is compiled already", pipec.jax.schedule, compiled, target="jaxpp")
refused(ValueError, "zb1p.json is compiled already", pipec.jax.schedule, "zb1p.json", ranks=2)
with open("other.json", "w", encoding="utf-8") as file:
    json.dump({"format": "pipec-primus 1"}, file)
refused(ValueError, "other.json is not a file of `--emit=jaxpp`", pipec.jax.schedule, "other.json")
refused(pipec.CompileError, "adds up the gradients of a stage in ascending order", pipec.jax.schedule, "looped_bfs",
        ranks=2, microbatches=4)
refused(pipec.CompileError, "does not support `SEND_F", pipec.jax.schedule,
        pipec.compile("gpipe", target="torch", ranks=2, microbatches=2))
refused(ValueError, "a schedule needs microbatches", pipec.jax.dump, own.Own(1, 1))
refused(ValueError, "the tasks are of the stages []", pipec.jax.dump, [[]])
refused(ValueError, "the tasks are of the stages [1]", pipec.jax.dump, [[own.Task(1, 0, own.TaskType.FWD)]])
options.schedule = "Task"
refused(ValueError, "jaxpp.schedules has no schedule Task", pipec.jax.dump_command, options)
