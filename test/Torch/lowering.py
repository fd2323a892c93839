# RUN: %torch-python %s
"""Our lowering is PyTorch's, for every schedule that PyTorch can express.

For each size: torch loads our compute-only CSV; the transfers that it adds to
that order are those of `insert-p2p`; what it makes of the file is what
the target for this version makes of the schedule; and torch loads that file too.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import library
import oracle

NAMES = sys.argv[1:] or list(library.CHUNKS)

transfers = oracle.Report()
lowered = oracle.Report()
for title, words, compute in library.instances(NAMES, groups=True):
    try:
        theirs = oracle.lowered(compute)
    except Exception as error:  # noqa: BLE001 (whatever torch raises)
        lowered.check(title, f"torch refuses it: {str(error).splitlines()[0]}")
        continue
    plain = [[cell for cell in row if cell] for row in compute]
    ours = oracle.pipec(*words, "--passes=strip-bubbles,insert-p2p")
    transfers.check(title, oracle.difference(ours, oracle.add_send_recv(plain)))
    ours = oracle.pipec(*words, f"--target={oracle.TARGET}")
    lowered.check(title, oracle.difference(oracle.normal(ours), oracle.normal(theirs)))
    loaded = oracle.runtime(ours, "compute_comms", oracle.sizes(compute))
    lowered.check(title, oracle.difference(oracle.cells(loaded.pipeline_order_with_comms), ours))
transfers.finish(5 * len(NAMES))
lowered.finish(10 * len(NAMES))
