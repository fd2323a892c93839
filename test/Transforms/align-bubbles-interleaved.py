# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`align-bubbles{mode=interleaved}` is the layout that HyperParallel's class
ScheduleInterleaved1F1B writes down, built here operation by operation, for every
small size, without and with pairs of a backward and a forward. Where the data
is there in time, `insert-p2p{order=column}` takes the lists."""

import csv
import subprocess


def rounds(p, m):
    """The micro-batches of each round."""
    count = max(1, m // p)
    return [m // count + (k < m % count) for k in range(count)]


def operations(p, m, v, rank, forward):
    """(stage, micro-batch) of the forwards or the backwards of a rank."""
    first = 0
    for size in rounds(p, m):
        for chunk in range(v) if forward else reversed(range(v)):
            yield from ((chunk * p + rank, first + k) for k in range(size))
        first += size


def layout(p, m, v, rank, pairs):
    """Cells of one row; an idle slot is an empty cell."""
    fwd = [f"{s}F{k}" for s, k in operations(p, m, v, rank, True)]
    bwd = [f"{s}B{k}" for s, k in operations(p, m, v, rank, False)]
    n, last = m * v, rank == p - 1
    warm = min(n, (v - 1) * rounds(p, m)[0] + 2 * (p - 1 - rank))

    def rest(cell):
        """What follows the last micro-batch when there are too few of them."""
        short = m < p and int(cell.replace("B", "F").split("F")[1]) == m - 1
        return [""] * (p - m if short else 0)

    row = [""] * rank
    for k in range(warm):
        row.append(fwd[k])
        if k + 1 != warm or last:
            row += rest(fwd[k])
    row += [""] * (max(0, 2 * (p - 1 - rank) - m) + p - 1 - rank)
    steady = list(zip(fwd[warm:], bwd))
    if pairs and steady:
        row.append(steady[0][0])
        row += [f"({b};{f})OVERLAP_B_F" for (_, b), (f, _) in zip(steady, steady[1:])]
        row.append(steady[-1][1])
        row += rest(steady[-1][1]) if last else []
    else:
        for f, b in steady:
            row += [f, b] + (rest(b) if last else [])
    for b in bwd[n - warm:]:
        row += ["", b] + rest(b)
    return row


def run(*command):
    done = subprocess.run(["pipec", *command, "--show-kinds", "-o", "-"], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


equal = placed = early = 0
for name, pairs in ("interleaved_any", False), ("interleaved_overlap_bf", True):
    for p in range(1, 7):
        for m in sorted({1, 2, 3, p - 1, p, p + 1, 2 * p - 1, 2 * p, 2 * p + 3} - {0}):
            for v in range(1, 4):
                words = [name, f"-Dranks={p}", f"-Dmicrobatches={m}", f"-Dchunks={v}"]
                wanted = [layout(p, m, v, rank, pairs) for rank in range(p)]
                status, out, err = run(*words, "--passes=align-bubbles{mode=interleaved}", "--emit=csv")
                assert status == 0, (words, err)
                rows = list(csv.reader(out.splitlines()))
                assert rows == wanted, (words, rows, wanted)
                equal += 1
                status, out, err = run(*words, "--passes=align-bubbles{mode=interleaved},insert-p2p{order=column}",
                                       "--emit=hyperparallel")
                assert status == 0 or "[ColumnNotAligned]" in err, (words, err)
                placed += status == 0
                early += status != 0
print(equal, "sizes equal,", placed, "with transfers,", early, "too early for their data")
assert equal > 200 and placed > 150 and early > 0
