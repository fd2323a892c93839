"""Compares the rules on a page with a grammar.

    grammar.py PipeLexer.g4 PipeParser.g4 PAGE.md

The ```ebnf blocks of the page must hold every rule of the parser once, as it
is in the grammar but for white space, with the spelling of each token in place
of its name.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

RULE = re.compile(r"^(\w+)\s*:((?:'[^']*'|[^;'])*);", re.M)


def without_comments(text):
    return re.sub(r"^//.*$", "", text, flags=re.M)


def rules(text):
    return [(name, " ".join(body.split())) for name, body in RULE.findall(text)]


def main():
    lexer, parser, page = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:4])
    tokens = dict(re.findall(r"^([A-Z_]+)\s*:\s*('[^']+')\s*;", without_comments(lexer), re.M))
    for words in re.findall(r"^tokens \{([A-Z_, ]+)\}", lexer, re.M):
        tokens |= {word: f"'{word.lower()}'" for word in words.replace(",", " ").split()}

    steps = re.search(r"everywhere\n// else: ([A-Z_, ]+)\.", lexer)[1].split(", ")
    tokens["STEP_WORD"] = " | ".join(f"'{word}'" for word in steps)

    wanted = {}
    for name, body in rules(without_comments(parser).split("options {", 1)[1].split("}", 1)[1]):
        wanted[name] = re.sub(r"\b[A-Z_]+\b", lambda word: tokens.get(word[0], word[0]), body)
    shown = []
    for block in re.findall(r"^```ebnf\n(.*?)^```$", page, re.M | re.S):
        shown += rules(block)

    wrong = [f"`{name}` is shown {count} times" for name in wanted
             if (count := sum(name == other for other, _ in shown)) != 1]
    wrong += [f"`{name}` is not a rule" for name, _ in shown if name not in wanted]
    wrong += [f"`{name}` differs:\n  page    {body}\n  grammar {wanted[name]}"
              for name, body in shown if name in wanted and body != wanted[name]]
    if wrong or len(wanted) < 10 or len(tokens) < 10:
        sys.exit("\n".join(wrong + [f"{len(wanted)} rules, {len(tokens)} tokens"]))
    print(f"{len(wanted)} rules agree")


if __name__ == "__main__":
    main()
