# RUN: %torch-python %s
"""What lint says of schedules that PyTorch makes itself.

1. Its lowerings have no finding.
2. Its deferred receives (defer_pp_recv) cross tensors for some schedules: lint
   finds that for exactly those that then train on wrong tensors.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "..", "Lint", "Inputs")]
import faults
import library
import oracle
import train

failures = []

# 1
CLASSES = [("LoopedBFS", [1, 2, 3]), ("Interleaved1F1B", [1, 2, 3]), ("InterleavedZeroBubble", [1, 2, 3]),
           ("ZBVZeroBubble", [2]), ("DualPipeV", [2])]
SIZES = [(p, m) for p in range(1, 9) for m in range(1, 4 * p + 1)] if library.ALL else \
    [(2, 2), (2, 4), (2, 5), (3, 6), (4, 8)]
clean = 0
for name, chunks in CLASSES:
    for v in chunks:
        for p, m in SIZES:
            built = oracle.builtin(name, p, v, m)
            if isinstance(built, str):
                continue
            clean += 1
            for rows in built:
                found, status = faults.lint(faults.text(rows))
                grave = [finding for finding in found["findings"] if finding["severity"] != "note"]
                if grave or status or not all(found["safe"].values()):
                    # PyTorch's order is safe under one stream as it is made.
                    failures.append(f"{name} p={p} v={v} m={m}: {found}")

# 2
SIZES = [("ZBVZeroBubble", 2, 2, 4), ("ZBVZeroBubble", 4, 2, 8), ("InterleavedZeroBubble", 2, 2, 4),
         ("InterleavedZeroBubble", 4, 2, 8), ("Interleaved1F1B", 2, 2, 4), ("Interleaved1F1B", 4, 2, 8),
         ("LoopedBFS", 2, 2, 4), ("DualPipeV", 2, 2, 5), ("DualPipeV", 4, 2, 9)]
SIZES += [(name, p, 2, m) for name, _ in CLASSES for p in (2, 3, 4) for m in range(p, 2 * p + 3)] * library.ALL
jobs, crossed = [], []
with tempfile.TemporaryDirectory() as folder:
    for name, p, v, m in SIZES:
        built = oracle.builtin(name, p, v, m)
        if isinstance(built, str):
            continue
        rows = oracle.lowered(built[0], defer_pp_recv=True)
        path = os.path.join(folder, f"{name} p={p} v={v} m={m}.csv")
        oracle.write(path, rows)
        found, _ = faults.lint(faults.text(rows))
        crossed.append(any(finding["kind"] == "TransferCrossed" for finding in found["findings"]))
        jobs.append(([(path, "compute_comms")], train.Setting(timeout=20)))
    outcomes = [found for outcome in train.train_all(jobs) for found in outcome.values()]
for (((path, _),), _), wrong, outcome in zip(jobs, crossed, outcomes):
    silent = outcome != "equal" and all(p.kind == "different" for problems in outcome.values() for p in problems)
    if outcome != "equal" and not silent or wrong != silent:
        failures.append(f"{os.path.basename(path)}: {'crossed' if wrong else 'not crossed'}, the run: {outcome}")

for failure in failures:
    print(failure)
print(f"{clean} sizes clean; of {len(jobs)} with deferred receives {sum(crossed)} crossed")
sys.exit(bool(failures) or clean < 30 or not any(crossed) or all(crossed))
