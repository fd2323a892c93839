# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where receives block, as in HyperParallel's runtime, the places that
`inject-fsdp` gives its steps beside transfers are always faster than an UNSHARD
directly before its compute step, and never slower than inserting the transfers
after the FSDP steps.

A rank waits at a receive until the data is there, a send goes on at once, and
the gathers of a rank run one after the other beside its compute steps."""

import csv
import itertools
import subprocess

FORWARD, BACKWARD, HOP = 10, 20, 1


def kind(cell):
    return cell.strip("()").lstrip("0123456789").rstrip("0123456789")


def stage(cell):
    return int("".join(itertools.takewhile(str.isdigit, cell)))


def members(cell):
    """The steps of a cell: several of an overlap."""
    return cell[1:cell.index(")")].split(";") if cell.startswith("(") else [cell]


def computes(cell):
    return kind(members(cell)[0]) in ("F", "B", "I", "W")


def makespan(rows, gather):
    """None when the ranks wait for each other."""
    clock, gathers = [0] * len(rows), [0] * len(rows)
    place, sent, there = [0] * len(rows), {}, {}
    moved = True
    while moved:
        moved = False
        for rank, row in enumerate(rows):
            while place[rank] < len(row):
                cell = row[place[rank]]
                if computes(cell):
                    steps = members(cell)
                    begin = max([clock[rank]] + [there[stage(step)] for step in steps])
                    clock[rank] = begin + sum(FORWARD if kind(step) == "F" else BACKWARD for step in steps)
                elif kind(cell) == "UNSHARD":
                    gathers[rank] = max(gathers[rank], clock[rank]) + gather
                    there[stage(cell)] = gathers[rank]
                elif kind(cell).startswith("SEND"):
                    sent[cell] = clock[rank] + HOP
                elif kind(cell).startswith("RECV"):
                    other = stage(cell) + (-1 if kind(cell) == "RECV_F" else 1)
                    send = cell.replace(f"{stage(cell)}RECV", f"{other}SEND", 1)
                    if send not in sent:
                        break
                    clock[rank] = max(clock[rank], sent[send])
                place[rank] += 1
                moved = True
    return max(clock) if all(p == len(row) for p, row in zip(place, rows)) else None


def late(rows):
    """Every UNSHARD directly before the compute step that follows it."""
    for row in rows:
        result, waiting = [], []
        for cell in row:
            if kind(cell) == "UNSHARD":
                waiting.append(cell)
                continue
            if computes(cell):
                result += waiting
                waiting = []
            result.append(cell)
        yield result + waiting


def lists(*command):
    done = subprocess.run(["pipec", *command, "--emit=csv", "-o", "-"], capture_output=True, text=True, check=True)
    return [[cell for cell in row if cell] for row in csv.reader(done.stdout.splitlines())]


cases = gain = 0
for name, p, m, v, active in [("one_f_one_b", 4, 8, None, 1), ("one_f_one_b", 8, 16, None, 1),
                              ("interleaved_any", 2, 4, 2, 1), ("interleaved_any", 4, 8, 2, 1),
                              ("interleaved_any", 4, 9, 2, 2), ("interleaved_any", 4, 16, 4, 3),
                              ("interleaved_overlap_bf", 4, 8, 2, 2), ("interleaved_overlap_bf", 4, 8, 4, 3)]:
    words = [name, f"-Dranks={p}", f"-Dmicrobatches={m}"] + ([f"-Dchunks={v}"] if v else [])
    inject = f"inject-fsdp{{max-active={active}}}"
    rows = lists(*words, f"--passes=hyperparallel,{inject}")
    other = lists(*words, f"--passes={inject},hyperparallel")
    for gather in 5, 10, 20:
        ours, slow, first = (makespan(list(x), gather) for x in (rows, late(rows), other))
        assert ours < slow and ours <= first, (words, gather, ours, slow, first)
        cases += 1
        gain = max(gain, (slow - ours) / slow)
print(f"{cases} cases faster, by up to {100 * gain:.1f} %")
assert cases == 24 and gain > 0.1
