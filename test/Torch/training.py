# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Two and four gloo processes train a model with CSVs of ours, for two steps;
losses and gradients equal those of the unpipelined model."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import library
import oracle
import train

folder = sys.argv[1]
NAMES = sys.argv[2:] or list(library.CHUNKS)

files = {}
library.SIZES = [(2, 4), (2, 5), (4, 8)]
for title, words, compute in library.instances(NAMES):
    ranks = len(compute)
    stem = os.path.join(folder, title.replace(" ", "").replace("=", ""))
    # Computes alone, the order of torch's own lowering, and the order of time.
    for target, format in ("torch-compute", "compute_only"), ("torch", "compute_comms"), ("torch-timed", "compute_comms"):
        rows = compute if format == "compute_only" else oracle.pipec(*words, f"--target={target}")
        path = f"{stem}.{target}.csv"
        oracle.write(path, rows)
        files.setdefault(ranks, []).append((path, format))

report = oracle.Report()
for ranks, group in sorted(files.items()):
    outcome = train.train(group)
    for path, format in group:
        found = outcome.get(path, "not trained")
        report.check(os.path.basename(path), None if found == "equal" else found)
report.finish(4 * len(NAMES))
