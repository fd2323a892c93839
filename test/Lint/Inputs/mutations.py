"""Faults in a lowered file, one at a time: the file, and what lint has to say.

The file is PyTorch's interleaved 1F1B for 2 ranks, 2 chunks, 4 micro-batches.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import csv
import json
import os
import subprocess
import tempfile

# `finding` is (kind, cell) that lint must give; `result` what PyTorch's runtime
# does: refused, waits, stops, wrong, other tensor, sharded, second step, or None
# where lint says nothing about it. `often`: tried in every run of the tests
# against PyTorch.
Mutation = collections.namedtuple("Mutation", "name change finding result often")

NOTES = {
    "NoteRunRefused": "refused",
    "NoteRunWaits": "waits",
    "NoteRunStops": "stops",
    "NoteRunWrong": "wrong",
    "NoteRunOtherTensor": "other tensor",
    "NoteRunOtherLoss": "other loss",
    "NoteRunSharded": "sharded",
    "NoteRunSecondStep": "second step",
}


def drop(*cells):
    def change(rows):
        assert all(any(cell in row for row in rows) for cell in cells)
        return [[cell for cell in row if cell not in cells] for row in rows]
    return change


def double(cell):
    return lambda rows: [[c for x in row for c in ([x, x] if x == cell else [x])] for row in rows]


def swap(a, b):
    other = {a: b, b: a}
    return lambda rows: [[other.get(cell, cell) for cell in row] for row in rows]


def move(cell, after=None, before=None):
    def change(rows):
        result = []
        for row in rows:
            row = list(row)
            if cell in row:
                row.remove(cell)
                row.insert(row.index(after) + 1 if after else row.index(before), cell)
            result.append(row)
        return result
    return change


MUTATIONS = [
    Mutation("no REDUCE_GRAD", drop("1REDUCE_GRAD"), ("ReduceGradMissing", None), "wrong", True),
    Mutation("early REDUCE_GRAD", move("1REDUCE_GRAD", before="1B3"), ("ReduceGradEarly", "1REDUCE_GRAD"), "wrong", False),
    Mutation("two REDUCE_GRADs", double("1REDUCE_GRAD"), ("ReduceGradDoubled", "1REDUCE_GRAD"), "wrong", False),
    Mutation("late REDUCE_GRAD", move("1REDUCE_GRAD", after="1RESHARD"), ("ReduceGradLate", "1REDUCE_GRAD"), None, False),
    Mutation("no SEND_F", drop("1SEND_F2"), ("TransferUnmatched", "2RECV_F2"), "waits", True),
    Mutation("no SEND_B", drop("1SEND_B2"), ("TransferUnmatched", "0RECV_B2"), "waits", False),
    Mutation("no RECV_F", drop("2RECV_F2"), ("TransferUnmatched", "1SEND_F2"), "stops", True),
    Mutation("no RECV_B", drop("2RECV_B2"), ("TransferUnmatched", "3SEND_B2"), "stops", False),
    Mutation("no transfer", drop("1SEND_F2", "2RECV_F2"), ("TransferMissing", "1F2"), "stops", False),
    Mutation("two SENDs", double("1SEND_F2"), ("TransferDoubled", "1SEND_F2"), "wrong", True),
    Mutation("two RECVs", double("2RECV_F2"), ("TransferDoubled", "2RECV_F2"), "stops", False),
    Mutation("late SEND_F", move("1SEND_F2", after="1B2"), ("SendAfterFree", "1SEND_F2"), "stops", True),
    Mutation("early SEND_F", move("1SEND_F2", before="1F2"), ("SendBeforeProducer", "1SEND_F2"), "stops", False),
    Mutation("early SEND_B", move("1SEND_B2", before="1B2"), ("SendBeforeProducer", "1SEND_B2"), "stops", False),
    Mutation("late RECV_F", move("2RECV_F2", after="2F2"), ("RecvAfterConsumer", "2RECV_F2"), "stops", False),
    Mutation("RECVs of one stage swapped", swap("2RECV_F0", "2RECV_F1"), ("TransferCrossed", "2RECV_F1"), "other tensor", True),
    Mutation("RECVs of F and B swapped", swap("2RECV_F2", "0RECV_B0"), ("TransferCrossed", "0RECV_B0"), "other tensor", False),
    Mutation("no RESHARD", drop("1RESHARD"), ("UnshardLeftOpen", "1UNSHARD"), "second step", True),
    Mutation("early RESHARD", move("1RESHARD", before="1B3"), ("ComputeOnSharded", "1B3"), "sharded", True),
    Mutation("no UNSHARD", drop("1UNSHARD"), ("ComputeOnSharded", "1F0"), "sharded", False),
    Mutation("late UNSHARD", move("1UNSHARD", after="1F0"), ("ComputeOnSharded", "1F0"), "sharded", False),
    Mutation("two UNSHARDs", double("1UNSHARD"), ("UnshardTwice", "1UNSHARD"), "sharded", False),
    Mutation("two RESHARDs", double("1RESHARD"), ("ReshardTwice", "1RESHARD"), "sharded", False),
    Mutation("two Fs", double("1F1"), ("StepDoubled", "1F1"), None, False),
    Mutation("no F", drop("1F1"), ("StepsMissing", None), "refused", True),
    Mutation("no B", drop("1B1"), ("StepsMissing", None), "refused", False),
    Mutation("B before its F", move("3B2", before="3F2"), ("StepTooEarly", "3B2"), "refused", False),
]


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def lint(rows, *options):
    """The findings of `pipec lint --format=json`, and its status."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.csv")
        write(path, rows)
        done = subprocess.run(["pipec", "lint", "--format=json", path, *options], capture_output=True, text=True)
        assert done.returncode in (0, 1) and not done.stderr, done.stderr
        return json.loads(done.stdout), done.returncode


def problem(mutation, rows):
    """What lint does not say of a file with this fault, or None."""
    found, status = lint(rows)
    kind, cell = mutation.finding
    for finding in found["findings"]:
        if finding["kind"] != kind or cell is not None and finding["cell"] != cell:
            continue
        if finding["severity"] != "error" or status != 1:
            return "the finding is no error"
        if cell is not None:
            # Rank and position name the cell, as line and column do.
            if rows[finding["rank"]][finding["position"]] != cell:
                return f"rank {finding['rank']} position {finding['position']} is another cell"
            if finding["line"] != finding["rank"] + 1:
                return f"line {finding['line']} is not rank {finding['rank']}"
        said = [NOTES[note["kind"]] for note in finding["notes"] if note["kind"] in NOTES]
        if said != ([mutation.result] if mutation.result else []):
            return f"it says {said} and not {mutation.result}"
        return None
    return f"not found among {[(f['kind'], f['cell']) for f in found['findings']]}"
