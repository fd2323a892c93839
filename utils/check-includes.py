#!/usr/bin/env python3
"""Checks that the sources of lib/ and tools/ include what they call.

    check-includes.py [ROOT]

A library that is compiled in a few pieces hides a missing include: another source of
the piece has it. Here each source must reach, over its own includes, a header that
declares each function of lib/ that it calls, and the table of each `diag::Kind`.
Functions are those that headers declare at the start of a line. A name that a source
or its headers declare otherwise, such as a member, is not checked.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import functools
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
FUNCTION = re.compile(r"^(?!(?:namespace|using|template|static_assert|struct|class|enum|return)\b)[A-Za-z][\w:<>,&* ]*(?:[ &*>]|\n)(\w+)\(", re.M)
KIND = re.compile(r"^PIPEC_(?:ERROR|WARNING|NOTE|REMARK)\((\w+)", re.M)
# A declaration in any scope: types before the name, and nothing else.
DECLARED = re.compile(r"^[ ]*(?!(?:return|else|case|throw|co_return)\b)(?:[\w:<>,&*~\[\]]+[\s&*]+)+(?:\w+::)*(\w+)\(", re.M)
# A variable, such as a lambda, that is called.
VARIABLE = re.compile(r"\b(\w+)(?: = | \{|[,)]|;)")
WORD = re.compile(r"\b(\w+)\b")
CALL = re.compile(r"(?<![\w.>:~])(\w+)\(")
USE = re.compile(r"\bdiag::(\w+)")


def without_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', lambda m: m[0] if m[0][0] == '"' else "", text, flags=re.S)


class Tree:
    def __init__(self, lib):
        self.lib = lib

    @functools.cache
    def text(self, path):
        return without_comments(path.read_text(encoding="utf-8"))

    @functools.cache
    def headers(self, path):
        """The files of lib/ that a file includes, directly or not."""
        found, todo = set(), [path]
        while todo:
            for name in INCLUDE.findall(self.text(todo.pop())):
                header = self.lib / name
                if name.endswith("Diags.h") and not header.exists():
                    # The build makes it for a table.
                    found.add(header.with_name(header.name.replace("Diags.h", ".def")))
                    header = header.with_name("Diags.h.in")
                if header.exists() and header not in found:
                    found.add(header)
                    todo.append(header)
        return found

    @functools.cache
    def declared(self, path):
        # What a table declares depends on its macros: every word of it counts.
        return set((WORD if path.suffix == ".def" else DECLARED).findall(self.text(path)))


def check(root):
    lib = root / "lib"
    tree = Tree(lib)
    functions, kinds = {}, {}
    for path in sorted(lib.rglob("*.h")):
        for name in FUNCTION.findall(tree.text(path)):
            functions.setdefault(name, set()).add(path)
    for path in sorted(lib.rglob("*.def")):
        for name in KIND.findall(tree.text(path)):
            kinds.setdefault(name, set()).add(path)

    missing = []
    for path in sorted([*lib.rglob("*.cpp"), *root.glob("tools/**/*.cpp")]):
        text, reached = tree.text(path), tree.headers(path)
        own = tree.declared(path).union(*(tree.declared(header) for header in reached)) | set(VARIABLE.findall(text))
        for name in sorted(set(CALL.findall(text)) & functions.keys() - own):
            if not functions[name] & reached:
                missing.append(f"{path.relative_to(root)}: calls `{name}` without "
                               + " or ".join(sorted(str(header.relative_to(lib)) for header in functions[name])))
        for name in sorted(set(USE.findall(text)) & kinds.keys()):
            if not kinds[name] & reached:
                missing.append(f"{path.relative_to(root)}: uses `diag::{name}` without the header of "
                               + " or ".join(sorted(str(table.relative_to(lib)) for table in kinds[name])))
    return missing


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    missing = check(root)
    print("\n".join(missing + [f"{len(missing)} missing includes"]))
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
