"""Traces of Nsight Systems for `pipec calibrate`.

    nsys export --type=sqlite rank0.nsys-rep
    python3 -m pipec.nsys rank0.sqlite -o rank0.json.gz --rank=0

A report of one rank, whose job ran with the ranges of PyTorch's pipelining
(`torch.autograd.profiler.emit_nvtx`) and was traced with `--trace=nvtx,cuda`.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import sqlite3
import sys
from typing import Any, Iterator, Sequence

from ._files import write_bytes

__all__ = ["trace"]

# Tables of an export, which has only those with rows, and the categories of their
# events in traces of PyTorch.
_ON_DEVICE = {"KERNEL": "kernel", "MEMCPY": "gpu_memcpy", "MEMSET": "gpu_memset"}
_PUSH_POP, _START_END = 59, 60
"""The types of NVTX events that are ranges."""


def trace(report: str | os.PathLike[str], rank: int | None = None) -> dict[str, Any]:
    """The spans of the steps and the kernels in an SQLite export of Nsight Systems, as a
    trace of PyTorch, which `pipec calibrate` and `pipec explain --against` read. `rank`
    is the pipeline rank of the process.

    Raises ValueError for other files, and for an export without ranges of
    steps or with those of several processes."""
    if not os.path.exists(report):
        raise ValueError(f"cannot read `{os.fspath(report)}`: no such file or directory")
    with contextlib.closing(sqlite3.connect(f"file:{os.path.abspath(report)}?mode=ro", uri=True)) as data:
        try:
            return _trace(data, os.fspath(report), rank)
        except sqlite3.Error as error:
            raise ValueError(f"`{os.fspath(report)}` is not an SQLite export of Nsight Systems: {error}") from None


def _trace(data: sqlite3.Connection, report: str, rank: int | None) -> dict[str, Any]:
    tables = {name for name, in data.execute("SELECT name FROM sqlite_master")}
    if "NVTX_EVENTS" not in tables:
        raise ValueError(f"`{report}` has no NVTX ranges; trace with --trace=nvtx,cuda")
    names = "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))" if "StringIds" in tables else "text"
    events, processes = [], set()
    for start, end, thread, name in data.execute(
            f"SELECT start, end, globalTid, {names} FROM NVTX_EVENTS "
            f"WHERE eventType IN ({_PUSH_POP}, {_START_END}) AND end IS NOT NULL ORDER BY start, end DESC"):
        if name and name.startswith(("PP:", "PPWAIT:")):
            # emit_nvtx adds numbers of operators: `PP:0F1, op_id = 7`.
            events.append(_event("user_annotation", name.split(", ")[0], start, end, thread))
            processes.add(thread >> 24)
    if not events:
        raise ValueError(f"`{report}` has no ranges `PP:`; run the steps in torch.autograd.profiler.emit_nvtx()")
    if len(processes) > 1:
        raise ValueError(f"`{report}` has the steps of {len(processes)} processes; make a report for each rank")
    events += _kernels(data, tables, processes.pop())
    result: dict[str, Any] = {"traceEvents": events}
    if "TARGET_INFO_SESSION_START_TIME" in tables:
        result["baseTimeNanoseconds"], = data.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()
    if "TARGET_INFO_SYSTEM_ENV" in tables:
        for host, in data.execute("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'"):
            result["host_name"] = host
    if rank is not None:
        result["distributedInfo"] = {"rank": rank}
    return result


def _kernels(data: sqlite3.Connection, tables: set[str], process: int) -> Iterator[dict[str, Any]]:
    """What the process ran on its device, with the calls that launched it."""
    if "CUPTI_ACTIVITY_KIND_RUNTIME" not in tables:
        return
    for start, end, thread, correlation in data.execute(
            "SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid >> 24 = ?", (process,)):
        yield _event("cuda_runtime", "launch", start, end, thread, correlation)
    for kind, category in _ON_DEVICE.items():
        if (table := f"CUPTI_ACTIVITY_KIND_{kind}") in tables:
            for start, end, stream, correlation in data.execute(
                    f"SELECT start, end, streamId, correlationId FROM {table} WHERE globalPid >> 24 = ?", (process,)):
                yield _event(category, kind.lower(), start, end, stream, correlation)


def _event(category: str, name: str, start: int, end: int, thread: int, correlation: int | None = None) -> dict[str, Any]:
    event = {"ph": "X", "cat": category, "name": name, "ts": start / 1000, "dur": (end - start) / 1000, "pid": 0, "tid": thread}
    return event if correlation is None else {**event, "args": {"correlation": correlation}}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="pipec.nsys", description="Makes a trace for pipec calibrate of an export of Nsight Systems.")
    parser.add_argument("report", metavar="FILE.sqlite", help="what `nsys export --type=sqlite` writes")
    parser.add_argument("-o", dest="output", metavar="FILE", required=True, help="the trace, compressed if its name ends in .gz")
    parser.add_argument("--rank", type=int, metavar="N", help="the pipeline rank (default: the place of the trace on the command line)")
    options = parser.parse_args(arguments)
    try:
        text = json.dumps(trace(options.report, options.rank)).encode()
        write_bytes(options.output, gzip.compress(text, mtime=0) if options.output.endswith(".gz") else text)
    except (OSError, ValueError) as error:
        sys.exit(f"pipec.nsys: error: {error}")


if __name__ == "__main__":
    main()
