#!/usr/bin/env python3
"""Holds the sizes of the source tree: the lines of docs/, the files of a folder of lib/,
and in lib/ the sources that are too short for a file of their own, the names of files
that several folders use, and the calls that report a wrong command line without a kind.

    check-sizes.py [ROOT]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import pathlib
import sys

MOST_LINES_OF_DOCS = 14000
MOST_FILES = 26
SHORT, MOST_SHORT = 45, 8
MOST_SHARED_NAMES = 2
MOST_USAGE_ERRORS = 25


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    pages = [path for path in (root / "docs").rglob("*") if path.is_file()]
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((root / "lib").rglob("*"))
               if path.suffix in {".cpp", ".h"}}
    folders = collections.defaultdict(set)
    for path in sources:
        folders[path.stem].add(path.parent)
    files = collections.Counter((path.parent, path.suffix) for path in sources)
    code = [text for path, text in sources.items() if path.suffix == ".cpp"]
    figures = [
        ("lines of docs/", sum(path.read_bytes().count(b"\n") for path in pages), MOST_LINES_OF_DOCS),
        ("sources or headers in a folder of lib/", max(files.values(), default=0), MOST_FILES),
        (f"sources of lib/ below {SHORT} lines", sum(text.count("\n") < SHORT for text in code), MOST_SHORT),
        ("names of files in several folders of lib/",
         sum(len(where) > 1 for where in folders.values()), MOST_SHARED_NAMES),
        ("calls of reportUsageError", sum(text.count("return reportUsageError(") for text in code),
         MOST_USAGE_ERRORS),
    ]
    for what, number, most in figures:
        print(f"{what}: {number} of at most {most}" + (", too many" if number > most else ""))
    if not pages or not sources or any(number > most for _, number, most in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
