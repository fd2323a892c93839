# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expands overlaps of stages with sections, and compares the orders with those that were recorded (pairs.json)."""

import json
import pathlib
import subprocess
import sys

EARLY = "W.mlp B.dispatch B.attention F.mlp F.combine last W.attention"
LATE = "W.mlp B.dispatch F.mlp F.combine B.attention last W.attention"
SECTIONS = ["attention", "dispatch", "mlp", "combine"]
STEPS = """pipec-steps 2
schedule @pair {{ ranks 1 stages 2 microbatches 2
  map 0 0
  section attention F = 1 B = 1 W = 1
  section dispatch F = 1 B = 1
  section mlp F = 1 B = 1 W = 1
  section combine F = 1 B = 1
  layers {forward} {backward}
  body B.combine F.attention B.mlp F.dispatch {rest}
  rank 0 {{
    F s0 m0
    F s1 m0
    {group}
    F s1 m1
    B s1 m1
    B s0 m0
    B s0 m1
  }}
}}
"""


def main():
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for case in cases:
        expected = [step for step in case["order"] if "@" in step and "pre@" not in step]
        assert order(case) == expected, case
    print(f"{len(cases)} orders")


def order(case):
    """The steps of the pair, as `B.mlp@1`. A pair without one of its members is that of the other one alone."""
    forward, backward = case["forward_layers"], case["backward_layers"]
    group = "overlap F s0 m1 & B s1 m0" if forward and backward else "F s0 m1\n    B s1 m0"
    forward, backward = forward or 1, backward or 1
    text = STEPS.format(forward=forward, backward=backward, group=group, rest=EARLY if case["early_release"] else LATE)
    lines = subprocess.run(["pipec-opt", "-", "--passes=expand-sections"], input=text, check=True, capture_output=True,
                           text=True).stdout.splitlines()
    steps = []
    for line in lines:
        words = line.split()
        if words[0] not in ("F", "B", "I", "W"):
            continue
        layer, section = divmod(int(words[1][1:]), len(SECTIONS))
        is_forward = layer < forward
        wanted = words[2] == ("m1" if is_forward else "m0") and (words[0] == "F") == is_forward
        if wanted and (case["forward_layers"] if is_forward else case["backward_layers"]):
            letter = "B" if words[0] == "I" else words[0]
            steps.append(f"{letter}.{SECTIONS[section]}@{layer if is_forward else layer - forward}")
    return steps


main()
