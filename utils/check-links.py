#!/usr/bin/env python3
"""Checks that the files and headings that documentation links to exist.

    check-links.py FILE.md|FOLDER...

A folder means all pages below it. Links to other sites are not checked.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import re
import sys


def without_code(path):
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^( *)(```+).*?^\1\2$", lambda match: "\n" * match[0].count("\n"), text, flags=re.S | re.M)


def headings(path):
    """The names under which GitHub links to the headings of a page."""
    result = set()
    for title in re.findall(r"^#+ (.*)$", without_code(path), re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        number = 0
        while (name if not number else f"{name}-{number}") in result:
            number += 1
        result.add(name if not number else f"{name}-{number}")
    return result


def check(page):
    for match in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), without_code(page))):
        target = match[1]
        if re.match(r"\w+:", target):
            continue
        line = match.string.count("\n", 0, match.start()) + 1
        name, _, heading = target.partition("#")
        path = page.parent / name if name else page
        if not path.exists():
            yield f"{page}:{line}: no file {name}"
        elif heading and (path.suffix != ".md" or heading not in headings(path)):
            yield f"{page}:{line}: no heading #{heading} in {name or page.name}"


def main():
    parser = argparse.ArgumentParser(description="Checks the links of pages of documentation.")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    pages = [page for path in options.paths
             for page in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    found = [problem for page in pages for problem in check(page)]
    for problem in found:
        print(problem)
    print(f"{len(pages)} pages, {len(found)} broken links")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
