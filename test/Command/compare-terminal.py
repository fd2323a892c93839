# RUN: %python %s
"""The table of pipec compare on terminals of different widths."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../Driver/Inputs"))
import on_terminal

COMMAND = ["pipec", "compare", "--ranks", "8", "--microbatches", "32", "--top=4"]


def on_screen(columns, *more):
    os.environ.pop("COLUMNS", None)
    text, _, status = on_terminal.run([*COMMAND, "--color=never", *more], columns)
    assert status == 0
    return text


def table(text):
    """The lines of the table, and the columns that the text says are left out."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("   schedule"))
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("..."))
    left_out = re.findall(r"^\(columns left out, which a pipe \(\| cat\) and --format=csv show: (.*)\)$", text, re.M)
    return lines[begin:end], left_out[0].split(", ") if left_out else []


whole = subprocess.run(COMMAND, check=True, capture_output=True, text=True).stdout
rows, left_out = table(whole)
headings = rows[0].split()
widest = max(map(len, rows))
assert not left_out and len(rows) == 5 and widest > 130, whole

# Where the lines fit exactly, nothing is left out.
assert table(on_screen(widest)) == (rows, [])
assert table(on_screen(300)) == (rows, [])
for columns in widest - 1, 120, 100, 80, 60:
    text = on_screen(columns)
    shown, left_out = table(text)
    assert max(map(len, shown)) <= columns, text
    assert left_out and sorted(shown[0].split() + left_out) == sorted(headings), text
    assert left_out == [name for name in headings if name in left_out], text
    assert {"schedule", "makespan", "peak"} <= set(shown[0].split()), text
    # Less important columns first.
    assert {"span", "bubble_span"} & set(left_out), text
    assert "bubble_span" in left_out or len(left_out) == 1, text

# The column that sorts stays.
shown, left_out = table(on_screen(80, "--sort=span"))
assert "span" in shown[0].split() and "bubble_span" in left_out, shown
shown, _ = table(on_screen(70, "--sort=megatron"))
assert "Megatron" in shown[0].split() and "torchtitan" not in shown[0].split(), shown
# A file has all columns.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "table.txt")
    assert on_screen(80, "-o", path) == ""
    assert open(path).read() == whole
