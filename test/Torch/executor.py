# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s
"""Executors of --emit=python train with the losses and gradients of the model without
a pipeline: every schedule of the library, also those that PyTorch's runtime cannot run
(two directions, any overlap, batches of transfers)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import executors
import library
import pipec

Case = executors.Case
CHUNKED = [name for name, chunks in library.CHUNKS.items() if chunks != [None]] + ["interleaved_overlap_bf"]
names = sys.argv[1:] or pipec.library()
SIZES = [(2, 4), (4, 8)] + ([(2, 6), (3, 6), (4, 16)] if library.ALL else [])


def cases(ranks, microbatches):
    for name in names:
        params = {"ranks": ranks, "microbatches": microbatches, **({"chunks": 2} if name in CHUNKED else {})}
        try:
            if pipec.compile(name, **params).slices > 1:
                sliced.add(name)  # slices.py trains those
                continue
        except pipec.CompileError as error:
            assert any(found.kind == "RequirementFailed" for found in error.diagnostics), error
            continue
        yield Case(name, params)


trained, sliced = set(), set()
failed = False
for ranks, microbatches in SIZES:
    todo = list(cases(ranks, microbatches))
    for case, results in zip(todo, executors.run(ranks, todo)):
        trained.add(case.name)
        for rank, problems in enumerate(results):
            if problems:
                failed = True
                print(f"{case}: rank {rank}: {'; '.join(problems)}", flush=True)
assert not failed
assert trained | sliced >= set(names) and len(sliced) < 4, set(names) - trained
print(len(trained), "schedules")
