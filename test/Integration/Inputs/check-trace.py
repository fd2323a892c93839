"""Checks a Chrome trace of an executor against the format and the step list.

    check-trace.py TRACE.json LIST.steps RUNS

The format ("Trace Event Format"): complete events (X) with a time and a length
nest on their track, metadata (M) name the tracks, and each arrow has one start (s)
and one end (f) that lie inside a slice, the end not before the start. The
list: every track has the steps of its rank, RUNS times, in their order, and no
step begins before the step that makes its data has ended, on whatever rank: so all
ranks tell the time by one clock.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import collections
import json
import re
import sys

trace, steps, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(trace) as file:
    document = json.load(file)
events = document["traceEvents"]
assert document["displayTimeUnit"] in ("ms", "ns")


def nanoseconds(microseconds):
    assert isinstance(microseconds, (int, float)), microseconds
    return round(microseconds * 1000)


# The list of every rank.
ranks = []
for line in open(steps):
    line = re.sub(r"\s*(@\S+|//.*)?$", "", line.strip())
    if re.match(r"rank \d+ \{$", line):
        ranks.append([])
    elif re.match(r"(overlap|batch|F|B|I|W|SEND_[FB]|RECV_[FB]|UNSHARD|RESHARD|REDUCE_GRAD) ", line):
        for part in re.split(r" & |, ", re.sub(r"^(overlap|batch) ", "", line)):
            ranks[-1].append(re.sub(r" (->|<-) r\d+", "", part))
last = max(int(re.search(r" s(\d+)", step)[1]) for rank in ranks for step in rank)

names, slices, starts, ends = {}, collections.defaultdict(list), {}, {}
for event in events:
    assert event["pid"] == 0 and isinstance(event["name"], str), event
    kind = event["ph"]
    if kind == "M":
        assert event["name"] in ("process_name", "thread_name"), event
        if event["name"] == "thread_name":
            assert event["tid"] not in names
            names[event["tid"]] = event["args"]["name"]
        continue
    ts = nanoseconds(event["ts"])
    assert ts >= 0, event
    if kind == "X":
        assert nanoseconds(event["dur"]) > 0, event
        assert event["cat"] in ("compute", "transfer", "fsdp"), event
        slices[event["tid"]].append((ts, ts + nanoseconds(event["dur"]), event["name"], event["args"]["run"]))
    else:
        assert kind == "s" or (kind == "f" and event["bp"] == "e"), event
        key = event["cat"], event["name"], event["id"]
        side = starts if kind == "s" else ends
        assert key not in side, f"{key} twice"
        side[key] = event["tid"], ts

# One track a rank.
assert names == {rank: f"rank {rank}" for rank in range(len(ranks))}, names
assert set(slices) == set(names)

place = {}
for rank, own in slices.items():
    open_until = []
    for begin, end, name, run in own:
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], f"rank {rank}: {name} overlaps what came before"
        open_until.append(end)
        assert (name, run) not in place, f"{name} twice in run {run}"
        place[name, run] = rank, begin, end
    # A receive is shown where it was waited for, everything else at its step.
    waits = [name for _, _, name, _ in own if name.startswith("RECV")]
    done = [name for _, _, name, _ in own if not name.startswith("RECV")]
    assert done == [step for step in ranks[rank] if not step.startswith("RECV")] * runs, f"order of rank {rank}"
    assert sorted(waits) == sorted([step for step in ranks[rank] if step.startswith("RECV")] * runs)
    assert [run for _, _, _, run in own] == sorted(run for _, _, _, run in own)

# Arrows.
assert set(starts) == set(ends)
assert len(starts) == runs * sum(step.startswith("SEND") for rank in ranks for step in rank)
for key, (rank, ts) in starts.items():
    (send,) = [(name, run) for begin, end, name, run in slices[rank]
               if begin <= ts < end and name.startswith("SEND")]
    to, until = ends[key]
    (recv,) = [(name, run) for begin, end, name, run in slices[to]
               if begin <= until < end and name.startswith("RECV")]
    assert ts <= until, f"{send} arrives before it is sent"
    kind, stage, microbatch = re.fullmatch(r"SEND_([FB]) s(\d+) m(\d+)", send[0]).groups()
    stage = int(stage) + (1 if kind == "F" else -1)
    assert recv == (f"RECV_{kind} s{stage} m{microbatch}", send[1]), (send, recv)

# What a step uses was made before, on whatever rank.
crossings = 0
for (name, run), (rank, begin, _) in place.items():
    found = re.fullmatch(r"([FBIW]) s(\d+) m(\d+)", name)
    if not found:
        continue
    kind, stage, microbatch = found[1], int(found[2]), found[3]
    if kind == "F":
        before = [f"F s{stage - 1} m{microbatch}"] if stage else []
    elif kind == "W":
        before = [f"I s{stage} m{microbatch}"]
    elif stage == last:
        before = [f"F s{stage} m{microbatch}"]
    else:
        before = [f"{k} s{stage + 1} m{microbatch}" for k in "BI"]
    for other in before:
        if (other, run) in place:
            crossings += place[other, run][0] != rank
            assert place[other, run][2] <= begin, f"{name} begins before {other} has ended"
assert crossings or len(ranks) == 1
print(f"{len(ranks)} tracks, {len(place)} slices, {len(starts)} arrows: as the list")
