#!/usr/bin/env python3
"""Writes the tables of docs/DataModel.md from lib/Emit/DataModel.def.

    data-model-tables.py [ROOT]           writes them into the page
    data-model-tables.py --check [ROOT]   compares

The tables replace everything after the heading `## Fields` of the page.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import re
import sys

STRING = r'((?:\s*"(?:[^"\\]|\\.)*")+)'


def unquote(strings):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))


def read(path):
    """Objects in their order: (name, summary, [(field, type, meaning)])."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("PIPEC_DATA_OBJECT(Schedule"):].replace("\\\n", "\n")
    macros = {}
    for name, body in re.findall(r"#define (PIPEC_DATA_\w+)\(Object\)(.*?)(?=^PIPEC|^#)", text, re.S | re.M):
        macros[name] = re.findall(r"PIPEC_DATA_FIELD\(Object, (\w+)," + STRING + "," + STRING + ",", body)
        text = text.replace(f"#define {name}(Object){body}", "")
    objects = []
    row = re.compile(r"^(?:PIPEC_DATA_OBJECT\((\w+), \w+," + STRING + r"\)"
                     r"|PIPEC_DATA_FIELD\((\w+), (\w+)," + STRING + "," + STRING + ","
                     r'|#include "Support/(Steps.def)"'
                     r"|(PIPEC_DATA_\w+)\((\w+)\))", re.M)
    for match in row.finditer(text):
        if match[1]:
            objects.append((match[1], unquote(match[2]), []))
            continue
        fields = objects[-1][2]
        if match[3]:
            fields.append((match[4], unquote(match[5]), unquote(match[6])))
        elif match[7]:
            fields.append(("isF, isB, isI, ...", "boolean",
                           "the kind, one field for each; the JSON has the one that is true"))
        else:
            fields += [(name, unquote(kind), unquote(meaning)) for name, kind, meaning in macros[match[8]]]
    return objects


def tables(objects):
    out = []
    for name, summary, fields in objects:
        out += [f"### {name}", "", summary[0].upper() + summary[1:] + ".", "", "| field | type | meaning |", "| --- | --- | --- |"]
        for field, kind, meaning in fields:
            names = ", ".join(f"`{part}`" if part != "..." else part for part in field.split(", "))
            out.append(f"| {names} | {kind} | {meaning} |")
        out.append("")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    options = parser.parse_args()
    objects = read(options.root / "lib/Emit/DataModel.def")
    page = options.root / "docs/DataModel.md"
    old = page.read_text(encoding="utf-8")
    new = old[:old.index("\n## Fields\n")] + "\n## Fields\n\n" + tables(objects)
    if options.check:
        if old != new:
            sys.exit("docs/DataModel.md differs: run utils/data-model-tables.py")
    else:
        page.write_text(new, encoding="utf-8")
    print(f"{sum(len(fields) for _, _, fields in objects)} fields of {len(objects)} objects")


if __name__ == "__main__":
    main()
