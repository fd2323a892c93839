#!/usr/bin/env python3
"""Compares pages of --emit=html with step IR.

    check-page.py PAGE IR...

The page refers to nothing outside. Its blocks of JSON, one for each IR, hold
the compute steps, those on streams, overlaps, transfers, FSDP actions and copies of
the IR in its order.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re
import sys


def check(holds, what):
    if not holds:
        sys.exit(f"check-page.py: {what}")


def read_ir(path):
    """[(groups of compute steps, sends, FSDP actions, waits, copies)] by rank; the groups of the rank, and of each
    stream."""
    ranks, streams = [], []
    for line in open(path, encoding="utf-8"):
        if found := re.match(r'\s*stream (?:"[^"]*"|\S+) ([\d ]+)$', line):
            streams.append(found[1].split())
        elif re.match(r"\s*rank \d+ \{", line):
            ranks.append(([[] for _ in range(1 + len(streams))], [], [], [], []))
        elif ranks:
            steps = re.findall(r"(?<![_A-Z])([FBIWR]|UPDATE) s(\d+)(?: m(\d+))?", line)
            if steps:
                lane = next((k for k, stages in enumerate(streams, 1) if steps[0][2] and steps[0][1] in stages), 0)
                ranks[-1][0][lane].append([(k[0], int(s), int(m or -1)) for k, s, m in steps])
            ranks[-1][4].extend((k, int(s), int(m)) for k, s, m in re.findall(r"(?<!_)(OFFLOAD|RELOAD) s(\d+) m(\d+)", line))
            ranks[-1][1].extend((k, int(s), int(m), int(r))
                                for k, s, m, r in re.findall(r"SEND_([FB]) s(\d+) m(\d+) -> r(\d+)", line))
            ranks[-1][3].extend((k, int(s), int(m or 0))
                                for k, s, m in re.findall(r"WAIT_(SEND_F|SEND_B|REDUCE_GRAD|OFFLOAD) s(\d+)(?: m(\d+))?", line))
            ranks[-1][2].extend((k, int(s)) for k, s in re.findall(r"(?<!_)(UNSHARD|RESHARD|REDUCE_GRAD) s(\d+)", line))
    return ranks


def check_gaps(data):
    """Every gap has a cause: its parts add up, and the step that it is for ends in time."""
    ends, gaps = [], []
    for lane in data["lanes"]:
        own, rank_gaps = [], []
        for steps in [lane, *lane.get("streams", [])]:
            at, group, overlap, i = data["from"], 0, 0, 0
            while i < len(steps["k"]):
                j = i
                while steps["k"][j].islower():
                    j += 1
                if steps["g"][group] > 0 and steps is lane:
                    rank_gaps.append((at, at + steps["g"][group], i))
                at += steps["g"][group] + (steps["o"][overlap] if j > i else steps["d"][i])
                group, overlap = group + 1, overlap + (j > i)
                own += [at] * (j + 1 - i)
                i = j + 1
        ends.append(own)
        gaps.append(rank_gaps)
    for lane, rank_gaps in zip(data["lanes"], gaps):
        why = lane.get("w", {"q": [], "i": [], "p": [], "y": []})
        check(len(why["q"]) == len(why["i"]) == len(why["p"]) == len(rank_gaps),
              f"rank {lane['rank']} has {len(rank_gaps)} gaps, {len(why['p'])} with a cause")
        for (start, end, before), rank, index, parts in zip(rank_gaps, why["q"], why["i"], why["p"]):
            if parts:
                check(sum(parts) == end - start and min(parts) >= 0, f"{parts} are not the parts of {start} to {end}")
            if rank < 0:
                continue
            check(ends[rank][index] <= end, f"step {index} of rank {rank} ends after the gap from {start} to {end}")
            if not parts:
                check(ends[rank][index] == end, f"step {index} of rank {rank} does not end with the gap to {end}")
        for gap, index, _ in zip(*[iter(why["y"])] * 3):
            check(index > rank_gaps[gap][2], "a step before the gap could fill it")
            check(lane["d"][index] <= rank_gaps[gap][1] - rank_gaps[gap][0], "a step longer than the gap could fill it")


def check_steps(rank, steps, groups):
    """Compares the columns of a rank, or of one of its streams, with groups of steps; returns their time."""
    found, group = [], []
    for kind, stage, microbatch in zip(steps["k"], steps["s"], steps["m"]):
        group.append((kind.upper(), stage, microbatch))
        if kind.isupper():
            found.append(group)
            group = []
    check(found == groups and not group, f"rank {rank} has other steps: {found[:3]} {groups[:3]}")
    columns = {len(steps[name]) for name in "kscmdpl"}
    check(len(columns) == 1 and len(steps["g"]) == len(groups), "columns of different lengths")
    check(len(steps["o"]) == sum(len(g) > 1 for g in groups), "not a duration for every overlap")
    check(min(steps["g"], default=0) >= 0, "a step before the end of the one before")
    singles = [d for d, g in zip(steps["d"], [g for g in groups for _ in g]) if len(g) == 1]
    return sum(singles) + sum(steps["o"])


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    check(not re.search(r"\b(src|href)=|url\(|@import", markup), "the page refers to something outside")
    check(not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\b", page.split("<script>")[1]), "the program loads something")
    blocks = re.findall(r'<script type="application/json" class="pipec-schedule">\n(.*?)</script>', page, re.S)
    check(len(blocks) == len(sys.argv) - 2, f"{len(blocks)} blocks")
    for text, path in zip(blocks, sys.argv[2:]):
        data, ranks = json.loads(text), read_ir(path)
        check(len(data["lanes"]) == len(ranks), "not a lane per rank")
        ends, sends = [], []
        for lane, (groups, rank_sends, actions, rank_waits, copies) in zip(data["lanes"], ranks):
            streams = lane.get("streams", [])
            check(len(streams) == len(data.get("streams", [])) == len(groups) - 1, "not the streams of the schedule")
            busy = [check_steps(lane["rank"], steps, own) for steps, own in zip([lane, *streams], groups)]
            check(busy[0] == lane["work"], f"rank {lane['rank']} works {busy[0]}, not {lane['work']}")
            ends += [sum(steps["g"]) + time for steps, time in zip([lane, *streams], busy)]
            kinds = {"U": "UNSHARD", "R": "RESHARD", "G": "REDUCE_GRAD"}
            fsdp = lane.get("fsdp", {"k": "", "s": []})
            check([(kinds[k], s) for k, s in zip(fsdp["k"], fsdp["s"])] == actions, "other FSDP actions")
            for name, letter, kind in ("out", "O", "OFFLOAD"), ("in", "L", "RELOAD"):
                found = lane.get(name, {"k": "", "s": [], "m": []})
                check(set(found["k"]) <= {letter}, f"other steps than {kind}")
                check([(kind, s, m) for s, m in zip(found["s"], found["m"])] == [c for c in copies if c[0] == kind],
                      f"other copies of rank {lane['rank']}")
            kinds = {"F": "SEND_F", "B": "SEND_B", "G": "REDUCE_GRAD", "O": "OFFLOAD"}
            waits = lane.get("waits", {"k": "", "s": [], "m": [], "t": []})
            found = [(kinds[k], s, m) for k, s, m in zip(waits["k"], waits["s"], waits["m"])]
            check(found == rank_waits, f"other waits: {found}, not {rank_waits}")
            check(len(waits["t"]) == len(found), "waits without times")
            check(len(lane["memory"]["t"]) == len(lane["memory"]["v"]), "memory without times")
            sends += [(k, s, m, lane["rank"], r) for k, s, m, r in rank_sends]
            check(max(lane["l"], default=-1) < len(data["sources"]), "a source that is not there")
        check(max(ends) == data["makespan"], f"ends at {max(ends)}, makespan {data['makespan']}")
        check_gaps(data)
        transfers = data["transfers"]
        check(list(zip(transfers["k"], transfers["s"], transfers["m"], transfers["r"], transfers["q"])) == sends,
              "other transfers")
        count = sum(len(steps["k"]) for lane in data["lanes"] for steps in [lane, *lane.get("streams", [])])
        print(f"{data['name']}: {count} steps, makespan {data['makespan'] / data['ticksPerUnit']:g}")


main()
