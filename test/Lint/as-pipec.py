# RUN: %python %s %t
"""Lists with one mistake each, many of them: lint reports an error exactly where
the compiler refuses the list. What the compiler does not check, deadlocks under
communication models and the order of losses, is switched off."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import random
import shutil
import subprocess
import sys

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
draw = random.Random(1)

BASES = {
    "plain": ["one_f_one_b", "ranks=2", "microbatches=2", "--passes=insert-p2p"],
    "computes": ["zbv", "ranks=2", "microbatches=3"],
    "torch": ["interleaved", "ranks=2", "microbatches=4", "--target=torch-2.13"],
    "waits": ["zb1p", "ranks=2", "microbatches=3", "--target=torch-2.15"],
    "fsdp": ["one_f_one_b", "ranks=2", "microbatches=2", "--passes=inject-fsdp"],
}


def drop(rows, row, at):
    del rows[row][at]


def double(rows, row, at):
    rows[row].insert(at, rows[row][at])


def move(rows, row, at):
    rows[row].insert(draw.randrange(len(rows[row])), rows[row].pop(at))


def to_other(rows, row, at):
    rows[1 - row].insert(draw.randrange(len(rows[1 - row])), rows[row].pop(at))


def renumber(rows, row, at):
    rows[row][at] = rows[row][at].translate(str.maketrans("012", "120"))


def idle(rows, row, at):
    rows[row].insert(at, "")


def drop_kind(rows, row, at):
    kind = rows[row][at].strip("0123456789")
    rows[:] = [[cell for cell in each if cell.strip("0123456789") != kind] for each in rows]


files = ["fsdp-without-reduce.csv"]
with open(files[0], "w") as file:
    file.write("0UNSHARD,0F0,0F1,0B0,0B1,0RESHARD\n1UNSHARD,1F0,1B0,1F1,1B1,1RESHARD\n")
for name, command in BASES.items():
    done = subprocess.run(["pipec", *command, "-Wno-all", "--emit=csv"], capture_output=True, text=True, check=True)
    good = [line.split(",") for line in done.stdout.splitlines()]
    for number in range(40):
        rows = [list(row) for row in good]
        row = draw.randrange(len(rows))
        spoil = draw.choice([drop, double, move, to_other, renumber, idle, drop_kind])
        if number:  # the first one is left as it is
            spoil(rows, row, draw.randrange(len(rows[row])))
        if all(rows):
            files.append(f"{name}{number}-{spoil.__name__}.csv")
            with open(files[-1], "w") as file:
                file.write("".join(",".join(row) + "\n" for row in rows))

options = ["--require=buffered", "--grade=loss-order=off", "--format=json"]
found = subprocess.run(["pipec", "lint", *files, *options], capture_output=True, text=True)
verdicts = {file["file"]: any(f["severity"] == "error" for f in file["findings"])
            for file in json.loads(found.stdout)["files"]}
refused = 0
for path in files:
    done = subprocess.run(["pipec", path, "-o", os.devnull], capture_output=True, text=True)
    assert done.returncode in (0, 1), (path, done)
    assert verdicts[path] == bool(done.returncode), (path, verdicts[path], done.stderr)
    refused += done.returncode
assert verdicts[files[0]] and 50 < refused < len(files) - 5, refused
print(len(files), refused)
