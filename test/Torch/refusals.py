# REQUIRES: torch-2.15
# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""What PyTorch 2.15 refuses in a `compute_comms` file, one rule at a time: it
does refuse the file, and `pipec lint` finds the fault and says that the file
is not for 2.15. And waits that come too
early: no rule forbids them, lint finds the deadlock, and the job waits."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "..", "Lint", "Inputs")]
import faults
import oracle
import train

GOOD = oracle.pipec("interleaved", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch")


def moved(cell, after=None, before=None):
    return faults.move(cell, after=after, before=before)


# The file, what PyTorch says of it, and the kind and cell of lint's finding.
RULES = [
    ("a send without a wait", faults.drop("0WAIT_SEND_F1"), "have no matching wait: 0SEND_F1", ("SendWaitMissing", "0SEND_F1")),
    ("a gradient without a wait", faults.drop("1WAIT_SEND_B2"), "have no matching wait: 1SEND_B2", ("SendWaitMissing", "1SEND_B2")),
    ("a wait before its send", moved("0WAIT_SEND_F1", before="0SEND_F1"), "0WAIT_SEND_F1 at rank 0 has no pending send",
     ("SendWaitEarly", "0WAIT_SEND_F1")),
    ("a wait without a send", faults.insert("3WAIT_SEND_F0", "3F0"), "3WAIT_SEND_F0 at rank 1 has no pending send",
     (None, "3WAIT_SEND_F0")),
    ("two waits", faults.double("0WAIT_SEND_F1"), "0WAIT_SEND_F1 at rank 0 has no pending send", ("SendWaitDoubled", "0WAIT_SEND_F1")),
    ("two sends", faults.double("0SEND_F1"), "Duplicate pipeline send 0SEND_F1 at rank 0", ("TransferDoubled", "0SEND_F1")),
    ("a reduction without a wait", faults.drop("1WAIT_REDUCE_GRAD"), "Stage 1 at rank 1 has REDUCE_GRAD without WAIT_REDUCE_GRAD",
     ("ReduceWaitMissing", "1REDUCE_GRAD")),
    ("a wait before its reduction", moved("0WAIT_REDUCE_GRAD", before="0REDUCE_GRAD"),
     "has WAIT_REDUCE_GRAD for stage 0 without a pending reduction", ("ReduceWaitEarly", "0WAIT_REDUCE_GRAD")),
    ("two reductions pending", moved("2WAIT_REDUCE_GRAD", after="0REDUCE_GRAD"),
     "cannot start REDUCE_GRAD for stage 0 while stage 2 has a pending reduction", ("ReducePendingTwice", "0REDUCE_GRAD")),
    ("a wait for another stage's reduction", faults.swap("0WAIT_REDUCE_GRAD", "2WAIT_REDUCE_GRAD"),
     "has WAIT_REDUCE_GRAD for stage 0, but stage 2 has the pending reduction", ("ReduceWaitEarly", "0WAIT_REDUCE_GRAD")),
    ("no wait at all", lambda rows: [[cell for cell in row if "WAIT" not in cell] for row in rows],
     "cannot start REDUCE_GRAD for stage 0 while stage 2 has a pending reduction", None),
]

failures = []
for name, change, says, wanted in RULES:
    rows = change([list(row) for row in GOOD])
    assert rows != GOOD, name
    try:
        oracle.runtime(rows, "compute_comms", oracle.sizes(GOOD))
        failures.append(f"{name}: PyTorch loads it")
    except ValueError as error:
        if says not in str(error):
            failures.append(f"{name}: PyTorch says: {error}")
    found, _ = faults.lint(faults.text(rows))
    if isinstance(found, str):
        failures.append(f"{name}: not read: {found}")
        continue
    if found["pytorch"]["2.15"]:
        failures.append(f"{name}: lint says that 2.15 loads it")
    if wanted and not any(finding["kind"] in (wanted[0], finding["kind"] if wanted[0] is None else None) and
                          finding["cell"] == wanted[1] for finding in found["findings"]):
        failures.append(f"{name}: lint says {[(f['kind'], f['cell']) for f in found['findings']]}")
found, status = faults.lint(faults.text(GOOD))
if found["findings"] or status or not found["pytorch"]["2.15"]:
    failures.append(f"the good file: {found}")

# Each rank waits for a send whose receive the other one posts after its own
# wait. Without the waits there the orders end: each edge has a queue of its own.
EARLY = """\
0F0,0SEND_F0,0WAIT_SEND_F0,0F1,0SEND_F1,0WAIT_SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD,0WAIT_REDUCE_GRAD
1RECV_F0,1F0,1B0,1SEND_B0,1WAIT_SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1WAIT_SEND_B1,1REDUCE_GRAD,1WAIT_REDUCE_GRAD
"""
early = oracle.parse(EARLY)
late = faults.chain(moved("0WAIT_SEND_F1", after="0B1"), moved("1WAIT_SEND_B0", after="1B1"))(early)
jobs = []
for name, rows, ends in ("early", early, False), ("late", late, True):
    found, _ = faults.lint(faults.text(rows), "--require=edge")
    if found["safe"]["edge"] != ends or found["safe"]["buffered"] != ends:
        failures.append(f"{name}: lint says {found}")
    if not ends and not any("WAIT_SEND" in note["message"] for f in found["findings"] if f["kind"] == "Deadlock" for note in f["notes"]):
        failures.append(f"{name}: no wait in {found['findings']}")
    path = os.path.join(sys.argv[1], f"{name}.csv")
    oracle.write(path, rows)
    jobs.append(([(path, "compute_comms")], train.Setting(timeout=8)))
for (name, ends), outcome in zip((("early", False), ("late", True)), train.train_all(jobs, at_once=2)):
    outcome = next(iter(outcome.values()))
    if (outcome == "equal") != ends or not ends and not any(p.kind == "time-out" for ps in outcome.values() for p in ps):
        failures.append(f"{name}: the run: {outcome}")

for failure in failures:
    print(failure)
print(f"{len(RULES)} rules, {len(failures)} failures")
sys.exit(bool(failures))
