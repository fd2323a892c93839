"""Recorded orders of sliced schedules: counting and the verifier agree with them.

Each entry of slices.json is an order of a published scheduler, a line per rank;
`F0:2.1` is the forward of chunk 0, micro-batch 2, slice 1. A valid one passes `pipec
lint`, as a CSV of units, and an invalid one does not. A program of the library with the
same sizes has the same lists.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import re
import subprocess
import sys


def run(*words, text=None):
    return subprocess.run(["pipec", *words], input=text, capture_output=True, text=True)


def parts(order):
    """Per rank the kind, chunk, micro-batch and slice of each step."""
    step = re.compile(r"([FBIW])(\d+):(\d+)\.(\d+)")
    return [[(kind, *map(int, numbers)) for kind, *numbers in map(lambda cell: step.fullmatch(cell).groups(), line.split())]
            for line in order]


def csv(entry, steps):
    ranks, slices = entry["ranks"], entry["slices"]
    return "".join(",".join(f"{chunk * ranks + rank}{kind}{microbatch * slices + piece}"
                            for kind, chunk, microbatch, piece in line) + "\n"
                   for rank, line in enumerate(steps))


def counted(entry, steps):
    """Checks that the n-th step of a chunk is the unit that counting gives it."""
    slices = entry["slices"]
    for line in steps:
        seen = {}
        for kind, chunk, microbatch, piece in line:
            n = seen.setdefault((kind == "F", chunk), 0)
            seen[kind == "F", chunk] += 1
            last = slices - 1 if kind != "F" else 0
            assert (microbatch, piece) == (n // slices, abs(last - n % slices)), (entry["origin"], kind, n)


def program(entry):
    """The library's program, or nothing if it has none."""
    sizes = [f"{key}={entry[key]}" for key in ("ranks", "microbatches", "slices")]
    group = f"group={max(1, entry['ranks'] // entry['slices'])}"
    chunks = f"chunks={entry['chunks']}"
    return {"Seq1F1B": ["seq1f1b", *sizes],
            "MindSpore seqpipe": ["seqpipe", *sizes, chunks],
            "MindSpore seqvpp": ["seqpipe", *sizes, chunks, group],
            "MindSpore seqsmartvpp": ["seqpipe", *sizes, chunks, group, "ahead=1"]}.get(entry["origin"])


entries = json.loads(pathlib.Path(sys.argv[1]).read_text())
programs = 0
for entry in entries:
    assert entry["placement"] == "loop"
    steps = parts(entry["order"])
    text = csv(entry, steps)
    found = run("lint", "-", "--input=csv", f"--slices={entry['slices']}", text=text)
    assert found.returncode == (0 if entry["valid"] else 1), (entry["origin"], found.stdout, found.stderr)
    if not entry["valid"]:
        why = "deadlock" if "deadlock" in entry["why"] else entry["why"].split(" needs")[0]
        assert why in found.stdout + found.stderr, (entry["why"], found.stdout, found.stderr)
        if "deadlock" in entry["why"]:
            made = run(*program(entry), "--emit=csv")
            assert made.returncode == 1 and "its ranks wait for each other" in made.stderr, made.stderr
        continue
    counted(entry, steps)
    if words := program(entry):
        made = run(*words, "--emit=csv")
        assert made.stdout == text, (words, made.stdout, made.stderr, text)
        programs += 1
print(f"{len(entries)} orders, {programs} as programs")
