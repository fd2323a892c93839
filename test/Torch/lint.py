# RUN: %torch-python %s
"""What lint says of a file is what PyTorch's runtime does with it.

1. Faults, one at a time, in a lowered file: the runtime ends as the finding's
   note says. With FSDP where the note is about shards.
2. Lowerings that PyTorch makes itself have no finding.
3. Its deferred receives, which train on wrong tensors for some schedules, are
   found to be crossed for exactly those.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import logging
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "..", "Lint", "Inputs")]
import library
import mutations
import oracle
import train

logging.disable(logging.CRITICAL)
failures = []
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "file.csv")


def run(rows, format="compute_comms", fsdp=False):
    """How a run of the file ends: equal, or one of the notes' results."""
    oracle.write(path, rows)
    found = train.train([(path, format)], timeout=4, fsdp=fsdp).get(path, {})
    if found == "equal":
        return "equal"
    texts = [text for kind, text in found.values() if kind == "error"]
    if any("invalid" in text.lower() or "Running " in text for text in texts):
        return "refused"
    if any(kind == "different" for kind, _ in found.values()):
        return "wrong"
    # The rank that comes upon the fault says so; the others lose their peer.
    own = [text for text in texts if "gloo" not in text and "Connection" not in text]
    if any("harding" in text or "sharded" in text for text in own):
        return "second step" if any("Unsharding the same" in text for text in own) else "sharded"
    return "stops" if own else "waits" if any("Timed out" in text for text in texts) else str(found)


# 1
_, good = oracle.builtin("Interleaved1F1B", 2, 2, 4)
tried = 0
for mutation in mutations.MUTATIONS:
    if not mutation.result or not (mutation.often or library.ALL):
        continue
    rows = mutation.change(good)
    if what := mutations.problem(mutation, rows):
        failures.append(f"{mutation.name}: {what}")
    ended = run(rows, fsdp=mutation.result in ("sharded", "second step"))
    expected = {
        # Sizes are equal here, so nothing stops the run.
        "other tensor": ["wrong"],
        # The message of a second unshard is the one that a missing reshard
        # gives in the next step.
        "sharded": ["sharded", "second step"],
    }.get(mutation.result, [mutation.result])
    tried += 1
    if ended not in expected:
        failures.append(f"{mutation.name}: lint says {mutation.result}, the run says {ended}")

# Losses out of order: whole backwards end in an error, split ones in silence.
for kinds, result in (["B"], "stops"), (["I", "W"], "wrong"):
    back = [[f"{stage}{kind}{m}" for kind in kinds for m in range(3)] for stage in range(2)]
    losses = [["0F0", "0F1", "0F2", *back[0]], ["1F0", "1F2", "1F1", *back[1]]]
    found, _ = mutations.lint(losses)
    said = [(finding["kind"], finding["notes"][-1]["kind"]) for finding in found["findings"]]
    ended = run(losses, "compute_only")
    if said != [("LossOrder", "NoteRunOtherLoss")] or ended != result:
        failures.append(f"losses out of order, {kinds}: {said}, the run says {ended}")

# 2 and 3
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
                found, status = mutations.lint(rows)
                if found["findings"] or status or not all(found["safe"].values()):
                    # PyTorch's order is safe under one stream as it is made.
                    failures.append(f"{name} p={p} v={v} m={m}: {found}")


def crossed(name, ranks, chunks, microbatches):
    """Whether lint finds crossed transfers in the deferred form."""
    compute, _ = oracle.builtin(name, ranks, chunks, microbatches)
    rows = oracle.lowered(compute, defer_pp_recv=True)
    found, _ = mutations.lint(rows)
    kinds = {finding["kind"] for finding in found["findings"]}
    return "TransferCrossed" in kinds, rows


for size in [("ZBVZeroBubble", 2, 2, 4), ("InterleavedZeroBubble", 2, 2, 4), ("Interleaved1F1B", 2, 2, 4),
             ("LoopedBFS", 2, 2, 4), ("DualPipeV", 2, 2, 5)]:
    found, rows = crossed(*size)
    ended = run(rows)
    if found != (ended != "equal"):
        failures.append(f"deferred {size}: {'crossed' if found else 'not crossed'}, the run says {ended}")
    if found != (size[0] in ("ZBVZeroBubble", "InterleavedZeroBubble")):
        failures.append(f"deferred {size}: {'crossed' if found else 'not crossed'}")

for failure in failures:
    print(failure)
print(f"{tried} faults run, {clean} sizes clean")
sys.exit(bool(failures) or tried < 9 or clean < 30)
