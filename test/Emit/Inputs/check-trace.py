#!/usr/bin/env python3
"""Checks traces of --emit=trace against the rules of the Trace Event Format.

    check-trace.py TRACE

Every event has what its type asks for; the slices of a track nest or follow
each other; a flow begins once and ends once, later, each time inside a slice;
what begins as asynchronous ends. Prints how many events of each type there are.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import json
import sys


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check(holds, what):
    if not holds:
        sys.exit(f"check-trace.py: {what}")


def main():
    trace = json.load(open(sys.argv[1], encoding="utf-8"))
    check(trace["displayTimeUnit"] in ("ms", "ns"), "no such unit to display")
    check("microseconds" in trace["otherData"]["time"], "the scale of time is not said")
    slices, flows, pending = collections.defaultdict(list), collections.defaultdict(dict), {}
    counts, names = collections.Counter(), {}
    for event in trace["traceEvents"]:
        counts[event["ph"]] += 1
        check(number(event["ts"]) and event["ts"] >= 0, f"no time: {event}")
        check(isinstance(event["pid"], int) and isinstance(event["tid"], int), f"no track: {event}")
        check(isinstance(event["name"], str) and event["name"], f"no name: {event}")
        track = event["pid"], event["tid"]
        if event["ph"] == "M":
            names[event["name"], track] = event["args"]
        elif event["ph"] == "X":
            check(number(event["dur"]) and event["dur"] >= 0, f"no duration: {event}")
            slices[track].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] in "sf":
            check(event["ph"] == "s" or event["bp"] == "e", f"not bound to its slice: {event}")
            key = event["cat"], event["name"], event["id"]
            check(event["ph"] not in flows[key], f"a flow does it twice: {event}")
            flows[key][event["ph"]] = track, event["ts"]
        elif event["ph"] in "be":
            key = event["cat"], event["id"]
            if event["ph"] == "b":
                check(key not in pending, f"begins twice: {event}")
                pending[key] = event
            else:
                begin = pending.pop(key, None)
                check(begin and begin["name"] == event["name"] and begin["ts"] <= event["ts"], f"no begin: {event}")
        elif event["ph"] == "C":
            check(event["args"] and all(number(value) for value in event["args"].values()), f"no value: {event}")
        else:
            check(False, f"an unknown type: {event}")
    check(not pending, f"{len(pending)} do not end")
    for track, found in slices.items():
        check(("thread_name", track) in names, f"the track {track} has no name")
        found.sort()
        for a, b in zip(found, found[1:]):
            check(b[0] >= a[1] - 1e-6, f"slices of {track} overlap: {a} {b}")
    for key, ends in flows.items():
        check(set(ends) == {"s", "f"}, f"the flow {key} has no other end")
        check(ends["s"][1] <= ends["f"][1], f"the flow {key} goes back in time")
        for track, time in ends.values():
            check(any(a <= time <= b for a, b in slices[track]), f"the flow {key} is in no slice")
    print(" ".join(f"{kind}:{counts[kind]}" for kind in "MXsfbeC" if counts[kind]))


main()
