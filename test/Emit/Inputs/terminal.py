#!/usr/bin/env python3
"""Runs a command on a terminal of its own and prints what it shows there.

    terminal.py COLUMNS COMMAND...

Fails when a row of a table is wider than the terminal, or when nothing has a
colour.
Colours are printed as {blue}, {yellow}, {green}, {cyan} and {/}.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios

NAMES = {"94": "blue", "33": "yellow", "32": "green", "36": "cyan", "0": "/"}

columns = int(sys.argv[1])
main, terminal = os.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
environment = dict(os.environ, TERM="xterm-256color")
environment.pop("NO_COLOR", None)
process = subprocess.Popen(sys.argv[2:], stdout=terminal, stdin=subprocess.DEVNULL, env=environment)
os.close(terminal)
shown = b""
while True:
    try:
        part = os.read(main, 65536)
    except OSError:  # Linux reports that the other end is closed
        break
    if not part:
        break
    shown += part
text = shown.decode().replace("\r\n", "\n")
if process.wait() or "\033[" not in text:
    sys.exit(f"terminal.py: status {process.returncode}, {text!r}")
for line in text.splitlines():
    plain = re.sub(r"\033\[\d*m", "", line)
    if re.match(r"rank| *\d+  ", plain) and len(plain) > columns:
        sys.exit(f"terminal.py: {len(plain)} columns on a terminal of {columns}: {plain}")
print(re.sub(r"\033\[(\d*)m", lambda match: "{" + NAMES[match[1]] + "}", text), end="")
