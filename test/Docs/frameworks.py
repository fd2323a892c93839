# The rules of Frameworks.def are those of docs/Compare.md, in its words.
# RUN: %python %s %root/lib/Frameworks/Frameworks.def %root/docs/Compare.md
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import re
import sys

rules, page = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
rows = {}
for line in page.split("\n"):
    cells = [cell.strip() for cell in line.strip("|").split(" | ")]
    if len(cells) == 3:
        rows[cells[0]] = cells[1:]
names = {}
found = re.findall(r'^PIPEC_FRAMEWORK(_RULE)?\((\w+), ("?)([^",]*)"?,[^\n]*\n  "([^"]*)"\)$', rules, re.M)
assert len(found) == len(re.findall(r'^PIPEC_FRAMEWORK', rules, re.M)), found
for rule, framework, _, name, text in found:
    if not rule:
        names[framework] = name
    column = 1 if rule else 0
    assert text in rows[names[framework]][column], f"docs/Compare.md does not say: {text}"
