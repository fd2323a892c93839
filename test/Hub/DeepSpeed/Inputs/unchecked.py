"""Files of instructions for lists that the target refuses: with a buffer for every
micro-batch, and nothing checked."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re

NAMES = {"F": "ForwardPass", "B": "BackwardPass", "SEND_F": "SendActivation", "RECV_F": "RecvActivation",
         "SEND_B": "SendGrad", "RECV_B": "RecvGrad"}


def write(csv, path):
    rows = [line.split(",") for line in csv.split()]
    count = 1 + max(int(re.search(r"\d+$", cell)[0]) for cell in rows[0])
    lists = []
    for rank, row in enumerate(rows):
        steps = []
        for cell in row:
            kind, microbatch = re.fullmatch(r"\d+([A-Z_]+)(\d+)", cell).groups()
            if kind == "F" and rank in (0, len(rows) - 1):
                steps.append([["LoadMicroBatch", int(microbatch)]])
            steps.append([[NAMES[kind], int(microbatch)]])
        lists.append([*steps, [["ReduceTiedGrads"], ["ReduceGrads"], ["OptimizerStep"]]])
    with open(path, "w", encoding="ascii") as file:
        json.dump({"format": "pipec-deepspeed 1", "ranks": len(rows), "microbatches": count,
                   "buffers": [count] * len(rows), "instructions": lists}, file)
