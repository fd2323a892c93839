# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where sends and receives block, as in HyperParallel's runtime, the places that
`inject-fsdp` gives its steps beside transfers are always faster than an UNSHARD
directly before its compute step, and never slower than inserting the transfers
after the FSDP steps. The same where only receives block.

A rank waits at a transfer until it has ended, or at a receive only, and the gathers
of a rank run one after the other beside its compute steps."""

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


def send_of(cell):
    """The send of a transfer, by which both of its sides are known."""
    if kind(cell).startswith("SEND"):
        return cell
    other = stage(cell) + (-1 if kind(cell) == "RECV_F" else 1)
    return cell.replace(f"{stage(cell)}RECV", f"{other}SEND", 1)


def makespan(rows, gather, sends_block):
    """None when the ranks wait for each other."""
    clock, gathers = [0] * len(rows), [0] * len(rows)
    place, posted, there = [0] * len(rows), {}, {}
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
                elif "SEND" in cell or "RECV" in cell:
                    is_send = kind(cell).startswith("SEND")
                    mine = posted.setdefault((send_of(cell), is_send), clock[rank])
                    other = posted.get((send_of(cell), not is_send))
                    if sends_block or not is_send:
                        if other is None:
                            break
                        clock[rank] = max(clock[rank], (max(mine, other) if sends_block else other) + HOP)
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
    for gather, sends_block in itertools.product((5, 10, 20), (True, False)):
        ours, slow, first = (makespan(list(x), gather, sends_block) for x in (rows, late(rows), other))
        assert ours < slow and ours <= first, (words, gather, sends_block, ours, slow, first)
        cases += 1
        gain = max(gain, (slow - ours) / slow)
print(f"{cases} cases faster, by up to {100 * gain:.1f} %")
assert cases == 48 and gain > 0.1
