"""Compares pipec's list with what megatron-core runs, where its settings give the
schedule.

    list_megatron.py PIPE NAME=VALUE...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys
import warnings

warnings.filterwarnings("ignore")

import pipec
import pipec.megatron

path, *words = sys.argv[1:]
sizes = {name: int(value) for name, value in (word.split("=") for word in words)}
plan = pipec.compile(path, **sizes)
try:
    plan.emit("megatron-config")
except pipec.CompileError as error:
    print(f"not expressible: {error.diagnostics[0].message}")
    sys.exit()
recorded = pipec.megatron.record(plan.ranks, plan.microbatches)


def computes(schedule):
    return [[tuple(step)[:3] for step in rank.tolist() if step[0] <= pipec.Kind.W] for rank in schedule.steps]


if computes(plan) != computes(recorded):
    sys.exit("Megatron runs another order")
print(f"lists equal ({sum(map(len, computes(plan)))} computes)")
