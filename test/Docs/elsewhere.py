# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s %root/examples/elsewhere
"""The programs for schedules from elsewhere, on objects with the attributes
that docs/Elsewhere.md names: each writes the CSV of the schedule that the objects were made from,
or the profile with its costs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import enum
import io
import json
import pathlib
import re
import subprocess
import sys
import types
from types import SimpleNamespace as Object

programs = types.SimpleNamespace()
files = sorted(pathlib.Path(sys.argv[1]).glob("*.py"))
for file in files:
    exec(file.read_text(encoding="utf-8"), vars(programs))  # noqa: S102 (the programs that are tested)
assert len(files) == 4


def pipec(*args, stdin=None):
    return subprocess.run(["pipec", *args], input=stdin, capture_output=True, text=True, check=True).stdout


def csv(*args):
    return pipec(*args, "--emit=csv")


def written(function, *args, **keywords):
    """What a program writes, and what it says."""
    file, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors):
        function(*args, file=file, **keywords)
    return file.getvalue(), errors.getvalue()


def steps(text):
    """By rank: stage, kind and micro-batch of each cell; of an overlap, a list of them; None for an idle slot."""
    def step(cell):
        stage, kind, microbatch = re.fullmatch(r"(\d+)([FBIW])(\d+)", cell).groups()
        return int(stage), kind, int(microbatch)
    return [[None if not cell else [step(part) for part in cell[1:cell.index(")")].split(";")] if cell[0] == "(" else
             step(cell) for cell in line.split(",")] for line in text.splitlines()]


# sail-sg: an enumeration, the stage as layer_group_idx; whole and split backwards.
Type = enum.Enum("FuncType", "F B W BW R SEND_FORWARD RECV_FORWARD SEND_BACKWARD RECV_BACKWARD POST_VALIDATION OFFLOAD_SEND")
TYPES = {"F": Type.F, "I": Type.B, "W": Type.W, "B": Type.BW}
for name in "zb1p", "one_f_one_b", "zbv":
    text = csv(name, "ranks=4", "microbatches=8")
    nodes = [[Object(type=TYPES[kind], stage=rank, microbatch=k, chunk=stage // 4, seq_split_idx=0, layer_group_idx=stage)
              for stage, kind, k in row] for rank, row in enumerate(steps(text))]
    nodes[0][3:3] = [Object(type=Type.SEND_FORWARD), Object(type=Type.POST_VALIDATION)]
    nodes[1].append(Object(type=Type.F, microbatch=0, seq_split_idx=1, layer_group_idx=1))
    assert written(programs.write_nodes, nodes) == (text, "left out: 2 nodes\n"), name

# Colossal-AI: strings, a V, `minibatch`.
text = csv("zbv", "ranks=4", "microbatches=8")
names = {"F": "F", "I": "B", "W": "W"}
nodes = [[Object(type=names[kind], chunk=int(stage >= 4), stage=rank, minibatch=k) for stage, kind, k in row]
         for rank, row in enumerate(steps(text))]
nodes[2].insert(0, Object(type="RECV_POST_VALIDATION", chunk=0, stage=2, minibatch=0))
assert written(programs.write_nodes, nodes) == (text, "left out: 1 nodes\n")

# Tessel: blocks with steps, in any order.
text = csv("one_f_one_b", "ranks=2", "microbatches=4")
plan = {"ndevs": 2, "repetend": [0, 1], "blocks": [
    {"mid": k, "span": 1, "memory": 1, "btype": "forward" if kind == "F" else "backward", "gid": stage, "step": slot, "device": [rank]}
    for rank, row in enumerate(steps(text)) for slot, (stage, kind, k) in enumerate(row)]}
plan["blocks"].reverse()
plan = json.loads(json.dumps(plan))
assert written(programs.write_blocks, plan) == (text, "")
plan["blocks"][0]["device"] = [0, 1]
try:
    written(programs.write_blocks, plan)
    raise AssertionError("not refused")
except ValueError as error:
    assert "is on devices [0, 1]" in str(error)

# veScale: names that are counted.
lines = [",".join(["load_data", *(f"{'forward' if kind == 'F' else 'backward'},send" for _, kind, _ in row)])
         for row in steps(text)]
assert written(programs.write_instructions, lines) == (text, "")

# Victarry: a profile that pipec reads.
config = {"num_devices": 2, "num_batches": 4, "p2p_latency": 0.5,
          "op_times": {"forward": {0: 1, 1: 2}, "backward": 3, "backward_D": 1.5, "backward_W": 1.5,
                       "overlapped_forward_backward": 3.5}}
profile, _ = written(programs.write_profile, config)
assert json.loads(profile) == {"overlaps": {"F & B": 3.5}, "B": 3, "I": 1.5, "W": 1.5, "stages": {"0": {"F": 1}, "1": {"F": 2}},
                               "p2p": 0.5}
open("profile.json", "w").write(profile)
report = json.loads(pipec("one_f_one_b", "ranks=2", "microbatches=4", "--cost-profile=profile.json", "--emit=report", "--format=json"))
assert report["makespan"] > 0, report.keys()
