"""Writes traces in the form of torch.profiler from lines of spans.

    kineto.py FOLDER < SPANS

Each line is a span, in microseconds: RANK CELL START END, the cell with its
prefix, `PP:0F1` or `PPWAIT:1F0`; `kernel LAUNCH START END` on a device is one
that the host launches. A line `rank R KEY VALUE` sets the `host`, the
`base` (nanoseconds) or the `gz` of a rank, `rank R device STREAM` puts the
following spans on a device, `rank R bytes TIME N` is an allocation, and `steps
N LENGTH` repeats all of it N times. Writes FOLDER/rankR.json.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import gzip
import json
import os
import sys

ranks, steps, length = {}, 1, 0
for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    if words[0] == "steps":
        steps, length = int(words[1]), float(words[2])
        continue
    of = words.pop(0) if words[0] != "rank" else words[1]
    rank = ranks.setdefault(int(of), {"events": [], "host": "vm", "base": 0, "gz": 0, "device": None})
    if words[0] == "rank":
        if words[2] == "bytes":
            rank["events"].append(dict(ph="i", cat="cpu_instant_event", name="[memory]", ts=float(words[3]), s="t",
                                       args={"Bytes": int(words[4]), "Device Type": 0, "Device Id": -1}))
        else:
            rank[words[2]] = int(words[3]) if words[2] in ("base", "gz", "device") else words[3]
        continue
    if words[0] == "kernel":
        launch, start, end = map(float, words[1:])
        args = dict(correlation=len(rank["events"]) + 1)
        rank["events"] += [dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=8, ts=launch, dur=0.1, args=args),
                           dict(ph="X", cat="kernel", name="gemm", pid=0, tid=rank["device"], ts=start, dur=end - start, args=args)]
        continue
    name, start, end = words[0], float(words[1]), float(words[2])
    stream = rank["device"]
    rank["events"].append(dict(ph="X", cat="user_annotation" if stream is None else "gpu_user_annotation", name=name,
                               pid=1, tid=7 if stream is None else stream, ts=start, dur=end - start))
for number, rank in ranks.items():
    events = [dict(event, ts=round(event["ts"] + step * length, 3)) for step in range(steps) for event in rank["events"]]
    text = json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "gloo", "rank": number},
                       "host_name": rank["host"], "baseTimeNanoseconds": rank["base"], "traceEvents": events})
    path = os.path.join(sys.argv[1], f"rank{number}.json")
    if rank["gz"]:
        with gzip.open(path + ".gz", "wt") as file:
            file.write(text + "\n")
    else:
        with open(path, "w") as file:
            file.write(text + "\n")
