"""Schedules of Tessel as a CSV."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

def write_blocks(plan, file):
    """Writes the CSV of a plan of Tessel, read with json.load."""
    rows = [[] for _ in range(plan["ndevs"])]
    for block in sorted(plan["blocks"], key=lambda block: block["step"]):
        if len(block["device"]) != 1:
            raise ValueError(f"block {block['gid']} of micro-batch {block['mid']} is on devices {block['device']}")
        kind = "F" if block["btype"] == "forward" else "B"
        rows[block["device"][0]].append((block["step"], f"{block['gid']}{kind}{block['mid']}"))
    for row in rows:
        print(",".join(cell for _, cell in row), file=file)
