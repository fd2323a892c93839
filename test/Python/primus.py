# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s
"""Tables of Primus, with own classes in place of its nodes: what `--emit=primus` writes is loaded
and read back as the same lists, and faulty tables are found."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import primus_nodes

import pipec
import pipec.primus

factory = primus_nodes.install()
NAMES = {"one_f_one_b": "1f1b", "zb1p": "zero-bubble", "interleaved": "1f1b-interleaved", "zbv": "zbv-formatted"}


def cells(schedule):
    return [[tuple(step) for step in rank] for rank in schedule.csv.splitlines()]


def refused(kind, text, function, *args, **keywords):
    try:
        function(*args, **keywords)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


read = 0
for name in pipec.library():
    for ranks, microbatches in (2, 4), (4, 8), (3, 6), (1, 2):
        try:
            schedule = pipec.compile(name, target="primus", ranks=ranks, microbatches=microbatches)
        except pipec.CompileError:
            continue
        with open("table.json", "w") as file:
            file.write(schedule.emit("primus", "--passes="))
        data = json.load(open("table.json"))
        chunks = schedule.stages // ranks
        made = pipec.primus.algorithm("table.json")(ranks, chunks, microbatches, offload=False)
        table = made.generate_schedule_table()
        assert all(isinstance(node, primus_nodes.SchedulerNode) for row in table for node in row)
        # Every table is fresh, since a job stores its tensors in the nodes.
        assert all(a.args is not b.args for a, b in zip(table[0], made.generate_schedule_table()[0]))
        is_v = data["placement"] == "v"
        assert made.last_pp_stage_rank() == (0 if is_v else ranks - 1)
        # The consumer's lookups: data that stays on a rank is in a pair of nodes between
        # its producer and its consumer.
        for rank, row in enumerate(table):
            where = {}
            for index, node in enumerate(row):
                where.setdefault((node.func_type.name, node.mini_batch, node.chunk), index)
                if node.func_type.name[0] in "SR" and len(node.func_type.name) == 2:
                    assert rank == node.args["from_pp_rank" if node.func_type.name[0] == "S" else "to_pp_rank"]
            for index, node in enumerate(row):
                stage = node.chunk * ranks + (ranks - 1 - rank if is_v and node.chunk else rank)
                if node.func_type.name == "F" and stage > 0:
                    assert where["RF", node.mini_batch, node.chunk] < index, (name, ranks, str(node))
                if node.func_type.name in ("B", "BW") and stage + 1 < schedule.stages:
                    assert where["RB", node.mini_batch, node.chunk] < index, (name, ranks, str(node))
        placement = data["placement"]
        text = pipec.primus.dump(table, placement=placement, name=name)
        again = pipec.Schedule.from_steps(text)
        assert again.maps == schedule.maps and again.csv == schedule.csv, (name, ranks)
        assert pipec.primus.dump(table, form="csv", placement=placement) == schedule.csv
        if ranks > 1:
            assert pipec.primus.dump(table, name=name) == text, "the placement follows from the table"
        assert again.lint(grades={"no-reduce-grad": "off"}), str(again.lint())
        if name in NAMES and ranks > 1 and (name != "interleaved" or chunks > 1):
            assert pipec.primus.use("table.json") == NAMES[name] and not factory._schedule_instance_cache
            assert factory.pp_algorithm_map[NAMES[name]](ranks, chunks, microbatches).generate_schedule_table() == table
        read += 1
assert read >= 30, read

# Transfers that the nodes say nothing about are posted together up to the next compute.
good = primus_nodes.table("(F|0|0) (SF|0|0) (RB|0|0) (BW|0|0)\n(RF|0|0) (F|0|0) (BW|0|0) (SB|0|0)")
text = pipec.primus.dump(good)
assert "batch SEND_F s0 m0 -> r1, RECV_B s0 m0 <- r1\n" in text, text
for node, step in zip(good[0][1:3], (1, 2)):
    node.args["time_step"] = step
assert "batch SEND" not in pipec.primus.dump(good)
# A combined forward and backward runs before the transfers between its nodes.
both = primus_nodes.table("(F|0|0) (F|1|0) (BW|0|0) (BW|1|0)")
for node in both[0][1:3]:
    node.args = {"combined_node": True, "combined_group": ["(F|1|0)", "(BW|0|0)"]}
assert pipec.primus.dump(both, form="csv") == "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n"
assert "overlap F s0 m1 & B s0 m0\n" in pipec.primus.dump(both)

# Faulty tables.
for text, microbatches, is_v, kinds in [
        (primus_nodes.WARMUP, 2, False, {"StepsOutOfRange", "StepsExpected"}),
        (primus_nodes.ROUNDS, 2, False, {"StepsOutOfRange"}),
        (primus_nodes.FILLED, 2, True, {"StepsOutOfRange"})]:
    table = primus_nodes.table(text, is_v)
    with open("faulty.steps", "w") as file:
        file.write(pipec.primus.dump(table, microbatches=microbatches))
    found = pipec.lint("faulty.steps")
    assert {finding.kind for finding in found.errors} == kinds and not any(found.safe.values()), str(found)
    # Without the number of micro-batches, what does not fit together is found.
    with open("faulty.csv", "w") as file:
        file.write(pipec.primus.dump(table, form="csv"))
    found = pipec.lint("faulty.csv", grades={"no-reduce-grad": "off"})
    assert is_v or found.errors, str(found)

# What is refused.
refused(ValueError, "node `O` for micro-batch 0", pipec.primus.dump,
        [[primus_nodes.SchedulerNode(primus_nodes.FuncType.O, 0, 0)]])
refused(ValueError, "no nodes", pipec.primus.dump, [[]])
with open("table.json", "w") as file:
    file.write(pipec.compile("one_f_one_b", ranks=2, microbatches=4).emit("primus"))
refused(ValueError, "is for 2 ranks with 1 chunks and 4 micro-batches, not for 2 with 1 and 8",
        pipec.primus.algorithm("table.json"), 2, 1, 8)
refused(ValueError, "no nodes that offload", pipec.primus.algorithm("table.json"), 2, 1, 4, offload=True)
refused(ValueError, "'gpipe' is not an algorithm of Primus", pipec.primus.use, "table.json", "gpipe")
with open("other.json", "w") as file:
    file.write("{}")
refused(ValueError, "other.json is not a file of `--emit=primus`", pipec.primus.use, "other.json")
