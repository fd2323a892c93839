"""Checks that the objects of --emit=json have the fields that DataModel.def lists,
in its order. Of the kinds of a step, only its own is there.

    model_fields.py DataModel.def MODEL.json

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import re
import sys

table = open(sys.argv[1], encoding="utf-8").read()
table = table[table.index("PIPEC_DATA_OBJECT(Schedule"):].replace("\\\n", "\n")
macros = {}
for name, body in re.findall(r"#define (PIPEC_DATA_\w+)\(Object\)(.*?)(?=^PIPEC|^#)", table, re.S | re.M):
    macros[name] = re.findall(r"PIPEC_DATA_FIELD\(Object, (\w+)", body)
fields = {}
for line in table.splitlines():
    if match := re.match(r"PIPEC_DATA_FIELD\((\w+), (\w+)", line):
        fields[match[1]].append(match[2])
    elif match := re.match(r"PIPEC_DATA_OBJECT\((\w+)", line):
        fields[match[1]] = []
    elif match := re.match(r"(PIPEC_DATA_\w+)\((\w+)\)", line):
        fields[match[2]] += macros[match[1]]
LISTS = {"params": "Param", "rankOfStage": "Home", "rankPairs": "RankPair", "stages": "Stage", "phases": "Phase", "cpp": "Cpp",
         "families": "Family", "columns": "Column", "rows": "Row", "values": "Value", "ranks": "Rank",
         "steps": "Step", "terms": "Term"}
checked = 0


def check(value, kind):
    global checked
    names = list(value)
    if kind == "Step":
        shown = [name for name in names if re.fullmatch("is[A-Z].*", name) and name not in fields[kind]]
        own = "is" + "".join(part if len(part) == 1 else part.capitalize() for part in value["kind"].split("_"))
        assert shown == [own] and value[own] is True, (shown, value["kind"])
        names.remove(own)
    assert names == fields[kind], (kind, names, fields[kind])
    checked += 1
    for name, inner in value.items():
        inners = inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else []
        for number, one in enumerate(inners):
            check(one, LISTS.get(name) or ("Loop" if one["isLoop"] else "Step" if one["isStep"] else "Group"))
            assert one.get("last", True) == (number + 1 == len(inners)), (name, number)


with open(sys.argv[2], encoding="utf-8") as file:
    check(json.load(file), "Schedule")
print(f"{checked} objects have their fields")
