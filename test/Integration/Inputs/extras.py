"""Puts recomputation, copies and optimizer steps into lists, at random places.

    extras.py CASES FOLDER [--seed=N]

CASES is a file of executors.py. For each line, the list of `pipec --target=cpp` (or of
the passes that the line names) gets steps at random valid places: an R between the F
and the backward of some units, alone or in an overlap, an OFFLOAD, a WAIT_OFFLOAD and a RELOAD between two
steps that use what is kept for a unit, and an UPDATE after the last step that changes
the gradients of a stage. Some lists get only some of these. Writes the lists to
FOLDER and prints the cases for them.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import random
import re
import shlex
import subprocess
import sys

cases, folder = sys.argv[1:3]
rng = random.Random(int((sys.argv[3:] or ["--seed=1"])[0].removeprefix("--seed=")))
os.makedirs(folder, exist_ok=True)
here = os.path.dirname(os.path.abspath(cases))


def members(line):
    """The computes of a line, as (kind, stage, unit), or the collective."""
    return re.findall(r"\b(F|B|I|W|REDUCE_GRAD|WAIT_REDUCE_GRAD|REDUCE_TIED) [st](\d+)(?: m([\d.]+))?", line)


def place(steps, first, last, line):
    """Puts a line at a random place between the lines `first` and `last`."""
    steps.insert(rng.randint(steps.index(first) + 1, steps.index(last)), line)
    return line


def add_to(steps, ties, recomputed, copied, updates):
    uses = {}  # by unit, the lines that use what is kept for it
    for line in steps:
        for kind, *unit in members(line):
            if kind in "FBIW":
                uses.setdefault(tuple(unit), []).append(line)
    for (stage, unit), lines in uses.items():
        what = f" s{stage} m{unit}"
        if rng.random() < recomputed and lines[0] != lines[1]:
            between = steps[steps.index(lines[0]) + 1:steps.index(lines[1])]
            alone = [line for line in between if re.match("[FBIW] ", line)]
            if alone and rng.random() < 0.3:
                old = rng.choice(alone)
                new = f"overlap {old} & R{what}"
                steps[steps.index(old)] = new
                for others in uses.values():
                    others[:] = [new if line == old else line for line in others]
                lines.insert(1, new)
            else:
                lines.insert(1, place(steps, lines[0], lines[1], "R" + what))
        for first, last in zip(lines, lines[1:]):
            if rng.random() < copied and first != last:
                for kind in "OFFLOAD", "WAIT_OFFLOAD", "RELOAD":
                    mark = kind + what + f" {len(steps)}"  # a unit may be copied several times
                    first = place(steps, first, last, mark)
    if updates:
        for stage in sorted({stage for stage, _ in uses}):
            groups = {str(g) for g, stages in enumerate(ties) if stage in stages}
            last = max(i for i, line in enumerate(steps) for kind, at, _ in members(line)
                       if (at in groups if kind == "REDUCE_TIED" else at == stage and kind != "WAIT_REDUCE_GRAD"))
            steps.insert(rng.randint(last + 1, len(steps)), f"UPDATE s{stage}")
    return [re.sub(r"(?<=\w) \d+$", "", line) if "LOAD" in line else line for line in steps]


number = 0
for text in open(cases):
    text = text.split("#")[0].strip().replace("%S", here)
    if not text:
        continue
    arguments = shlex.split(text)
    if not any(a.startswith("--passes") for a in arguments):
        arguments.append("--target=cpp")
    ir = subprocess.run(["pipec", *arguments, "--emit=ir"], check=True, stdout=subprocess.PIPE, text=True).stdout
    ties = [re.findall(r"\d+", group) for group in re.findall(r"tie[sd]? ([\d,s ]+)", ir)]
    shares = (*rng.choice([(0.5, 0.5), (0.5, 0.5), (1, 0), (0, 1)]), rng.random() < 0.7)
    out, steps = [], None
    for line in ir.splitlines():
        line = re.sub(r"\s*(@\S+|//.*)$", "", line.strip())
        if re.match(r"rank \d+ \{", line):
            steps = []
        elif line == "}" and steps is not None:
            out += add_to(steps, ties, *shares)
            steps = None
        elif steps is not None:
            if not line.endswith(":"):
                steps.append(line)
            continue
        out.append(line)
    path = f"{folder}/extras{number}.steps"
    number += 1
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")
    print(f"{path} --passes=")
