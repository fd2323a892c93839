#!/usr/bin/env python3
"""Compares the words of the editor's mode with those of the grammar.

    words.py ROOT
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
lexer = (root / "grammar/PipeLexer.g4").read_text()
words = set(re.findall(r"^[A-Z_]+ *: '([a-z_]+)';", lexer, re.M))
words |= {word.lower() for word in re.search(r"tokens \{([^}]*)\}", lexer)[1].replace(",", " ").split()}
words.remove("step_word")
steps = set(re.findall(r"^[A-Z] *: '([A-Z])';", lexer, re.M))
steps |= set(re.search(r"everywhere\n// else: ([A-Z_, ]+)\.", lexer)[1].split(", "))

mode = (root / "templates/serve/mode.js").read_text()
listed = re.search(r"pipeWords = new Set\(\((.*?)\)\.split", mode, re.S)[1]
listed = set(" ".join(re.findall(r'"([^"]*)"', listed)).split())
letters = set(re.findall(r'"(\w+)"', re.search(r"pipeSteps = new Set\(\[(.*?)\]", mode)[1]))
for what, ours, theirs in (("words", listed, words), ("steps", letters, steps)):
    if ours != theirs:
        sys.exit(f"templates/serve/mode.js: {what} differ: {sorted(ours ^ theirs)}")
print(f"{len(words)} words, {len(steps)} steps")
