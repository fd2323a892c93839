"""What Perfetto's importer of Chrome's JSON makes of a trace.

`load(path)` reads a trace as the trace processor does (google/perfetto,
src/trace_processor/importers/json): events in the order of their times, equal ones
in the order of the file; a stack of open slices for each thread; flows bound to
the slice on top of it. It stops the test at what the importer drops, counts as an
error, or shows in another place than it belongs: threads of equal numbers in two
processes, number 0, flows whose identifier is not a number, asynchronous events
outside of their process.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import json
import sys

Slice = collections.namedtuple("Slice", "begin end name category args")


def check(holds, what):
    if not holds:
        sys.exit(f"{sys.argv[0]}: {what}")


def nanoseconds(microseconds):
    check(isinstance(microseconds, (int, float)) and not isinstance(microseconds, bool), f"no time: {microseconds!r}")
    return round(microseconds * 1000)


def is_number(value):
    """An unsigned integer, as a number or as a string of hexadecimal digits."""
    if isinstance(value, str):
        try:
            return 0 <= int(value, 16) < 2 ** 64
        except ValueError:
            return False
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2 ** 64


class Trace:
    def __init__(self, document):
        check(document["displayTimeUnit"] in ("ms", "ns"), "no such unit to display")
        self.document = document
        self.processes = {}                                # names by pid
        self.threads = {}                                  # names by tid
        self.process_of = {}                               # pid by tid
        self.slices = collections.defaultdict(list)        # by tid, in the order of time
        self.spans = collections.defaultdict(list)         # asynchronous slices by (pid, name)
        self.counters = collections.defaultdict(list)      # by (pid, name)
        self.flows = []                                    # ((tid, slice), (tid, slice), name)
        self.counts = collections.Counter(event["ph"] for event in document["traceEvents"])
        self.stacks, self.begun, self.pending = collections.defaultdict(list), {}, {}
        for event in sorted(document["traceEvents"], key=lambda event: nanoseconds(event.get("ts", 0))):
            self.add(event)
        check(not self.pending, f"{len(self.pending)} asynchronous events do not end")
        check(not self.begun, f"{len(self.begun)} flows do not end")
        check(set(self.process_of.values()) == set(self.processes), "a process without a name")
        for tid in self.slices:
            check(tid in self.threads, f"the thread {tid} has no name")

    def add(self, event):
        kind, name = event["ph"], event["name"]
        pid, tid = event["pid"], event["tid"]
        for number in (pid, tid):
            check(isinstance(number, int) and number > 0, f"{number} is the idle process or thread: {event}")
        check(self.process_of.setdefault(tid, pid) == pid, f"the thread {tid} is in two processes")
        check(isinstance(name, str) and name, f"no name: {event}")
        if kind == "M":
            table, key = {"process_name": (self.processes, pid), "thread_name": (self.threads, tid)}.get(name, ({}, 0))
            check(key not in table, f"a second name: {event}")
            table[key] = event["args"].get("name")
            return
        time = nanoseconds(event["ts"])
        check(time >= 0, f"a time below 0: {event}")
        if kind == "X":
            self.begin(tid, Slice(time, time + nanoseconds(event["dur"]), name, event["cat"], event["args"]))
        elif kind == "i":
            check(event["s"] == "t", f"an instant of no thread: {event}")
            self.begin(tid, Slice(time, time, name, event["cat"], event["args"]))
        elif kind in "sf":
            self.flow(event, tid)
        elif kind in "be":
            self.span(event, pid, time)
        elif kind == "C":
            for key, value in event["args"].items():
                check(isinstance(value, (int, float)) and not isinstance(value, bool), f"no value: {event}")
                self.counters[pid, f"{name} {key}"].append((time, value))
        else:
            check(False, f"an event that nothing reads: {event}")

    def begin(self, tid, new):
        check(new.end >= new.begin, f"a duration below 0: {new}")
        stack = self.stacks[tid]
        while stack and stack[-1].end <= new.begin and stack[-1] is not new:
            stack.pop()
        check(not stack or new.end <= stack[-1].end, f"dropped, for it overlaps {stack and stack[-1]}: {new}")
        stack.append(new)
        self.slices[tid].append(new)

    def flow(self, event, tid):
        check(is_number(event.get("id")), f"a flow without a number: {event}")
        check(self.stacks[tid], f"a flow outside of a slice: {event}")
        key = event["cat"], event["name"], event["id"]
        here = tid, self.stacks[tid][-1]
        time = nanoseconds(event["ts"])
        check(here[1].begin <= time <= here[1].end, f"a flow bound to a slice that has ended: {event}")
        if event["ph"] == "s":
            check(key not in self.begun, f"a flow begins twice: {event}")
            self.begun[key] = here
        else:
            check(event.get("bp") == "e", f"bound to the next slice: {event}")
            check(key in self.begun, f"a flow ends that has not begun: {event}")
            self.flows.append((self.begun.pop(key), here, event["name"]))

    def span(self, event, pid, time):
        check("id" not in event and set(event["id2"]) == {"local"}, f"not of its process alone: {event}")
        key = pid, event["cat"], event["name"], event["id2"]["local"]
        check(isinstance(key[3], str) and key[3], f"no identifier: {event}")
        if event["ph"] == "b":
            check(key not in self.pending, f"begins twice: {event}")
            self.pending[key] = time, event["args"]
        else:
            check(key in self.pending, f"ends, and has not begun: {event}")
            begin, args = self.pending.pop(key)
            self.spans[pid, event["name"]].append(Slice(begin, time, event["name"], event["cat"], args))


def load(path):
    with open(path, encoding="utf-8") as file:
        return Trace(json.load(file))
