# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""The training harness itself: torch's own schedules train to equal results, with
every wrapping of the stages, and files with a fault do not pass."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
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
settings = [train.Setting(), train.Setting(uneven=True), train.Setting(wrap="fsdp"), train.Setting(wrap="fsdp", replicas=2),
            train.Setting(communicators="stream")]
for setting, outcome in zip(settings, train.train_all([(files, setting) for setting in settings])):
    assert len(outcome) == len(files) and all(found == "equal" for found in outcome.values()), (setting, outcome)


def without(rows, cell):
    """The rows without a cell and the wait for it."""
    assert sum(row.count(cell) for row in rows) == 1, cell
    wait = re.sub(r"^(\d+)", r"\1WAIT_", cell)
    return [[c for c in row if c not in (cell, wait)] for row in rows]


# A file that is wrong, one that stops, and a good one after them.
_, lowered = oracle.builtin("Interleaved1F1B", 2, 2, 4)
cases = [(os.path.join(folder, f"{name}.csv"), "compute_comms") for name in ("unscaled", "unsent", "refused", "good")]
for (path, _), rows in zip(cases, [without(lowered, "1REDUCE_GRAD"), without(lowered, "1SEND_F2"), without(lowered, "1B1"),
                                   lowered]):
    oracle.write(path, rows)
unscaled, unsent, refused, good = train.train(cases, train.Setting(timeout=5)).values()
assert train.Problem("different", "gradients of stage 1", 0) in unscaled[1], unscaled
assert any(problem.kind == "time-out" for problems in unsent.values() for problem in problems), unsent
assert all(problems[0].kind == "refused" for problems in refused.values()) and len(refused) == 2, refused
assert good == "equal", good

# Nothing is close to what is not a number.
import torch
import model
assert not model.close(torch.tensor([float("nan")]), torch.tensor([1.0]))
assert model.close(torch.tensor([1.0]), torch.tensor([1.0])) and not model.close(None, torch.tensor([1.0]))
