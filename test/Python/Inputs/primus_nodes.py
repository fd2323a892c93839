"""Own classes in place of the parts of Primus that pipec uses, and faulty tables of its
generators in their printed form."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import enum
import re
import sys
import types
from typing import Any

FuncType = enum.Enum("FuncType", "F B W BW FB SF SB RF RB O R")


@dataclasses.dataclass
class SchedulerNode:
    func_type: FuncType
    mini_batch: int
    chunk: int
    args: Any = None
    meta: Any = None

    def __str__(self):
        return f"({self.func_type.name}|{self.mini_batch}|{self.chunk})"


class PipelineScheduleAlgo:
    def __init__(self, pp_size, vpp_size, micro_batches):
        self.pp_size, self.vpp_size, self.micro_batches = pp_size, vpp_size, micro_batches


def install():
    """Makes these classes importable by the names of Primus; returns the factory."""
    scheduler = "primus.core.pipeline_parallel.scheduler"
    parts = {f"{scheduler}.scheduler_node": {"FuncType": FuncType, "SchedulerNode": SchedulerNode},
             f"{scheduler}.algorithms.base": {"PipelineScheduleAlgo": PipelineScheduleAlgo},
             f"{scheduler}.schedule_table_factory": {"pp_algorithm_map": dict.fromkeys(
                 ["1f1b", "1f1b-interleaved", "zero-bubble", "zbv-formatted"]), "_schedule_instance_cache": {1: 2}}}
    for name, members in parts.items():
        sys.modules[name] = module = types.ModuleType(name)
        vars(module).update(members)
    return sys.modules[f"{scheduler}.schedule_table_factory"]


def table(text, is_v=False):
    """The table of a printed form, a line per rank, with the ranks of its transfers."""
    rows = [re.findall(r"\((\w+)\|(-?\d+)\|(\d+)\)", line) for line in text.strip().splitlines()]
    ranks, chunks = len(rows), 1 + max(int(chunk) for row in rows for *_, chunk in row)

    def place(stage):
        chunk, at = divmod(stage, ranks)
        return (ranks - 1 - at if is_v and chunk % 2 else at), chunk

    result = []
    for rank, row in enumerate(rows):
        result.append([])
        for name, microbatch, chunk in row:
            node = SchedulerNode(FuncType[name], int(microbatch), int(chunk))
            result[-1].append(node)
            if name not in ("SF", "RF", "SB", "RB"):
                continue
            stage = node.chunk * ranks + (ranks - 1 - rank if is_v and node.chunk % 2 else rank)
            other, of = place(stage + (1 if name in ("SF", "RB") else -1))
            assert 0 <= of < chunks
            if name[0] == "S":
                node.args = {"from_pp_rank": rank, "to_pp_rank": other, "send_to_chunk": of}
            else:
                node.args = {"from_pp_rank": other, "to_pp_rank": rank, "recv_from_chunk": of}
    return result


# More warm-up than micro-batches: one too many, and one before the first.
WARMUP = """
(F|0|0) (SF|0|0) (F|1|0) (SF|1|0) (F|2|0) (SF|2|0) (RB|-1|0) (BW|-1|0) (RB|0|0) (BW|0|0) (RB|1|0) (BW|1|0)
(RF|0|0) (F|0|0) (SF|0|0) (RF|1|0) (F|1|0) (SF|1|0) (RB|0|0) (BW|0|0) (SB|0|0) (RB|1|0) (BW|1|0) (SB|1|0)
(RF|0|0) (F|0|0) (SF|0|0) (RF|1|0) (F|1|0) (SF|1|0) (RB|0|0) (BW|0|0) (SB|0|0) (RB|1|0) (BW|1|0) (SB|1|0)
(RF|0|0) (F|0|0) (BW|0|0) (SB|0|0) (RF|1|0) (F|1|0) (BW|1|0) (SB|1|0)
"""

# Two chunks, of which rank 0 runs two micro-batches too many.
ROUNDS = """
(F|0|0) (SF|0|0) (F|1|0) (SF|1|0) (RF|0|1) (F|0|1) (RF|1|1) (F|1|1) (F|2|0) (SF|2|0) (F|3|0) (SF|3|0) (RB|0|1) (BW|0|1) (SB|0|1) (RB|1|1) (BW|1|1) (SB|1|1) (RB|0|0) (BW|0|0) (RB|1|0) (BW|1|0)
(RF|0|0) (F|0|0) (SF|0|0) (RF|1|0) (F|1|0) (SF|1|0) (RF|0|1) (F|0|1) (BW|0|1) (SB|0|1) (RF|1|1) (F|1|1) (BW|1|1) (SB|1|1) (RB|0|0) (BW|0|0) (SB|0|0) (RB|1|0) (BW|1|0) (SB|1|0)
"""

# A V that fills the pipeline with three micro-batches where there are two.
FILLED = """
(F|0|0) (SF|0|0) (F|1|0) (SF|1|0) (F|2|0) (SF|2|0) (RF|0|1) (F|0|1) (B|0|1) (SB|0|1) (RF|1|1) (W|0|1) (F|1|1) (B|1|1) (SB|1|1) (W|1|1) (RB|0|0) (B|0|0) (W|0|0) (RF|2|1) (F|2|1) (B|2|1) (SB|2|1) (W|2|1) (RB|1|0) (B|1|0) (W|1|0) (RB|2|0) (B|2|0) (W|2|0)
(RF|0|0) (F|0|0) (RF|1|0) (SF|0|0) (RF|0|1) (F|0|1) (RF|2|0) (SF|0|1) (F|1|0) (SF|1|0) (RF|1|1) (F|1|1) (RB|0|1) (SF|1|1) (B|0|1) (SB|0|1) (RB|0|0) (W|0|1) (F|2|0) (RB|1|1) (SF|2|0) (RF|2|1) (B|0|0) (SB|0|0) (W|0|0) (F|2|1) (SF|2|1) (B|1|1) (SB|1|1) (RB|1|0) (W|1|1) (RB|2|1) (B|1|0) (SB|1|0) (B|2|1) (SB|2|1) (RB|2|0) (B|2|0) (SB|2|0) (W|1|0) (W|2|1) (W|2|0)
"""
