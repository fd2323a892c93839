# RUN: env PIPEC=%build/bin/pipec %megatron-python %s %if all %{ --all %}
"""The orders of --emit=te-order are those that megatron-core makes for Transformer
Engine, and reading them gives the schedule back."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

from megatron.core.pipeline_parallel.schedules import get_schedule_table
from megatron.core.transformer.cuda_graphs import convert_schedule_table_to_order

import pipec
import pipec.megatron


def expected(ranks, chunks, microbatches, group):
    """The order of each rank; the numbers of warm-up steps are those of
    get_pp_rank_microbatches, which needs a process group."""
    table = get_schedule_table(microbatches, chunks, group)
    for rank in range(ranks):
        warmup = 2 * (ranks - rank - 1) + (chunks - 1) * group if chunks > 1 else ranks - rank - 1
        yield convert_schedule_table_to_order(min(warmup, len(table)), chunks, table)


def computes(schedule):
    return [line.strip() for line in schedule.ir.splitlines() if line.startswith(("    F", "    B", "      F", "      B"))]


def check(name, ranks, chunks, microbatches, group):
    sizes = {"chunks": chunks, "group": group} if chunks > 1 else {}
    schedule = pipec.compile(name, ranks=ranks, microbatches=microbatches, **sizes)
    text = schedule.emit("te-order")
    order = json.loads(text)
    assert order["chunks"] == chunks and order["microbatches"] == microbatches, text
    assert order["order"] == list(expected(ranks, chunks, microbatches, group)), (name, ranks, chunks, microbatches, group)
    assert all(isinstance(entry, int) for entries in order["order"] for entry in entries), text
    path = os.path.join(folder, "order.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    back = pipec.megatron.read_te_order(path)
    assert back.stage_to_rank == schedule.stage_to_rank
    assert computes(back) == computes(schedule), (name, ranks, chunks, microbatches, group)


done = refused = 0
with tempfile.TemporaryDirectory() as folder:
    for ranks in (2, 3, 4, 5, 8) if "--all" in sys.argv else (2, 3, 4):
        for microbatches in 1, ranks + 1, 3 * ranks:
            check("one_f_one_b", ranks, 1, microbatches, microbatches)
            done += 1
        for chunks in 2, 3:
            for group in ranks, ranks + 2:
                for microbatches in 1, ranks, group + ranks, 2 * group + ranks, 3 * group, 2 * group + 1:
                    try:
                        check("interleaved", ranks, chunks, microbatches, group)
                        done += 1
                    except pipec.CompileError as error:
                        # The ranks would wait for each other; Megatron-LM refuses these, too.
                        assert "its ranks wait for each other" in str(error), error
                        assert 0 < microbatches % group < ranks, (ranks, chunks, microbatches, group)
                        refused += 1
print(done, "sizes;", refused, "refused")
assert done >= 40

# The example of convert_schedule_table_to_order, as Megatron logs it.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "run.log")
    with open(path, "w", encoding="utf-8") as file:
        for rank, entries in enumerate(expected(2, 2, 4, 2)):
            file.write(f"[2026-01-01 00:00:00] DEBUG megatron.core.transformer.cuda_graphs: Rank {rank}: ORDER {entries}\n")
    assert computes(pipec.megatron.read_te_order(path)) == computes(
        pipec.compile("interleaved", ranks=2, chunks=2, microbatches=4, group=2))
