# RUN: %python %s
"""Each rule of a schedule for PyTorch, broken once: lint finds the fault, names
its cell, and says what PyTorch does (test/Torch/faults.test tries that)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import faults

SAFE = dict.fromkeys(["stream", "pair", "edge", "buffered"], True)
for name in faults.BASES:
    found, status = faults.lint(faults.text(faults.base(name)))
    assert (status, found["safe"]) == (0, SAFE) and not found["findings"], (name, found)


def problem(fault):
    """What lint does not say of the fault, or None."""
    contents = faults.broken(fault)
    found, status = faults.lint(contents, "--show-kinds")
    kind, cell = fault.finding
    if isinstance(found, str):
        return found
    if kind.startswith("Csv"):
        # It cannot be read, so there is nothing else to look for.
        first = found["findings"][0]
        read = first["kind"] == kind and first["severity"] == "error" and first["line"]
        return None if status == 1 and read and not any(found["safe"].values()) else found
    finding = next((f for f in found["findings"] if f["kind"] == kind and cell in (None, f["cell"])), None)
    if not finding:
        return f"not found among {[(f['kind'], f['cell']) for f in found['findings']]}"
    graded = {"IdleAmongTransfers": "warning", "UnshardUnused": "warning", "NoReduceGrad": "warning", "ForwardOnly": "note"}
    if finding["severity"] != graded.get(kind, "error"):
        return f"graded {finding['severity']}"
    if status != any(f["severity"] == "error" for f in found["findings"]):
        return f"status {status}"
    if finding["rank"] is not None:
        # Rank and position name the cell, as line and column do.
        line = contents.splitlines()[finding["rank"]]
        if line.split(",")[finding["position"]] != finding["cell"]:
            return f"rank {finding['rank']} position {finding['position']} is another cell"
        if finding["line"] != finding["rank"] + 1 or not line[finding["column"] - 1:].startswith(finding["cell"]):
            return f"line {finding['line']} column {finding['column']} is another cell"
    if fault.format == "compute_only" and "SEND" in contents:
        return None  # lint takes it for a file of the other format
    for note in finding["notes"]:
        if note["kind"] in faults.NOTES and fault.result not in faults.NOTES[note["kind"]]:
            return f"it says `{note['message']}`, and a run comes to {fault.result}"
    if fault.result[1] != faults.RIGHT and kind not in SAID_OTHERWISE and fault.communicators is None \
            and not any(note["kind"] in faults.NOTES for note in finding["notes"]):
        return "it says nothing of a run"
    return None


# Kinds whose message says itself what PyTorch does, or whose result is another
# one from case to case.
SAID_OTHERWISE = {"IdleAmongTransfers", "NoReduceGrad", "ForwardOnly", "StepDoubled", "TransferNoNeighbour",
                  "OrderStuckAlone", "Deadlock"}

failures = [f"{fault.rule}: {fault.name}: {what}" for fault in faults.FAULTS if (what := problem(fault))]
print("\n".join(failures))

# What is unmatched or crossed is safe nowhere, even if every rank finishes.
for name in ["no SEND_F", "RECVs of one stage swapped"]:
    fault, = [fault for fault in faults.FAULTS if fault.name == name]
    found, _ = faults.lint(faults.broken(fault))
    assert not any(found["safe"].values()), (name, found["safe"])

# The grade of a finding can be chosen.
GRADES = [("loss-order", "LossOrder"), ("unused-unshard", "UnshardUnused"), ("idle-slot", "IdleAmongTransfers"),
          ("forward-only", "ForwardOnly"), ("no-reduce-grad", "NoReduceGrad")]
for rule, kind in GRADES:
    fault = next(fault for fault in faults.FAULTS if fault.finding[0] == kind)
    for grade, expected in [("error", ["error"]), ("warning", ["warning"]), ("note", ["note"]), ("off", [])]:
        found, status = faults.lint(faults.broken(fault), f"--grade={rule}={grade}")
        severities = [f["severity"] for f in found["findings"] if f["kind"] == kind]
        assert severities == expected and status == (grade == "error"), (rule, grade, severities, status)

assert len(faults.FAULTS) > 60
sys.exit(bool(failures))
