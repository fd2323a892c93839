# RUN: env PIPEC=%build/bin/pipec %megatron-python %s %if all %{ --all %}
"""What megatron-core runs, recorded, is what the library of pipec generates: 1F1B and
interleaved 1F1B, with groups, with and without overlapped transfers. Its transfers
finish."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import sys
import warnings

warnings.filterwarnings("ignore")

import pipec
import pipec.megatron
from pipec import Kind

RANKS = (2, 3, 4, 7) if "--all" not in sys.argv else (2, 3, 4, 6, 8)
CHUNKS = (2, 3) if "--all" not in sys.argv else (2, 3, 4)
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


def check_settings(recorded, chunks=None, group=None):
    """The settings that gave the schedule are recognised."""
    config = json.loads(recorded.emit("megatron-config"))["config"]
    assert config == {"pipeline_model_parallel_size": recorded.ranks, "virtual_pipeline_model_parallel_size": chunks,
                      "microbatch_group_size_per_vp_stage": group,
                      "overlap_moe_expert_parallel_comm": "overlap " in recorded.ir}, (recorded, config)


sizes = 0
for ranks in RANKS:
    for microbatches in 1, 2, ranks, ranks + 3, 3 * ranks:
        recorded = pipec.megatron.record(ranks, microbatches)
        check(recorded, pipec.compile("one_f_one_b", ranks=ranks, microbatches=microbatches))
        check_settings(recorded)
        sizes += 1
for ranks in RANKS[:-1]:
    for chunks in CHUNKS:
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
                recorded = pipec.megatron.record(**size, overlap_moe=True)
                check(recorded, pairs)
                check_settings(recorded, chunks, group)
                sizes += 1
print(sizes, "sizes")
assert sizes >= 40
