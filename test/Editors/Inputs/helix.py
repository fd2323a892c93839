"""Runs Helix in a terminal of its own and prints what it shows, and in how many colours.

    helix.py FILE ARGUMENT... : types each argument that begins with `>`, without the `>`
    (`\\r` is the return key), and waits until each of the others is shown
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<>=:]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[()][0-9A-B]|.)", re.S)
TIMEOUT = 60

child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
    os.execvp("hx", ["hx", "-vv", "--log", "helix.log", sys.argv[1]])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))

shown = b""
failed = False
for wanted in sys.argv[2:]:
    if wanted.startswith(">"):
        os.write(terminal, wanted[1:].replace("\\r", "\r").encode())
        continue
    end = time.monotonic() + TIMEOUT
    # Cells that do not change are not sent again: compares without spaces.
    while wanted.replace(" ", "") not in ESCAPES.sub(b"", shown).decode(errors="replace").replace(" ", ""):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        try:
            more = os.read(terminal, 65536) if ready else b""
        except OSError:
            more = b""
        if not more:
            failed = True
            break
        shown += more
    print(f"{'not shown' if failed else 'shown'}: {wanted}", flush=True)
    if failed:
        sys.stderr.buffer.write(ESCAPES.sub(b" ", shown)[-4000:])
        os.kill(child, 9)
        break
print(f"{len(set(re.findall(rb'38;[25];[0-9;]*[0-9]', shown)))} colours")
os.waitpid(child, 0)
sys.exit(failed)
