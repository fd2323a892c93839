#!/usr/bin/env python3
"""Checks that the folders of lib/ only use lower layers.

    check-layers.py [ROOT]

Each folder of lib/ is a layer and a library. It may include its own headers and
those of its direct and indirect dependencies (`DEPENDS` in its CMakeLists.txt), and
it may only depend on layers that precede it in lib/CMakeLists.txt. Only lib/Parse
may use ANTLR.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

SOURCES = {".h", ".cpp", ".def", ".inc"}


def layers(cmake):
    """Folder -> its level, from the list of lib/CMakeLists.txt."""
    names = re.search(r"foreach\(layer\s+([^)]*)\)", cmake.read_text())[1].split()
    return {name: level for level, name in enumerate(names)}


def declared(cmake):
    """Library name -> names after DEPENDS, of one CMakeLists.txt."""
    text = re.sub(r"#.*", "", cmake.read_text())
    found = {}
    for name, body in re.findall(r"pipec_add_(?:library|program)\(\s*([\w-]+)(.*?)\)", text, re.S):
        words = body.split()
        depends = words[words.index("DEPENDS") + 1:] if "DEPENDS" in words else []
        found[name] = [word for word in depends if word.startswith("pipec")]
    return found


def closure(name, depends, seen=None):
    seen = set() if seen is None else seen
    for other in depends.get(name, []):
        if other not in seen:
            seen.add(other)
            closure(other, depends, seen)
    return seen


def check(root):
    lib = root / "lib"
    level_of = layers(lib / "CMakeLists.txt")
    violations = []
    folders = sorted(p for p in lib.iterdir() if (p / "CMakeLists.txt").exists())
    depends = {}
    for folder in folders:
        depends.update(declared(folder / "CMakeLists.txt"))

    for folder in folders:
        name = folder.name
        if name not in level_of:
            violations.append(f"lib/{name}: no layer has this name")
            continue
        library = "pipec" + name
        for other in depends.get(library, []):
            level = level_of.get(other.removeprefix("pipec"))
            if level is not None and level >= level_of[name]:
                violations.append(f"lib/{name}/CMakeLists.txt: {library} depends on {other} "
                                  "of a higher layer")
        allowed = {name} | {d.removeprefix("pipec") for d in closure(library, depends)}
        for source in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
            shown = source.relative_to(root)
            for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
                match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
                if not match:
                    continue
                header = match[1]
                if "antlr4" in header and name != "Parse":
                    violations.append(f"{shown}:{number}: antlr4 is for lib/Parse only")
                first = header.split("/")[0]
                if "/" not in header or first not in level_of:
                    continue
                if first not in allowed:
                    violations.append(f"{shown}:{number}: `{header}` belongs to {first}, which "
                                      f"{library} does not name in DEPENDS")
    return violations, folders


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    violations, folders = check(root)
    for violation in violations:
        print(violation, file=sys.stderr)
    if violations:
        sys.exit(f"{len(violations)} violations")
    if not folders:
        sys.exit(f"no libraries under {root}/lib")
    print(f"{len(folders)} libraries obey their layers")


if __name__ == "__main__":
    main()
