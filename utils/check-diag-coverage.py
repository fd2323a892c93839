#!/usr/bin/env python3
"""Checks that every kind of diagnostic is named by a test.

    check-diag-coverage.py [ROOT]

A test names a kind of lib/Support/Diagnostics/*.def by `expected-error(Kind)` in
the input of a --verify-diagnostics run, by `[Kind]` in the FileCheck lines for the
output of --show-kinds, in the first line of an example (test/Diagnostics/Inputs),
which must show the kinds that it names, or, if no command can report the kind, by
`diag::Id::Kind` in a unit test. Prints the kinds that no test names, and the names
in tests that no table has.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

EXPECTED = re.compile(r"expected-(?:error|warning|note)\((\w+)\)")
SHOWN = re.compile(r"^\W*[A-Z][\w-]*:.*?\[(\w+)\]", re.M)
EXAMPLE = re.compile(r"\Akinds: (.*)$", re.M)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    kinds = {}
    for table in sorted((root / "lib/Support/Diagnostics").glob("*.def")):
        for match in re.finditer(r"^PIPEC_(?:ERROR|USAGE_ERROR|WARNING|NOTE)\((\w+),", table.read_text(), re.M):
            kinds[match[1]] = table.name

    named = {}
    for path in sorted((root / "test").rglob("*")):
        # The inputs of the test of this script do not count.
        if not path.is_file() or path.suffix == ".tree" or path.stat().st_size > 1 << 20:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".example":
            kinds_line, _, run = text.partition("\n$ ")
            if match := EXAMPLE.search(kinds_line):
                for kind in match[1].split():
                    named.setdefault(kind, path)
            text = run  # without the explanation
        for match in EXPECTED.finditer(text):
            named.setdefault(match[1], path)
        for match in SHOWN.finditer(text):
            if match[1] in kinds:
                named.setdefault(match[1], path)

    for path in sorted((root / "unittests").rglob("*.cpp")):
        for match in re.finditer(r"\bdiag::(\w+)", path.read_text(encoding="utf-8")):
            if match[1] in kinds:
                named.setdefault(match[1], path)

    failures = [f"{kinds[kind]}: {kind} is named by no test" for kind in kinds if kind not in named]
    failures += [f"{path.relative_to(root)}: no diagnostic is called {kind}"
                 for kind, path in named.items() if kind not in kinds]
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures or not kinds:
        sys.exit(f"{len(failures)} kinds without a proof, of {len(kinds)}")
    print(f"{len(kinds)} kinds are proved by tests")


if __name__ == "__main__":
    main()
