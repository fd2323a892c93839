# RUN: %python %s %t
"""Orders of Transformer Engine, read in Python: files, logs and lists."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import pathlib
import shutil
import sys

import pipec
import pipec.megatron


def computes(schedule):
    return [[(int(step["kind"]), int(step["stage"]), int(step["microbatch"])) if not isinstance(step, pipec.Step) else
             (int(step.kind), step.stage, step.microbatch) for step in steps] for steps in schedule.steps]


def refused(text, part):
    path = os.path.join(folder, "bad.json")
    pathlib.Path(path).write_text(text, encoding="utf-8")
    try:
        pipec.megatron.read_te_order(path)
    except ValueError as error:
        assert part in str(error) and "bad.json" in str(error), error
    else:
        raise AssertionError(text)


folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)

# What --emit=te-order writes, of a loop, of a V, and of halves of backwards.
for name, sizes in ("interleaved", {"chunks": 2}), ("zbv", {}), ("zb1p", {}), ("one_f_one_b", {}):
    schedule = pipec.compile(name, ranks=2, microbatches=4, **sizes)
    path = os.path.join(folder, "2 orders.json")
    pathlib.Path(path).write_text(schedule.emit("te-order"), encoding="utf-8")
    back = pipec.megatron.read_te_order(path)
    assert back.name == "_2_orders"
    assert computes(back) == computes(schedule), name
    assert back.stage_to_rank == schedule.stage_to_rank
    # The compiler reads the same from the file.
    assert computes(pipec.compile(path)) == computes(schedule), name

# A log: the last order of each rank counts.
path = os.path.join(folder, "run.log")
pathlib.Path(path).write_text("x Rank 1: ORDER [1, -1]\nRank 0: ORDER [1]\nRank 0: ORDER [1, -1]\n", encoding="utf-8")
assert computes(pipec.megatron.read_te_order(path)) == [[(0, 0, 0), (1, 0, 0)], [(0, 1, 0), (1, 1, 0)]]

# Lists.
order = pipec.megatron.te_order([[1, 1, -1, -1.5, -1, -1.5]])
assert [step[0] for step in computes(order)[0]] == [pipec.Kind.F, pipec.Kind.F, pipec.Kind.I, pipec.Kind.W] + [
    pipec.Kind.I, pipec.Kind.W]
for orders in [[]], [[0]], [[1.5]], [[1, -0.5]], [[1, 2.5]]:
    try:
        pipec.megatron.te_order(orders)
    except ValueError:
        pass
    else:
        raise AssertionError(orders)

refused("[1, -1]", "this is not an order")
refused("{", "bad.json")
refused('{"format": "pipec-te-order 2", "order": [[1, -1]]}', "this is not an order")
refused('{"format": "pipec-te-order 1", "order": [1, -1]}', "is not a list of lists")
refused('{"format": "pipec-te-order 1", "order": [["a"]]}', "is not a number")
refused('{"format": "pipec-te-order 1", "order": [[1, -1]], "microbatches": 2}', "the orders have 1")
refused('{"format": "pipec-te-order 1", "order": [[1, 2, -2, -1]], "stage_to_rank": [0]}', "of a chunk c from 1 to 1")
refused("Rank 1: ORDER [1, -1]\n", "not of all from 0 on")
for sizes in {"ranks": 1, "microbatches": 2}, {"ranks": 2, "microbatches": 0}:
    try:
        pipec.megatron.record(**sizes)
    except ValueError as error:
        assert "a pipeline has 2 ranks" in str(error)
    else:
        raise AssertionError(sizes)
