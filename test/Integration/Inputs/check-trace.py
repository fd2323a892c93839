"""Checks a Chrome trace of an executor against the format and the step list.

    check-trace.py TRACE.json LIST.steps RUNS

The trace is what Perfetto reads (test/Emit/Inputs/perfetto.py): every rank is a
process with one track of its steps, RUNS times, in the order of the list, and
arrows lead from sends to their receives. No step begins before the step that makes
its data has ended, on whatever rank: so all ranks tell the time by one clock.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Emit" / "Inputs"))
import perfetto

steps, runs = sys.argv[2], int(sys.argv[3])
trace = perfetto.load(sys.argv[1])

# The list of every rank.
ranks = []
for line in open(steps):
    line = re.sub(r"\s*(@\S+|//.*)?$", "", line.strip())
    if re.match(r"rank \d+ \{$", line):
        ranks.append([])
    elif re.match(r"(overlap|batch|F|B|I|W|R|SEND_[FB]|RECV_[FB]|UNSHARD|RESHARD|REDUCE_GRAD|(WAIT_)?OFFLOAD|RELOAD|UPDATE) ", line):
        for part in re.split(r" & |, ", re.sub(r"^(overlap|batch) ", "", line)):
            ranks[-1].append(re.sub(r" (->|<-) r\d+", "", part))
last = max(int(re.search(r" s(\d+)", step)[1]) for rank in ranks for step in rank)

# One process per rank, with one track.
assert trace.processes == {rank + 1: f"rank {rank}" for rank in range(len(ranks))}, trace.processes
assert trace.process_of == {pid: pid for pid in trace.processes}
assert set(trace.slices) == set(trace.processes)
slices = collections.defaultdict(list)
for pid, found in trace.slices.items():
    for step in found:
        assert step.category in ("compute", "transfer", "fsdp", "copy") and step.end > step.begin, step
        what = [step.args["kind"], f"s{step.args['stage']}"]
        if "microbatch" in step.args:
            what.append(f"m{step.args['microbatch']}")
            if "slice" in step.args:
                what[-1] += f".{step.args['slice']}"
                assert step.args["unit"] == step.args["microbatch"] * 3 + step.args["slice"], step
            assert step.args["chunk"] >= 0, step
        assert " ".join(what) == step.name, step
        slices[pid - 1].append((step.begin, step.end, step.name, step.args["run"]))

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
assert len(trace.flows) == runs * sum(step.startswith("SEND") for rank in ranks for step in rank)
for (_, send), (_, recv), _ in trace.flows:
    assert send.begin <= recv.end, f"{send} arrives before it is sent"
    kind, stage, microbatch = re.fullmatch(r"SEND_([FB]) s(\d+) m([\d.]+)", send.name).groups()
    stage = int(stage) + (1 if kind == "F" else -1)
    assert recv.name == f"RECV_{kind} s{stage} m{microbatch}", (send, recv)
    assert recv.args["run"] == send.args["run"], (send, recv)

# What a step uses was made before, on whatever rank.
crossings = 0
for (name, run), (rank, begin, _) in place.items():
    found = re.fullmatch(r"([FBIW]) s(\d+) m([\d.]+)", name)
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
print(f"{len(ranks)} tracks, {len(place)} slices, {len(trace.flows)} arrows: as the list")
