#!/usr/bin/env python3
"""Finds phrases that the house style avoids, in pages and in sources.

    check-prose.py [--only RULE]... [--skip NAME]... [--source] FILE|FOLDER...
    check-prose.py --rate=N FOLDER...

A folder means all pages below it (.md), or with --source all sources (.h, .cpp,
.def, .py), except those that --skip names. In a page, fenced and indented blocks,
code in backticks, HTML comments, the targets of links, quoted phrases, and the
parts between `<!-- made by ...: begin -->` and its `end -->` are not prose. In
C++, comments and strings are prose, except indented lines of comments. In scripts
(.py, or a file without extension), comments and docstrings are.
Every finding is printed as FILE:LINE: `PHRASE`: ADVICE; the exit status is 1 if
there is one.

--rate counts turns that are English, but rare in technical prose (TURNS), in the
comments of the C++ of each folder. It prints the number per 100 lines of comments,
and with --verbose the lines; the exit status is 1 if a folder has more than N.

To add a rule, add a row to RULES and lines to test/Layout/Inputs/prose.md that
it finds and that it does not.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import re
import sys

# Nouns that are counted per unit, and nouns of such units.
COUNT = (r"one|two|each|\d+|lists?|times?|bytes?|lanes?|rows?|queues?|objects?|entry|entries|ns|"
         r"nanoseconds?|microseconds?|operations?|copy|copies|buffers?|links?|blocks?|folders?|"
         r"files?|columns?|tracks?|threads?|process(?:es)?|streams?|communicators?|chunks?|stages?|"
         r"ranks?|steps?")
UNIT = (r"rank|stage|step|chunk|micro-batch|edge|line|row|file|part|size|pass|list|slot|schedule|node|"
        r"pair|direction|second|core|process|round|level")

# (name, pattern, advice). A blank in a pattern also matches a line break. Phrases
# that are allowed are excluded by look-arounds.
RULES = [
    # Not: "falls behind", "the idea behind".
    ("behind", r"(?<!fall )(?<!falls )(?<!idea )\bbehind\b", "write `after`, `following` or `later than`"),
    ("in-front-of", r"\bin front\b", "write `before`"),
    # Not: "stands for", "stand-alone", "stands by".
    ("stands", r"\b(?:stands?|stood|standing)\b(?!-alone| for\b| by\b| in for\b)",
     "write `is`, `occurs` or `appears`"),
    # Not: "there is no x", nor a comparison such as "is no longer", "is no more
    # than".
    ("is-no", r"(?<!there )\b(?:is|are|was|were) no (?!one\b|longer\b|more\b|less\b|fewer\b|better\b|worse\b|"
     r"later\b|earlier\b|stricter\b|faster\b|slower\b|larger\b|smaller\b|shorter\b|different\b)[\w\uFFFC]+",
     "write `is not a` or `there is no`"),
    ("for-ever", r"\bfor ever\b", "write `forever`, or say what happens"),
    ("who", r"\bwho (?:is|are)\b|\bwhoever\b|\bsomebody\b|\bnobody\b", "name the subject"),
    ("ones-own", r"\bone's\b", "write `your`, or name the subject"),
    # Not: "a line a rank can see", where a clause follows.
    ("per", rf"\b(?:{COUNT}) an? (?:{UNIT})\b(?! (?:of|that|which|whose|in|on|at|with|to|from|has|is|may|can|"
     r"sends?|does|takes|holds?|keeps?|runs?|waits?|needs?)\b)", "write `per`"),
    ("at-last", r"(?:^|[.:] )At last\b", "write `finally`"),
    ("of-ones", r"\bwhere it stands\b|\bcomes? to (?:its|their) end\b", "write `finishes` or `completes`"),
]

# Turns that a text may have now and then, with a blank for any number of blanks.
TURNS = re.compile(r"|".join([
    r"\blook(?:s|ed|ing)? at\b", r"\btakes?\b", r"forth and back", r"\bof which\b", r"as far as", r"by itself",
    r"\bwhat (?:it|is|a|an|the|each|one|they|no|all|this|are|was|were|comes|can|does|of|to|has|have|its|other|several|"
    r"goes|follows)\b",
    r"\bnothing (?:if|when|for|at|without)\b", r"(?:goes|going) on", r"(?:has|have) room|room for", r"all that",
    r"(?:is|are) what", r"more than this", r"the ones? (?:that|of|with|on|after|before)", r"known of|is known",
    r"\bthose? of\b|\bthat of\b", r"as (?:it|they) (?:is|are) written", r"gives? back", r"comes? (?:up|by)\b",
]), re.I)

FENCE = re.compile(r"^\s*(```+|~~~+)")
#: Replaces code in a sentence.
CODE = "\uFFFC"


def blank(match):
    """Nothing but the ends of lines of a match: lines keep their numbers."""
    return "\n" * match[0].count("\n")


def code(match):
    return CODE + blank(match)


def prose(text):
    """The text without what is not prose; its lines keep their numbers."""
    lines, fence, after_blank, in_list = [], None, True, False
    for line in text.split("\n"):
        marker = FENCE.match(line)
        if fence:
            if marker and line.strip() == fence:
                fence = None
            line = ""
        elif marker:
            fence = marker[1]
            line = ""
        elif line.startswith("    ") and after_blank and not in_list:
            lines.append("")
            continue
        elif re.match(r"\s*(?:[-*]|\d+\.) ", line):
            in_list = True
        elif line and not line.startswith(" "):
            in_list = False
        lines.append(line)
        after_blank = not line.strip()
    text = "\n".join(lines)
    text = re.sub(r"<!-- made by [^>]*: begin -->.*?<!-- made by [^>]*: end -->", blank, text, flags=re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"(`+)(?!`)[^\n]*?(?:\n[^\n]+?)*?(?<!`)\1(?!`)", code, text)
    text = re.sub(r"\]\([^()\s]*\)", "]", text)
    return re.sub(r'"[^"\n]*(?:\n[^"\n]+)?"', code, text)


SOURCE = re.compile(r"""//(?P<comment>[^\n]*)|"(?P<string>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'""")


