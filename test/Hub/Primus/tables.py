# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s
"""The tables of Primus' own generators: every one that holds each step once is clean as
it runs, the others are found; 1F1B is that of the library, and what pipec writes is
loaded into the real node class. No GPU: only the scheduler is imported."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import os
import subprocess
import sys

import pipec
import pipec.primus

pipec.primus._scheduler_of(os.environ["PIPEC_PRIMUS"])
from primus.core.pipeline_parallel.scheduler import scheduler_node
from primus.core.pipeline_parallel.scheduler.schedule_table_factory import pp_algorithm_map, produce_schedule_instance

ALGORITHMS = [("1f1b", 1), ("zero-bubble", 1), ("zero-bubble-heuristic", 1), ("1f1b-interleaved", 2), ("zbv-formatted", 2),
              ("v-half", 2), ("v-min", 2)]
SIZES = [(2, 2), (2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (4, 16), (8, 8)]


def is_whole(table, chunks, microbatches):
    """Whether each rank has each forward and each backward of its chunks once."""
    wanted = {(chunk, k) for chunk in range(chunks) for k in range(microbatches)}
    for row in table:
        for kinds in ("F",), ("B", "BW"):
            done = collections.Counter((n.chunk, n.mini_batch) for n in row if n.func_type.name in kinds)
            if set(done) != wanted or max(done.values()) != 1:
                return False
    return True


def computes(schedule):
    return [[(str(pipec.Kind(kind)), int(stage), int(k)) for kind, stage, k, *_ in steps if kind <= pipec.Kind.W]
            for steps in schedule.steps]


whole, faulty = 0, []
for name, chunks in ALGORITHMS:
    for ranks, microbatches in SIZES:
        made = produce_schedule_instance(name, ranks, chunks, microbatches)
        table = made.generate_schedule_table()
        text = pipec.primus.dump(table, microbatches=microbatches)
        assert text == pipec.primus.dump(table, microbatches=microbatches,
                                         placement="v" if made.last_pp_stage_rank() == 0 else "loop")
        with open("table.steps", "w") as file:
            file.write(text)
        found = pipec.lint("table.steps", grades={"no-reduce-grad": "off"})
        if is_whole(table, chunks, microbatches):
            whole += 1
            assert found, (name, ranks, microbatches, str(found))
        else:
            faulty.append((name, ranks, microbatches))
            assert not found, (name, ranks, microbatches)
        if name == "1f1b" and microbatches >= ranks:
            library = pipec.compile("one_f_one_b", ranks=ranks, microbatches=microbatches)
            assert computes(pipec.Schedule.from_steps(text)) == computes(library), (ranks, microbatches)

# What pipec writes, in the real classes.
for schedule, chunks in ("one_f_one_b", 1), ("zb1p", 1), ("interleaved", 2), ("zbv", 2):
    compiled = pipec.compile(schedule, target="primus", ranks=4, microbatches=8)
    with open("table.json", "w") as file:
        file.write(compiled.emit("primus", "--passes="))
    name = pipec.primus.use("table.json")
    made = produce_schedule_instance(name, 4, chunks, 8)
    table = made.generate_schedule_table()
    assert isinstance(table[0][0], scheduler_node.SchedulerNode) and isinstance(made, pp_algorithm_map[name])
    assert pipec.primus.dump(table, form="csv") == compiled.csv, schedule

done = subprocess.run([sys.executable, "-m", "pipec.dump", "primus", "zbv-formatted", "--ranks=2", "--chunks=2",
                       "--microbatches=4"], capture_output=True, text=True, check=True)
assert "schedule @primus_zbv_formatted { ranks 2 stages 4 microbatches 4\n  map 0 1 1 0\n" in done.stdout, done.stdout
print(f"{whole} tables clean, faulty: {faulty}")
assert whole >= 40 and len(faulty) >= 5
