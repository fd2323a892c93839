#!/usr/bin/env python3
"""Finds phrases in pages of documentation that the house style avoids.

    check-prose.py [--only RULE]... FILE.md|FOLDER...

A folder stands for the pages below it. Fenced blocks, indented blocks, code in
backticks, HTML comments, the targets of links and what is quoted in double
quotes are not prose. Every finding is printed as `FILE:LINE: `PHRASE`: ADVICE`;
the exit status is 1 if there is one.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import re
import sys

# What things there are one of per rank, step and so on.
COUNTED = (r"rank|stage|step|chunk|micro-batch|edge|line|row|file|part|size|pass|list|member|"
           r"slot|schedule|node|iteration")
COUNT = (r"one|two|each|\d+|lists?|times?|bytes?|lanes?|rows?|queues?|objects?|entry|entries|ns|"
         r"nanoseconds?|microseconds?|operations?|copy|copies|buffers?|links?|blocks?|folders?|"
         r"files?|columns?|tracks?|threads?|process(?:es)?|streams?|communicators?")

# name, pattern, advice. A pattern matches what is wrong and nothing else: what
# has a right use is in a negative look-around, with the use as a comment.
RULES = [
    # "leave behind", "fall behind", "the idea behind" have no short equivalent.
    ("behind", r"(?<!left )(?<!leaves )(?<!leave )(?<!fall )(?<!falls )(?<!idea )\bbehind\b",
     "write `after`, `following` or `later than`"),
    ("in-front-of", r"\bin front of\b|\bin front\b", "write `before`"),
    # "stands for" (an abbreviation) and "stand-alone" are English.
    ("stands", r"\b(?:stands?|stood|standing)\b(?!-alone| for\b| by\b| in for\b)(?<!under standing)",
     "write `is`, `occurs` or `appears`"),
    # "there is no x", "it is no longer", "no more than", "no better": a
    # comparison, or the existential, and not a predicate noun.
    ("is-no", r"(?<!there )(?<!what there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|"
     r"better\b|worse\b|later\b|earlier\b|stricter\b|faster\b|slower\b|larger\b|smaller\b|"
     r"different\b|matter\b)\w+", "write `is not a` or `there is no`"),
    ("for-ever", r"\bfor ever\b", "write `forever`, or say what happens"),
    ("who-is", r"\bwho is\b|\bwho are\b|\bwhoever\b|\bwhoso\b|\bsomebody\b|\bnobody\b",
     "name the subject"),
    ("one's own", r"\bone's\b", "write `your` or name the subject"),
    ("per", rf"\b(?:{COUNT}) an? (?:{COUNTED})\b(?! (?:of|that|which|whose|in|on|at|with|to|from|"
     r"has|is|may|can|sends?|does|takes|holds?|keeps?|runs?|waits?)\b)", "write `per`"),
    ("at-last", r"(?:^|[.:] )At last\b", "write `finally`"),
]

FENCE = re.compile(r"^\s*(```+|~~~+)")


def blank(match):
    """As many blanks as the match is long: columns and lines stay."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(text):
    """The text with everything that is not prose turned into blanks."""
    lines, fence, before_is_blank, in_list = [], None, True, False
    for line in text.split("\n"):
        marker = FENCE.match(line)
        if fence:
            if marker and marker[1].startswith(fence) and line.strip() == marker[1]:
                fence = None
            lines.append("")
        elif marker:
            fence = marker[1]
            lines.append("")
        elif line.startswith("    ") and before_is_blank and not in_list:
            lines.append("")
            continue
        else:
            lines.append(line)
            if re.match(r"\s*(?:[-*]|\d+\.) ", line):
                in_list = True
            elif line and not line.startswith(" "):
                in_list = False
        before_is_blank = not line.strip()
    text = "\n".join(lines)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, text, flags=re.S)
    text = re.sub(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)", blank, text)
    return re.sub(r'"[^"\n]*(?:\n[^"\n]+)?"', blank, text)


def check(path, rules):
    text = prose(path.read_text(encoding="utf-8"))
    found = []
    for _, pattern, advice in rules:
        # A phrase may continue on the next line.
        for match in re.finditer(pattern.replace(" ", r"\s+") if "(?<" not in pattern else pattern,
                                 text, re.I | re.M):
            line = text.count("\n", 0, match.start()) + 1
            phrase = " ".join(match[0].split())
            found.append((line, f"{path}:{line}: `{phrase}`: {advice}"))
    return [message for _, message in sorted(found)]


def main():
    parser = argparse.ArgumentParser(description="Finds phrases that the house style avoids.")
    parser.add_argument("--only", action="append", metavar="RULE", help="apply this rule alone")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    rules = [rule for rule in RULES if not options.only or rule[0] in options.only]
    pages, found = 0, 0
    for path in options.paths:
        for page in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            pages += 1
            for message in check(page, rules):
                print(message)
                found += 1
    print(f"{pages} pages, {found} phrases to avoid")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
