# REQUIRES: torch-2.15
# RUN: %torch-python %s
"""`inject-fsdp{unshard-lookahead=...}` is the `unshard_lookahead` of PyTorch 2.15:
for schedules of the library, sizes and numbers of active stages the UNSHARDs
and RESHARDs are those that its own lowering adds, and both refuse the same
values."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import library
import oracle

from torch.distributed.pipelining import schedules

NAMES = ["interleaved", "interleaved_overlap", "looped_bfs", "zbv", "dualpipev", "hanayo"]
SIZES = [(1, 3), (2, 4), (3, 6), (4, 9)]


def theirs(rows, max_active, lookahead):
    """What PyTorch makes of compute rows; None when it takes no overlap so wide."""
    ahead = schedules._resolve_unshard_lookahead(lookahead, len(rows), max_active)
    result = []
    for row, count in zip(rows, ahead):
        actions = [oracle.Action.from_str(cell) for cell in row]
        try:
            lowered = schedules._add_unshard_reshard(actions, max_active, unshard_lookahead=count)
        except ValueError as error:
            assert "exceeding max_active_stages" in str(error), error
            return None
        result.append([str(action) for action in lowered])
    return result


def ours(words, max_active, lookahead):
    value = lookahead if isinstance(lookahead, str) else "+".join(map(str, lookahead))
    passes = f"strip-bubbles,inject-fsdp{{max-active={max_active},unshard-lookahead={value}}}"
    rows = oracle.pipec(*words, f"--passes={passes}")
    return [[cell for cell in row if not cell.endswith("REDUCE_GRAD")] for row in rows]


report = oracle.Report()
differ = 0
for title, words, rows in library.instances(NAMES, sizes=SIZES):
    ranks = len(rows)
    for max_active in 1, 2, 3, 5:
        full = theirs(rows, max_active, "full")
        if full is None:
            continue
        numbers = [tuple(1 + (rank + k) % max_active for rank in range(ranks)) for k in range(max_active)]
        for lookahead in ["full", "auto", *numbers]:
            wanted = theirs(rows, max_active, lookahead)
            differ += wanted != full
            report.check(f"{title} max {max_active} {lookahead}",
                         oracle.difference(oracle.normal(ours(words, max_active, lookahead)), oracle.normal(wanted)))
report.finish(500)
assert differ > 100, differ

# A number for each rank, from 1 to the number of active stages.
words = library.arguments("interleaved", 2, 4, 2)
for numbers in itertools.chain.from_iterable(itertools.product(range(5), repeat=n) for n in (1, 2, 3)):
    try:
        schedules._resolve_unshard_lookahead(numbers, 2, 3)
        taken = True
    except ValueError:
        taken = False
    value = "+".join(map(str, numbers))
    status, _, err = oracle.run("pipec", *words, "--show-kinds", "--emit=csv", "-o", "-",
                                f"--passes=inject-fsdp{{unshard-lookahead={value}}}")
    assert status == (0 if taken else 1), (numbers, status, err)
    assert taken or "[FsdpLookahead" in err, (numbers, err)
