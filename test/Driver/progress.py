# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A long run says on a terminal what it does, and takes that back in the end;
a short one does not, nor does any where standard error is not a terminal."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import on_terminal


def run(*command, terminal="xterm"):
    """What `command` writes to standard error, which is a terminal, and to
    standard output, which is none; and how it ends."""
    return on_terminal.run(command, errors=True, TERM=terminal)


LINE = r"\r\x1b\[Kpipec: (?:[^\r\x1b]*, )?\d+ s"
ERASE = r"\r\x1b\[K"
MESSAGE = r"loop\.pipe:(?s:(?!\x1b\[K).)*"  # in colours; nothing is drawn or erased


def long_run(*arguments, command=()):
    """The same for a program that loops, in vain but for long enough."""
    rounds = 25_000_000
    while True:
        result = run("pipec", *command, "loop.pipe", f"-Drounds={rounds}", "--max-steps=1000000000000", *arguments)
        if "\x1b[K" in result[0]:
            return result
        rounds *= 2
        assert rounds < 1e12, result


os.chdir(tempfile.mkdtemp())
with open("loop.pipe", "w", encoding="utf-8") as file:
    file.write("""schedule loop(ranks p = 1, microbatches m = 1, rounds) {
  placement loop;
  steady { for i in 0..rounds { if i < 0 { F } } F B }
  expect makespan == 3;
}
schedule wrong(ranks p = 1, microbatches m = 1, rounds) {
  placement loop;
  steady { for i in 0..rounds { if i < 0 { F } } F W }
}
schedule some(ranks p = 1, microbatches m = 1, rounds) {
  placement loop;
  steady { if m == 1 { for i in 0..rounds { if i < 0 { F } } } F B }
  expect makespan == 3;
}
""")

# The line comes, changes, is erased, and nothing is left of it.
error, output, status = long_run("--schedule=loop", "--emit=csv")
assert status == 0 and output == "0F0,0B0\n", (status, output)
assert re.fullmatch(f"(?:{LINE})+{ERASE}", error), error
assert "pipec: lowering, 1 s" in error, error

# A grid counts its points.
error, output, status = long_run("--schedule=loop", "--grid=m=1", command=["check"])
assert status == 0 and output == "loop: 1 size, 1 clause, 1 figure hold\n", (status, output)
assert re.fullmatch(f"(?:{LINE})+{ERASE}", error), error
assert "pipec: checking loop, 0 of 1, 1 s" in error, error

# An error has a line of its own.
error, output, status = long_run("--schedule=wrong")
assert status == 1 and re.fullmatch(f"(?:{LINE})+{ERASE}{MESSAGE}", error), error

# Where the work continues after an error, so does the line.
error, output, status = long_run("--schedule=some", "--grid=m=2,1", command=["check"])
assert status == 1 and re.fullmatch(f"{MESSAGE}(?:{LINE})+{ERASE}", error), error
assert "pipec: checking some, 1 of 2, 1 s" in error, error

# Short runs, terminals that cannot erase, and files see nothing of it.
assert run("pipec", "gpipe", "--emit=csv")[0] == ""
long = ["loop.pipe", "--schedule=loop", "-Drounds=200000000", "--emit=csv"]
assert run("pipec", *long, terminal="dumb")[0] == ""
done = subprocess.run(["pipec", *long], capture_output=True, check=True)
assert done.stderr == b""
