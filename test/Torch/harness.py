# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %torch-python %s %t
"""The training harness itself: torch's own schedules train to equal results,
and files with a fault do not pass."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import oracle
import train

folder = sys.argv[1]

files = []
for name, chunks, microbatches in [("Interleaved1F1B", 2, 4), ("LoopedBFS", 2, 3), ("ZBVZeroBubble", 2, 4),
                                   ("InterleavedZeroBubble", 2, 4), ("DualPipeV", 2, 5)]:
    compute, lowered = oracle.builtin(name, 2, chunks, microbatches)
    # What the runtime lowers itself is what the built-in class runs.
    assert oracle.difference(oracle.normal(oracle.lowered(compute)), oracle.normal(lowered)) is None, name
    for rows, format in (compute, "compute_only"), (lowered, "compute_comms"):
        files.append((os.path.join(folder, f"{name}.{format}.csv"), format))
        oracle.write(files[-1][0], rows)
outcome = train.train(files)
assert all(outcome.get(path) == "equal" for path, _ in files), outcome


def without(rows, cell):
    assert sum(row.count(cell) for row in rows) == 1, cell
    return [[c for c in row if c != cell] for row in rows]


_, lowered = oracle.builtin("Interleaved1F1B", 2, 2, 4)
path = os.path.join(folder, "broken.csv")
oracle.write(path, without(lowered, "1REDUCE_GRAD"))
outcome = train.train([(path, "compute_comms")])
assert outcome[path][1] == ("different", "gradients of stage 1 in step 0"), outcome

oracle.write(path, without(lowered, "1SEND_F2"))
outcome = train.train([(path, "compute_comms")], timeout=3)
assert any(kind == "error" for kind, _ in outcome[path].values()), outcome
