# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks each rule that PyTorch does not check once, in a file that is right,
and asks `pipec lint` for the finding: its kind, and the cell that it names."""

import json
import os
import subprocess
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def lint(rows, *options):
    path = os.path.join(folder, "schedule.csv")
    with open(path, "w") as file:
        file.write("".join(",".join(row) + "\n" for row in rows))
    run = subprocess.run(["pipec", "lint", path, "--format=json", *options],
                         capture_output=True, text=True)
    assert run.stderr == "" or not run.stdout, run.stderr
    return run.returncode, json.loads(run.stdout) if run.stdout else None, run.stderr


def good():
    text = subprocess.run(
        ["pipec", "interleaved", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch", "--emit=csv"],
        check=True, capture_output=True, text=True).stdout
    return [line.split(",") for line in text.splitlines()]


def drop(cell):
    def fault(rows):
        for row in rows:
            if cell in row:
                row.remove(cell)
                return
        raise AssertionError(cell)
    return fault


def double(cell):
    def fault(rows):
        for row in rows:
            if cell in row:
                row.insert(row.index(cell), cell)
                return
        raise AssertionError(cell)
    return fault


def move(cell, before=None, after=None):
    """Takes a cell to the place before (behind) another one of its row."""
    def fault(rows):
        for row in rows:
            if cell in row:
                row.remove(cell)
                row.insert(row.index(before) if before else row.index(after) + 1, cell)
                return
        raise AssertionError(cell)
    return fault


def swap(first, second):
    def fault(rows):
        for row in rows:
            if first in row and second in row:
                i, j = row.index(first), row.index(second)
                row[i], row[j] = row[j], row[i]
                return
        raise AssertionError((first, second))
    return fault


# What is broken, how, and the kinds and cells of which one must be found.
faults = [
    ("gradients never reduced", drop("3REDUCE_GRAD"), "ReduceGradMissing", None),
    ("gradients reduced early", move("3REDUCE_GRAD", before="3B3"), "ReduceGradEarly", "3REDUCE_GRAD"),
    ("gradients reduced twice", double("0REDUCE_GRAD"), "ReduceGradDoubled", "0REDUCE_GRAD"),
    ("send doubled", double("0SEND_F1"), "TransferDoubled", "0SEND_F1"),
    ("send dropped", drop("0SEND_F1"), "TransferUnmatched", "1RECV_F1"),
    ("receive dropped", drop("1RECV_F1"), "TransferUnmatched", "0SEND_F1"),
    ("both ends dropped", lambda rows: (drop("0SEND_F1")(rows), drop("1RECV_F1")(rows)), "TransferMissing", "0F1"),
    ("send behind the backward that frees its data", move("0SEND_F3", after="0B3"), "SendAfterFree", "0SEND_F3"),
    ("send before its producer", move("0SEND_F1", before="0F1"), "SendBeforeProducer", "0SEND_F1"),
    ("receive behind its consumer", move("1RECV_F2", after="1F2"), "RecvAfterConsumer", "1RECV_F2"),
    ("receives of one edge swapped", swap("1RECV_F0", "1RECV_F1"), "TransferCrossed", None),
    ("never resharded", drop("3RESHARD"), "UnshardLeftOpen", "3UNSHARD"),
    ("resharded early", move("3RESHARD", before="3B2"), "ComputeOnSharded", "3B2"),
    ("never unsharded", drop("1UNSHARD"), "ComputeOnSharded", "1F0"),
    ("unsharded twice", double("1UNSHARD"), "UnshardTwice", "1UNSHARD"),
    ("forward doubled", double("1F1"), "StepDoubled", "1F1"),
    ("backward dropped", drop("2B1"), "StepsMissing", None),
    ("forward behind its backward", move("3F1", after="3B1"), "StepTooEarly", "3B1"),
    ("losses out of order", swap("3F0", "3F1"), "LossOrder", "3F0"),
]

rows = good()
status, report, _ = lint(rows)
assert status == 0 and report["findings"] == [], report
assert report["safe"] == {"stream": True, "pair": True, "edge": True, "buffered": True}, report["safe"]

for what, fault, kind, cell in faults:
    rows = good()
    fault(rows)
    status, report, errors = lint(rows)
    assert status == 1, (what, status)
    found = [f for f in report["findings"] if f["kind"] == kind and f["severity"] == "error"]
    assert found, (what, [(f["kind"], f["cell"]) for f in report["findings"]])
    assert cell is None or any(f["cell"] == cell for f in found), (what, [f["cell"] for f in found])
    for finding in found:
        assert finding["line"] and finding["column"] and finding["file"].endswith("schedule.csv"), (what, finding)
        if finding["rank"] is not None:
            # Row and rank are one, and the position is the column of the cell.
            assert finding["line"] == finding["rank"] + 1, (what, finding)
            assert rows[finding["rank"]][finding["position"]] == finding["cell"], (what, finding)

# Nothing meets what is unmatched, so no model is safe.
rows = good()
drop("0SEND_F1")(rows)
_, report, _ = lint(rows)
assert not any(report["safe"].values()), report["safe"]

# A crossed pair of one edge is found though every rank comes to its end.
rows = good()
swap("1RECV_F0", "1RECV_F1")(rows)
_, report, _ = lint(rows)
assert not report["safe"]["stream"], report["safe"]

# Junk in a cell is no step, whatever torch makes of it.
rows = good()
rows[0][rows[0].index("0F1")] = "0F1x"
status, report, errors = lint(rows)
assert status == 1 and report is None and "`0F1x`" in errors, errors

# The grade of a finding can be chosen.
rows = good()
swap("3F0", "3F1")(rows)
for grade, expected in [("warning", "warning"), ("note", "note"), ("off", None)]:
    _, report, _ = lint(rows, f"--grade=loss-order={grade}")
    found = [f["severity"] for f in report["findings"] if f["kind"] == "LossOrder"]
    assert found == ([expected] if expected else []), (grade, found)

# A file without FSDP steps is not wrong: a note, and status 0.
rows = [[c for c in row if not any(word in c for word in ("SHARD", "REDUCE"))] for row in good()]
status, report, _ = lint(rows)
assert status == 0 and [(f["kind"], f["severity"]) for f in report["findings"]] == [("NoReduceGrad", "note")], report

print("all rules found")
