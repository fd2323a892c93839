# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s %S/../Calibrate/Inputs/kineto.py
"""Exports of Nsight Systems: `pipec calibrate` finds in them what it finds in traces of
PyTorch with the same events."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import sqlite3
import subprocess
import sys

import pipec.nsys

# Two ranks, gpipe with two micro-batches. The kernels of rank 1 take longer than the
# steps of its host.
SPANS = """
0 PP:0F0 0 10
0 PP:0SEND_F0 10 11
0 PP:0F1 11 21
0 PP:0SEND_F1 21 22
0 PP:0RECV_B0 40 41
0 PP:0B0 41 81
0 PPWAIT:0B0 41 60
0 PP:0RECV_B1 81 82
0 PP:0B1 82 122
0 PPWAIT:0B1 82 100
1 PP:1RECV_F0 0 1
1 PP:1F0 12 20
1 PP:1RECV_F1 20 21
1 PP:1F1 21 31
1 PP:1B0 31 47
1 PP:1SEND_B0 47 48
1 PP:1B1 48 64
1 PP:1SEND_B1 64 65
rank 1 device 7
1 kernel 13 14 26
1 kernel 22 26 37
1 kernel 32 37 58
1 kernel 49 58 79
"""
subprocess.run([sys.executable, sys.argv[1], "."], input=SPANS, text=True, check=True)


def export(path, traces, process=9):
    """What nsys writes for these traces, as far as it is read."""
    data = sqlite3.connect(path)
    data.executescript("""
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER);
        CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);
        INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'vm'), ('OsVersion', '12');
        CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (0);
        INSERT INTO NVTX_EVENTS VALUES (1, 9, 59, 'other', NULL, 0), (2, NULL, 34, 'PP:mark', NULL, 0);
    """)
    events = [event for trace in traces for event in trace["traceEvents"]]
    if any(event["cat"] == "kernel" for event in events):
        data.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER)")
    for owner, trace in enumerate(traces):
        for number, event in enumerate(trace["traceEvents"]):
            pid = process + owner << 24
            start = round(event["ts"] * 1000)
            end = start + round(event["dur"] * 1000)
            if event["cat"] == "kernel":
                row = (start, end, event["tid"], event["args"]["correlation"], pid)
                data.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?)", row)
            elif event["cat"] == "cuda_runtime":
                row = (start, end, pid + event["tid"], event["args"]["correlation"])
                data.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?)", row)
            elif number % 2:  # by value, with what emit_nvtx adds, or by number
                data.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, NULL, ?)", (start, end, f"{event['name']}, op_id = {number}", pid + 1))
            else:
                text = data.execute("INSERT INTO StringIds(value) VALUES (?)", (event["name"],)).lastrowid
                data.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?)", (start, end, text, pid + 1))
    data.commit()
    data.close()


def calibrated(*traces):
    run = subprocess.run(["pipec", "calibrate", *traces, "--for=gpipe", "-o", "costs.json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout, json.load(open("costs.json"))


traces = [json.load(open(f"rank{rank}.json")) for rank in range(2)]
for rank, trace in enumerate(traces):
    export(f"rank{rank}.sqlite", [trace])
    # The names of the files do not say which rank it is.
    pipec.nsys.main([f"rank{rank}.sqlite", f"--rank={rank}", "-o", f"nsys{1 - rank}.json.gz"])
assert calibrated("nsys0.json.gz", "nsys1.json.gz") == calibrated("rank0.json", "rank1.json")
_, costs = calibrated("nsys0.json.gz", "nsys1.json.gz")
assert costs["stages"]["1"] == {"F": 0.011, "B": 0.021}, costs


def refused(path, text):
    run = subprocess.run([sys.executable, "-m", "pipec.nsys", path, "-o", "none.json"], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr.startswith("pipec.nsys: error: ") and text in run.stderr, run.stderr


export("both.sqlite", traces)
refused("both.sqlite", "`both.sqlite` has the steps of 2 processes")
export("empty.sqlite", [{"traceEvents": []}])
refused("empty.sqlite", "`empty.sqlite` has no ranges `PP:`")
sqlite3.connect("other.sqlite").executescript("CREATE TABLE a(b)")
refused("other.sqlite", "`other.sqlite` has no NVTX ranges")
sqlite3.connect("old.sqlite").executescript("CREATE TABLE NVTX_EVENTS(begin INTEGER)")
refused("old.sqlite", "`old.sqlite` is not an SQLite export of Nsight Systems: no such column")
open("text.sqlite", "w").write("no database, but a text that is long enough to have a header" * 4)
refused("text.sqlite", "`text.sqlite` is not an SQLite export of Nsight Systems")
refused("missing.sqlite", "cannot read `missing.sqlite`")
