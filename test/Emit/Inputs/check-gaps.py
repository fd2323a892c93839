#!/usr/bin/env python3
"""Compares the causes of idle time on a page with those of `pipec explain`.

    check-gaps.py PAGE ARGUMENT...

For every gap of the page, `pipec explain ARGUMENT...` at its start must name the same
parts of the wait, the same step that would have fitted, and the step that the page names,
with its times.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re
import subprocess
import sys
from fractions import Fraction

PARTS = ["for other ranks to compute", "for the input to arrive", "for transfers that wait for each other",
         "for its own ", "for parameters"]


def check(holds, what):
    if not holds:
        sys.exit(f"check-gaps.py: {what}")


def main():
    page, *arguments = sys.argv[1:]
    text = re.search(r'class="pipec-schedule">\n(.*?)</script>', open(page, encoding="utf-8").read(), re.S)[1]
    data = json.loads(text)
    unit = data["ticksPerUnit"]

    def time(ticks):
        value = Fraction(ticks, unit)
        return str(value) if value.denominator == 1 else format(float(value), "g")

    lanes, gaps = [], []
    for lane in data["lanes"]:
        at, i, overlaps, times = 0, 0, iter(lane["o"]), []
        for gap in lane["g"]:
            j = i
            while lane["k"][j].islower():
                j += 1
            if gap:
                gaps.append((lane, at, at + gap, i, len([g for g in gaps if g[0] is lane])))
            at += gap
            end = at + (next(overlaps) if j > i else lane["d"][i])
            times += [(at, end)] * (j + 1 - i)
            at, i = end, j + 1
        lanes.append(times)

    def name(lane, index):
        return f"{lane['k'][index].upper()} s{lane['s'][index]} m{lane['m'][index]}"

    for lane, start, end, before, number in gaps:
        done = subprocess.run(["pipec", "explain", *arguments, f"--rank={lane['rank']}", f"--at={Fraction(start, unit)}"],
                              capture_output=True, text=True)
        said, where = done.stdout + done.stderr, f"rank {lane['rank']} from {time(start)} to {time(end)}"
        check(done.returncode == 0 and f"idle from {time(start)} to {time(end)}" in said, f"{where}: {said}")
        why = lane["w"]
        parts = why["p"][number] or [end - start, 0, 0, 0, 0]
        waits = ", ".join(f"{time(part)} {words}" for part, words in zip(parts, PARTS) if part)
        line = re.search(r"^waits: (.*)$", said, re.M)[1].replace("its own transfers and reductions", "its own ").replace(
            "its own sends and reductions", "its own ")
        check(waits == line, f"{where}: {waits}, but explain says {line}")
        if why["q"][number] >= 0:
            other, index = data["lanes"][why["q"][number]], why["i"][number]
            step = name(other, index)
            check(re.search(rf"{step}\b", said), f"{where}: {step} is not in {said}")
            check(lanes[other["rank"]][index][1] <= end, f"{where}: {step} ends later")
        ready = dict((k, (i, held)) for k, i, held in zip(*[iter(why["y"])] * 3)).get(number)
        check((ready is not None) == ("would fit" in said), f"{where}: {ready}, but explain says {said}")
        if ready:
            check(re.search(rf"{name(lane, ready[0])}`?, has its input by then and would fit", said), f"{where}: {said}")
            check((ready[1] >= 0) == ("the rank would keep" in said), f"{where}: {said}")
    print(f"{len(gaps)} gaps agree")


main()