def source_prose(text):
    """The comments and strings of a source of C++; lines keep their numbers."""
    lines = [[] for _ in range(text.count("\n") + 1)]
    end = 0
    for match in SOURCE.finditer(text):
        if match["comment"] is not None:
            part = re.sub(r"^[/!]?<?", "", match["comment"])
            if part.startswith("===-") or re.match(r" {3}|$", part):
                part = "\n"  # a banner, an example, or the end of a paragraph
        elif match["string"] is not None:
            part = re.sub(r"\\.", CODE, match["string"].replace(r"\"", '"'))
            if text[end:match.start()].strip():
                part = "; " + part  # not a continuation of the string before
        else:
            continue
        lines[text.count("\n", 0, match.start())].append(part)
        end = match.end()
    # Every line of the source is one of the result.
    text = "\n".join(" ".join(parts).replace("\n", "#") for parts in lines)
    text = re.sub(r"`[^`\n]*(?:\n[^`\n]*)?`", code, text)
    return re.sub(r'"[^"\n]*(?:\n[^"\n]+)?"', code, text)


def script_prose(text):
    """The comments and docstrings of a script; lines keep their numbers."""
    lines, in_docstring = [], False
    for line in text.split("\n"):
        quotes = line.count('"""')
        part = ""
        if in_docstring or line.lstrip().startswith('"""'):
            part = line.replace('"""', "")
        elif comment := re.search(r"(?:^|\s)#:? (.*)", line):
            part = comment[1]
        in_docstring ^= quotes % 2
        lines.append(part)
    text = re.sub(r"`[^`\n]*(?:\n[^`\n]*)?`", code, "\n".join(lines))
    return re.sub(r'"[^"\n]*(?:\n[^"\n]+)?"', code, text)


def words(text):
    """The prose with one blank or end of a paragraph between two words, and for
    every character the line that it is on."""
    result, line_of = [], []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        end = "\n" if not line or line[0] in "|#" else " "
        result.append(re.sub(r"\s+", " ", line) + end)
        line_of += [number] * len(result[-1])
    return "".join(result), line_of


def check(path, rules):
    text = path.read_text(encoding="utf-8")
    reader = {".md": prose, ".py": script_prose, "": script_prose}.get(path.suffix, source_prose)
    text, line_of = words(reader(text))
    found = [(line_of[match.start()], f"`{match[0].strip().replace(CODE, '...')}`: {advice}")
             for _, pattern, advice in rules for match in re.finditer(pattern, text, re.I)]
    return [f"{path}:{line}: {message}" for line, message in sorted(found)]


def rate(folder, verbose):
    """Turns per 100 lines of comments in the C++ of a folder; 0 without a comment."""
    count, lines = 0, 0
    for path in sorted(file for file in folder.rglob("*") if file.suffix in (".h", ".cpp", ".def")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip().startswith("//"):
                continue
            lines += 1
            found = len(TURNS.findall(line))
            count += found
            if found and verbose:
                print(f"{path}:{number}: {line.strip()}")
    return 100 * count / max(1, lines)


def check_rates(folders, limit, verbose):
    rates = [(folder, rate(folder, verbose)) for folder in folders]
    for folder, each in rates:
        print(f"{folder.name}: {each:.1f} per 100 lines of comments{', too many' if each > limit else ''}")
    sys.exit(1 if not rates or any(each > limit for _, each in rates) else 0)


def main():
    parser = argparse.ArgumentParser(description="Finds phrases that the house style avoids.")
    parser.add_argument("--only", action="append", metavar="RULE", help="apply this rule alone")
    parser.add_argument("--skip", action="append", default=[], metavar="PAGE",
                        help="leave out the files of this name")
    parser.add_argument("--source", action="store_true", help="look for sources in folders, not for pages")
    parser.add_argument("--rate", type=float, metavar="N", help="count turns in the folders, at most N per 100 lines")
    parser.add_argument("--verbose", action="store_true", help="with --rate, print the lines")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.rate is not None:
        check_rates(options.paths, options.rate, options.verbose)
    rules = [rule for rule in RULES if not options.only or rule[0] in options.only]
    suffixes = (".h", ".cpp", ".def", ".py") if options.source else (".md",)
    pages, found = 0, 0
    for path in options.paths:
        files = sorted(file for file in path.rglob("*") if file.suffix in suffixes)
        for page in files if path.is_dir() else [path]:
            if page.name in options.skip:
                continue
            pages += 1
            for message in check(page, rules):
                print(message)
                found += 1
    print(f"{pages} files, {found} phrases to avoid")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
