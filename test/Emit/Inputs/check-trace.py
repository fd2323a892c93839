#!/usr/bin/env python3
"""Checks traces of --emit=trace.

    check-trace.py TRACE [IR]

The trace is what Perfetto reads (perfetto.py). Every rank is a process with a
thread of compute steps, which follow each other, and one of its phases; flows lead
forward in time from rank to rank; transfers lie on one track for each directed edge
and what it carries. With IR, every slice says of its step what the step IR says.
Prints how many events of each type there are, and the tracks of transfers.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

from perfetto import check, load


def members(args):
    """What a slice says that it is."""
    def what(args):
        place = [f"s{args['stage']}"] + ([f"m{args['microbatch']}"] if "microbatch" in args else [])
        return " ".join([args["kind"], *place])
    return " & ".join(map(what, args["members"])) if args["kind"] == "overlap" else what(args)


def read_ir(path):
    """The compute and posted steps and waits of each rank, and what it sends; the names of streams."""
    ranks, streams = [], []
    for line in open(path, encoding="utf-8"):
        line = re.sub(r"\s*(@\S+|//.*)?$", "", line.strip())
        if found := re.match(r'stream (?:"([^"]*)"|(\S+)) ', line):
            streams.append(found[1] or found[2])
        elif re.match(r"rank \d+ \{$", line):
            ranks.append(([], []))
        elif re.match(r"(overlap|[FBIWR]|UPDATE|UNSHARD|RESHARD|REDUCE_GRAD|OFFLOAD|RELOAD|WAIT_[A-Z_]+) ", line) and ranks:
            ranks[-1][0].append(line.removeprefix("overlap "))
        elif ranks:
            ranks[-1][1].extend(re.findall(r"\bSEND_[FB] s\d+ m\d+ -> r\d+", line))
    return ranks, streams


def main():
    trace = load(sys.argv[1])
    check("microseconds" in trace.document["otherData"]["time"], "the scale of time is not said")
    check(trace.processes == {pid: f"rank {pid - 1}" for pid in trace.processes}, f"processes: {trace.processes}")
    threads = {(trace.process_of[tid], name): tid for tid, name in trace.threads.items()}
    ranks, streams = read_ir(sys.argv[2]) if len(sys.argv) > 2 else ([], [])
    stepping = ["compute", "FSDP", "copies to the host", "copies from the host", *streams]
    check({name for _, name in threads} <= {*stepping, "phases"}, f"threads: {threads}")
    for tid, slices in trace.slices.items():
        for a, b in zip(slices, slices[1:]):
            check(b.begin >= a.end, f"slices of {trace.threads[tid]} overlap: {a} {b}")
    critical = 0
    for pid in trace.processes:
        phases = trace.slices[threads[pid, "phases"]] if (pid, "phases") in threads else []
        for step in [step for name in ["compute", *streams] for step in trace.slices[threads.get((pid, name), 0)]]:
            check(members(step.args) == step.name, f"{step.name} says that it is {step.args}")
            critical += step.args.get("critical", False)
            if "phase" in step.args and step in trace.slices[threads[pid, "compute"]]:
                around = [phase.name for phase in phases if phase.begin <= step.begin and step.end <= phase.end]
                check(step.args["phase"] in around, f"{step} is in no phase of {around}")
    check(critical, "no critical path")
    for (tid, a), (to, b), _ in trace.flows:
        check(trace.process_of[tid] != trace.process_of[to] and a.begin <= b.begin, f"a flow from {a} to {b}")
    for (pid, name), spans in trace.spans.items():
        edge = re.fullmatch(r"r(\d+) -> r(\d+) (activations|gradients)", name)
        check(edge and int(edge[1]) == pid - 1, f"a track of transfers: {name}")
        kind = "SEND_F" if edge[3] == "activations" else "SEND_B"
        check(all(span.args["kind"] == kind for span in spans), f"other transfers on {name}")
    for rank, (steps, sends) in enumerate(ranks):
        own = [step.name for name in stepping for step in trace.slices[threads.get((rank + 1, name), 0)]]
        check(sorted(own) == sorted(steps), f"rank {rank} has other steps")
        sent = [f"{members(span.args)} -> {name.split()[2]}" for (pid, name), spans in trace.spans.items()
                for span in spans if pid == rank + 1]
        check(sorted(sent) == sorted(sends), f"rank {rank} sends {sorted(sent)[:3]}, not {sorted(sends)[:3]}")
    print(" ".join(f"{kind}:{trace.counts[kind]}" for kind in "MXisfbeC" if trace.counts[kind]),
          f"tracks of transfers: {len(trace.spans)}")


main()
