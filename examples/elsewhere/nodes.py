"""Lists of ScheduledNode of sail-sg and Colossal-AI as a CSV."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys


def write_nodes(schedule, file):
    """Writes the CSV of lists of ScheduledNode."""
    kinds = {"F": "F", "B": "I", "W": "W", "BW": "B"}
    transfers = ("SEND_FORWARD", "RECV_FORWARD", "SEND_BACKWARD", "RECV_BACKWARD")
    left_out = 0
    for rank, nodes in enumerate(schedule):
        cells = []
        for node in nodes:
            kind = getattr(node.type, "name", node.type)
            if kind in transfers:
                continue  # pipec inserts them
            if kind not in kinds or getattr(node, "seq_split_idx", 0):
                left_out += 1
                continue
            stage = getattr(node, "layer_group_idx", None)
            if stage is None:  # Colossal-AI
                stage = rank if node.chunk == 0 else 2 * len(schedule) - 1 - rank
            microbatch = node.microbatch if hasattr(node, "microbatch") else node.minibatch
            cells.append(f"{stage}{kinds[kind]}{microbatch}")
        print(",".join(cells), file=file)
    if left_out:
        print(f"left out: {left_out} nodes", file=sys.stderr)
