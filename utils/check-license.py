#!/usr/bin/env python3
"""Checks that every source of the tree carries the SPDX line of its licence.

    check-license.py [ROOT]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
FOLDERS = ["cmake", "grammar", "include", "lib", "tools", "templates", "schedules", "test", "unittests",
           "examples", "benchmarks", "utils"]
# Tests in lit's own formats are not sources; neither are their inputs.
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


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    count = bad = 0
    for path in sources(root):
        count += 1
        if LINE not in path.read_text(encoding="utf-8")[:2000]:
            bad += 1
            print(f"{path.relative_to(root)}: no SPDX-License-Identifier line", file=sys.stderr)
    if bad or not count:
        sys.exit(f"{bad} of {count} sources lack the line")
    print(f"{count} sources carry it")


if __name__ == "__main__":
    main()
