"""Compares the three forms of `pipec explain --against`.

    check-against.py TEXT HTML JSON
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re
import sys

text, html, trace = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
totals = [float(number) for number in re.search(r"^training step +(\S+) +(\S+)", text, re.M).groups()]

# Ranks: work, idle, and the parts of the idle time in columns below their headings.
lines = text.split("\n")
first = next(i for i, line in enumerate(lines) if line.startswith("rank  "))
ends = {match[0]: match.end() for match in re.finditer(r"\S+", lines[first])}
rows = lines[first + 1:lines.index("", first)]
assert len(rows) == 8, rows
for i, row in enumerate(rows):
    cells = {match.end(): float(match[0]) for match in re.finditer(r"\d+\.\d+", row)}
    row = {name: cells.get(end, 0) for name, end in ends.items()}
    total = totals[i % 2]
    assert abs(row["work"] + row["idle"] - total) < 0.01, (i, row, total)
    parts = sum(value for name, value in row.items() if name not in ("rank", "work", "idle"))
    # Of a real run, what the host did for later steps may be in both.
    assert abs(parts - row["idle"]) < (0.01 if i % 2 == 0 else 0.5), (i, row, parts)

runs = [json.loads(block) for block in
        re.findall(r'<script type="application/json" class="pipec-schedule">\n(.*?)</script>', html, re.S)]
assert [run["name"] for run in runs] == ["one_f_one_b", "one_f_one_b, measured"], [run["name"] for run in runs]
for run, total in zip(runs, totals):
    assert abs(run["makespan"] / run["ticksPerUnit"] - total) < 0.01, (run["makespan"], total)
    assert [len(lane["k"]) for lane in run["lanes"]] == [16] * 4
assert runs[0]["critical"] and not runs[1]["critical"]

events = json.loads(trace)["traceEvents"]
names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
assert sorted(names.values()) == sorted(f"rank {r}{what}" for r in range(4) for what in ("", " measured")), names
slices = [event for event in events if event["ph"] == "X" and event.get("cat") in ("F", "B")]
assert len(slices) == 128, len(slices)
for what, total in zip(("", " measured"), totals):
    own = [event for event in slices if names[event["pid"]].endswith("measured") == bool(what)]
    assert abs(max(event["ts"] + event["dur"] for event in own) / 1000 - total) < 0.01
# Both runs have flows of their own, and each has two ends.
flows = {}
for event in events:
    if event["ph"] in "sf":
        flows.setdefault(event["id"], []).append(names[event["pid"]].endswith("measured"))
assert len(flows) == 2 * 6 * 8 and all(len(ends) == 2 and ends[0] == ends[1] for ends in flows.values()), len(flows)
