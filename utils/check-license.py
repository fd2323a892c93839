#!/usr/bin/env python3
"""Checks the header of every source: the SPDX line of its licence, and in C++ a
first line that names the file.

    check-license.py [ROOT]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
FOLDERS = ["cmake", "grammar", "include", "lib", "tools", "templates", "schedules", "test", "unittests",
           "examples", "benchmarks", "utils"]
# Tests in lit's formats and their inputs are not sources.
SUFFIXES = {".h", ".cpp", ".def", ".g4", ".cmake", ".py", ".sh", ".mustache", ".in"}
SCRIPTS = ["x", ".ci/run", "CMakeLists.txt"]


def sources(root):
    yield from (root / name for name in SCRIPTS if (root / name).exists())
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            in_tests = "Inputs" in path.parts
            wanted = path.suffix in SUFFIXES or folder == "schedules" and path.suffix == ".pipe"
            if path.is_file() and wanted and not in_tests:
                yield path


def wrong_banner(path):
    """The error in the `//===- NAME - ... ===//` line of a source, or None."""
    line = path.open(encoding="utf-8").readline().rstrip("\n")
    match = re.match(r"//===- (\S+)", line)
    if not match or path.suffix not in {".h", ".cpp", ".def"}:
        return None
    if match[1] != path.name:
        return f"names {match[1]}"
    return None if line.endswith("===//") else "continues on the second"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count = bad = 0
    for path in sources(root):
        count += 1
        if LINE not in path.read_text(encoding="utf-8")[:2000]:
            bad += 1
            print(f"{path.relative_to(root)}: no SPDX-License-Identifier line", file=sys.stderr)
        elif banner := wrong_banner(path):
            bad += 1
            print(f"{path.relative_to(root)}: the first line {banner}", file=sys.stderr)
    if bad or not count:
        sys.exit(f"{bad} of {count} sources have a wrong header")
    print(f"{count} sources have a correct header")


if __name__ == "__main__":
    main()
