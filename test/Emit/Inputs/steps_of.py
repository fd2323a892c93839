"""Prints the ranks of a .steps file with their steps, one group a line, bubbles and
indentation left out.

    steps_of.py [--no-peers] FILE.steps

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import sys

*options, path = sys.argv[1:]
inside = False
with open(path, encoding="utf-8") as file:
    for line in file:
        line = re.sub(r"\s*//.*", "", line).strip()
        if match := re.fullmatch(r"(rank \d+) \{", line):
            inside = True
            print(match[1])
        elif line == "}":
            inside = False
        elif inside and line and not line.endswith(":") and line != "bubble":
            print(re.sub(r" (->|<-) r\d+", "", line) if options else line)
