#!/usr/bin/env python3
"""Runs a command on a terminal of its own and prints what it shows there.

    terminal.py COLUMNS COMMAND...

Fails when a row of a table is wider than the terminal, or when nothing has a
colour.
Colours are printed as {blue}, {yellow}, {green}, {cyan} and {/}.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Driver/Inputs"))
import on_terminal

NAMES = {"94": "blue", "33": "yellow", "32": "green", "36": "cyan", "0": "/"}

columns = int(sys.argv[1])
os.environ.pop("NO_COLOR", None)
text, _, status = on_terminal.run(sys.argv[2:], columns)
if status or "\033[" not in text:
    sys.exit(f"terminal.py: status {status}, {text!r}")
for line in text.splitlines():
    plain = re.sub(r"\033\[\d*m", "", line)
    if re.match(r"rank| *\d+  ", plain) and len(plain) > columns:
        sys.exit(f"terminal.py: {len(plain)} columns on a terminal of {columns}: {plain}")
print(re.sub(r"\033\[(\d*)m", lambda match: "{" + NAMES[match[1]] + "}", text), end="")
