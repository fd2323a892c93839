# REQUIRES: torch-2.15
# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Waits for sends and for reductions, for every schedule of the library.

1. Reductions that are waited for late: our list is the one that PyTorch makes
   with `defer_reduce_grad_wait`.
2. A budget of sends: PyTorch loads the list, and no rank has more sends
   outstanding.
3. Waits at once, deferred, at the end and with a budget, with transfers in both
   orders, without FSDP and with it, train as the model without a pipeline.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import grid
import library
import oracle
import train

SIZES = library.SIZES if library.ALL else [(2, 1), (2, 5), (3, 3), (4, 2), (4, 8)]
BUDGETS = [1, 2, 5]


def passes(reduce, sends, order="rounds"):
    timed = "{order=timed}" if order == "timed" else ""
    return f"strip-bubbles,inject-fsdp{{wait={reduce}}},insert-p2p{timed},insert-waits{{existing=keep,{sends}}}"


def outstanding(rows):
    """The largest number of sends that a rank has not waited for."""
    peak = 0
    for row in rows:
        now = 0
        for cell in row:
            now += ("SEND_" in cell) - 2 * ("WAIT_SEND_" in cell)
            peak = max(peak, now)
    return peak


deferred, budgets = oracle.Report(), oracle.Report()
for title, words, compute in library.instances(sizes=SIZES):
    ours = oracle.pipec(*words, f"--passes={passes('deferred', 'sends=backward')}")
    theirs = oracle.lowered(compute, defer_reduce_grad_wait=True)
    deferred.check(title, oracle.difference(oracle.normal(ours), oracle.normal(theirs)))
    for budget in BUDGETS:
        ours = oracle.pipec(*words, f"--passes={passes('at-once', f'budget={budget}')}")
        loaded = oracle.runtime(ours, "compute_comms", oracle.sizes(compute))
        found = oracle.difference(oracle.cells(loaded.pipeline_order_with_comms), ours)
        if not found and outstanding(ours) > budget:
            found = f"{outstanding(ours)} sends outstanding"
        budgets.check(f"{title} budget {budget}", found)
deferred.finish(60)
budgets.finish(180)

# Every schedule takes some of the ways, in turn; in the long run all of them.
WAYS = [passes(reduce, sends, order)
        for reduce, sends, order in itertools.product(["at-once", "deferred"], ["sends=backward", "sends=end", "budget=1", "budget=3"],
                                                      ["rounds", "timed"])]
turn = itertools.cycle(WAYS)
tried = set()
trained = oracle.Report()
for sizes, setting in ((2, 4), train.Setting()), ((4, 8), train.Setting()), ((2, 6), train.Setting(wrap="fsdp")):
    files = grid.Grid(sys.argv[1])
    for title, words, _ in library.instances(sizes=[sizes]):
        for way in WAYS if library.ALL else itertools.islice(turn, 1 if "chunks" in title else 2):
            tried.add(way)
            files.add(words, way)
    files.train(trained, setting)
assert tried == set(WAYS)
trained.finish(70)
