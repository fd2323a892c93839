"""Compares pipec's list with d9d's: d9d composes the program from the computes, and
inserts the transfers itself.

    list_d9d.py PIPE NAME=VALUE...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

from d9d.pipelining.infra.schedule.component.program import add_communication_ops

import pipec
import pipec.d9d

path, *words = sys.argv[1:]
sizes = {name: int(value) for name, value in (word.split("=") for word in words)}
plan = pipec.compile(path, target="d9d", **sizes)
ours = pipec.d9d.load_program(plan).compose(num_microbatches=plan.microbatches, pp_size=plan.ranks)
bare = {rank: [action for action in row if "SEND" not in str(action) and "RECV" not in str(action)] for rank, row in ours.items()}
theirs = add_communication_ops(bare, stage_to_rank=dict(enumerate(plan.stage_to_rank)), num_stages=plan.stages)
if {rank: list(map(str, row)) for rank, row in theirs.items()} != {rank: list(map(str, row)) for rank, row in ours.items()}:
    sys.exit("d9d inserts other transfers")
print(f"lists equal ({sum(map(len, ours.values()))} steps)")
