# Types command lines into an interactive shell on a terminal, each with a tab at
# its end, and prints what the shell makes of them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   complete_in_shell.py bash|zsh|fish SCRIPT LINE...

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

start = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
prepare = {
    "bash": "bind 'set enable-bracketed-paste off'; source {script}",
    "zsh": "setopt no_beep no_prompt_cr no_prompt_sp; bindkey -e; "
           "autoload -Uz compinit; compinit -u -D; source {script}",
    "fish": "function fish_greeting; end; source {script}",
}


class Shell:
    def __init__(self, shell, script):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", HOME=os.getcwd(), PS1="$ ")
            os.execvp(shell, start[shell])
        # Wide enough for a line.
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.text = ""
        # The prompt of the shell is not recognized; a line that a command
        # prints is.
        self.type(prepare[shell].format(script=script) + "\r")
        self.type("echo rea''dy\r")
        self.wait_for(r"ready\r")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, pattern):
        """Returns the match of `pattern` in what comes from the shell."""
        end = time.monotonic() + 20
        while not (match := re.search(pattern, self.text)):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                sys.exit(f"no {pattern!r} in {self.text!r}")
            self.text += os.read(self.terminal, 4096).decode(errors="replace")
        self.text = self.text[match.end():]
        return match

    def complete(self, line):
        """The line after a tab. An `echo` before it and Enter print it."""
        self.type(line + "\t")
        end = "|'" if line.count("'") % 2 else "'|'"
        self.type(end + "\x01echo '<'\x05\r")
        return self.wait_for(r"\n<(.*)\|\r").group(1)


if __name__ == "__main__":
    shell = Shell(sys.argv[1], sys.argv[2])
    for line in sys.argv[3:]:
        print(f"{line} -> {shell.complete(line)}", flush=True)
    os.close(shell.terminal)
