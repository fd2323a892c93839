"""Runs a program on a terminal of its own."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fcntl
import os
import struct
import subprocess
import termios
import threading

# Nothing that a program shows has this, the last that is written.
END = b"\0end\0"


def run(command, columns=80, errors=False, **environment):
    """What `command` writes to a terminal with this many columns, which is its
    standard output, or with `errors` its standard error; what it writes to
    standard output otherwise; and how it ends.

    The terminal stays open until all is read: what a program has written just
    before the last of its files is closed can be lost.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    shown = b""

    def read():
        nonlocal shown
        while not shown.endswith(END):
            shown += os.read(ours, 65536)

    reader = threading.Thread(target=read)
    reader.start()
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    streams = {"stdout": subprocess.PIPE, "stderr": theirs} if errors else {"stdout": theirs}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=variables, **streams)
    output = process.communicate()[0] or b""
    os.write(theirs, END)
    reader.join()
    os.close(theirs)
    os.close(ours)
    text = shown.removesuffix(END).decode().replace("\r\n", "\n")
    return text, output.decode(), process.returncode
