# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Training with fully_shard (FSDP2), one process per rank and two: every schedule of
the library, several numbers of gathered stages and distances of prefetch,
transfers in either order, and what PyTorch itself adds to computes."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle
import train

folder = sys.argv[1]
ACTIVE = [1, 2, 3]
PREFETCH = ["0", "1", "all"]
ORDERS = [oracle.TARGET, oracle.TIMED]
if library.ALL:
    ACTIVE, PREFETCH = [1, 2, 3, 4], ["0", "1", "3", "all"]

report = oracle.Report()

# Every schedule takes some of the combinations, in turn; in the long run each on
# two processes, and more on four.
settings = [f"inject-fsdp{{max-active={active},prefetch={prefetch}}},{order}"
            for active, prefetch, order in itertools.product(ACTIVE, PREFETCH, ORDERS)]
turn = itertools.cycle(settings)
tried = set()
for ranks, microbatches, replicas in [(2, 4, 1), (2, 6, 2)] + [(4, 8, 1), (2, 4, 2)] * library.ALL:
    files = grid.Grid(folder)
    for title, words, compute in library.instances(sizes=[(ranks, microbatches)]):
        every = library.ALL and ranks * replicas == 2
        for passes in settings if every else itertools.islice(turn, 4 if library.ALL else 1):
            tried.add(passes)
            files.add(words, passes)
        if library.ALL or "chunks" not in title:
            files.add(words, "torch-compute")
    files.train(report, train.Setting(wrap="fsdp", replicas=replicas))
assert tried == set(settings)

report.finish(70)
