"""Checks that the canonical form is stable and keeps what a program says.

    stable.py SEED ROUNDS FILE...

Each round takes a file, writes its tokens with other line ends, comments and
lengths of names, and formats the result. The tree must be the same but for
positions, every comment must be there, and formatting again must change
nothing.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import random
import re
import subprocess
import sys

TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\d+\.\d+|\w+|\.\.|->|==|!=|<=|>=|\|\||&&|\S')
NAME = re.compile(r"[A-Za-z_]\w*")


def pipec(kind, text):
    run = subprocess.run(["pipec", "-", f"--emit={kind}"], input=text, capture_output=True,
                         text=True, check=False)
    if run.returncode:
        sys.exit(f"--emit={kind} failed:\n{run.stderr}\nof\n{text}")
    return run.stdout


def tree(text):
    lines = [line for line in pipec("ast", text).split("\n") if not line.startswith("  comment ")]
    return [re.sub(r" \d+:\d+$", "", line) for line in lines]


def comments(text):
    return sorted(token for token in TOKEN.findall(text) if token.startswith("//"))


def mangle(tokens, chance, reserved):
    breaks = chance.choice([0, 0.02, 0.1, 0.5])
    remarks = chance.choice([0, 0, 0.01, 0.1])
    longer = chance.choice([0, 0, 5, 20, 60])
    lengths = {}
    out = []
    for number, token in enumerate(tokens):
        if longer and NAME.fullmatch(token) and token not in reserved:
            token += "_" * lengths.setdefault(token, chance.randrange(longer))
        out.append(token)
        if token.startswith("//"):
            out.append("\n" * chance.choice([1, 1, 2, 3]))
        elif chance.random() < remarks:
            out.append(f" // remark {number}" + "\n" * chance.choice([1, 1, 2]))
        elif chance.random() < breaks:
            out.append("\n" * chance.choice([1, 1, 1, 2]))
        else:
            out.append(" ")
    return "".join(out)


def main():
    chance = random.Random(int(sys.argv[1]))
    files = sys.argv[4:]
    with open(sys.argv[3], encoding="utf-8") as lexer:
        reserved = set(re.findall(r"'(\w+)'", lexer.read())) | {"stage", "on", "p2p"}
    for number in range(int(sys.argv[2])):
        name = chance.choice(files)
        with open(name, encoding="utf-8") as file:
            text = mangle(TOKEN.findall(file.read()), chance, reserved)
        once = pipec("source", text)
        again = pipec("source", once)
        for what, left, right in (("form", once, again), ("tree", tree(text), tree(once)),
                                  ("comments", comments(text), comments(once))):
            if left != right:
                sys.exit(f"{name}, round {number}: the {what} changes\n--- from\n{left}\n"
                         f"--- to\n{right}\n--- of\n{text}")
        if re.search(r"[ \t]$", once, re.M):
            sys.exit(f"{name}, round {number}: blanks at the end of a line:\n{once}")
    print(f"{sys.argv[2]} rounds are stable")


if __name__ == "__main__":
    main()
