# RUN: env PIPEC=%build/bin/pipec %megatron-python %s
"""What megatron-core runs, recorded, is what the library of pipec generates: 1F1B and
interleaved 1F1B, with groups, with and without overlapped transfers. Its transfers
finish."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import warnings

warnings.filterwarnings("ignore")

import pipec
import pipec.megatron
from pipec import Kind

COMPUTES = {Kind.F, Kind.B}


def computes(schedule):
    """The steps of each rank that compute, with what they overlap with."""
    lists = []
    for steps in schedule.steps:
        groups = {}
        for step in steps:
            if step["kind"] in COMPUTES:
                groups.setdefault(step["group"], []).append((step["kind"], step["stage"], step["microbatch"]))
        lists.append(list(groups.values()))
    return lists


def check(recorded, expected):
    assert computes(recorded) == computes(expected), recorded
    assert recorded.stage_to_rank == expected.stage_to_rank, recorded
    # Megatron's transfers have a communicator for each pair of ranks, and for two
    # ranks one for each direction.
    findings = recorded.lint(require="edge" if recorded.ranks == 2 else "pair")
    assert findings, (recorded, str(findings))


sizes = 0
for ranks in 2, 3, 4, 7:
    for microbatches in 1, 2, ranks, ranks + 3, 3 * ranks:
        check(pipec.megatron.record(ranks, microbatches), pipec.compile("one_f_one_b", ranks=ranks, microbatches=microbatches))
        sizes += 1
for ranks in 2, 3, 4:
    for chunks in 2, 3:
        for group in ranks, ranks + 1, ranks + 2:
            for microbatches in group, group + ranks, 2 * group, 2 * group + ranks + 1:
                last = microbatches % group
                if 0 < last < ranks:
                    continue
                size = {"ranks": ranks, "chunks": chunks, "microbatches": microbatches, "group": group}
                expected = pipec.compile("interleaved", **size)
                check(pipec.megatron.record(**size), expected)
                if ranks > 2:
                    check(pipec.megatron.record(**size, overlap_p2p=False), expected)
                check(pipec.megatron.record(**size, overlap_p2p_comm_warmup_flush=True), expected)
                pairs = pipec.compile("interleaved_overlap", **size)
                check(pipec.megatron.record(**size, overlap_moe=True), pairs)
                sizes += 1
print(sizes, "sizes")
assert sizes >= 40
