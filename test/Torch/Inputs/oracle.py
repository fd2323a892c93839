"""PyTorch's own reading and lowering of schedules, as plain lists of cells.

A schedule is a list of rows, one per rank; a row is a list of cells as they are
in a CSV (`2F0`, `1SEND_B3`, `(0F7;7B3)OVERLAP_F_B`, `` for an idle slot).
Nothing here decides what is right: everything comes from torch.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv
import os
import re
import subprocess
import sys
import tempfile
import types

import torch
from torch.distributed.pipelining import schedules as torch_schedules

Action = torch_schedules._Action

#: Whether this PyTorch wants a wait for each send and each reduction.
WAITS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 15)
#: pipec's targets for this PyTorch: its own order of transfers, and that of time.
TARGET = "torch" if WAITS else "torch-2.13"
TIMED = f"{TARGET}-timed"


# ---------------------------------------------------------------- cells

def read(path):
    with open(path, newline="") as file:
        return [list(row) for row in csv.reader(file)]


def parse(text):
    return [list(row) for row in csv.reader(text.splitlines())]


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def members(cell):
    """The single actions of a cell, as (stage, kind, micro-batch or None)."""
    action = Action.from_str(cell)
    if action is None:
        return []
    parts = action.sub_actions if action.sub_actions is not None else (action,)
    return [(a.stage_index, a.computation_type.value, a.microbatch_index) for a in parts]


def sizes(rows):
    """Ranks, stages and micro-batches of a schedule."""
    actions = [a for row in rows for cell in row for a in members(cell)]
    return (len(rows), 1 + max(a[0] for a in actions),
            1 + max(a[2] for a in actions if a[2] is not None))


def stage_map(rows):
    """The rank of each stage."""
    return {a[0]: rank for rank, row in enumerate(rows) for cell in row for a in members(cell)}


# ---------------------------------------------------------------- torch's runtime

def stub(ranks, stages):
    """What the runtime asks of a stage to load and lower a schedule."""
    return types.SimpleNamespace(num_stages=stages, group_size=ranks, group_rank=0, submod=None,
                                 has_backward=True)


def stubs(ranks, stages):
    return [stub(ranks, stages) for _ in range(stages // ranks)]


def runtime(rows_or_path, format="compute_only", size=None, **options):
    """torch's runtime with the schedule loaded; raises what torch raises."""
    if isinstance(rows_or_path, list):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "schedule.csv")
            write(path, rows_or_path)
            return runtime(path, format, size, **options)
    ranks, stages, microbatches = size or sizes(read(rows_or_path))
    schedule = torch_schedules._PipelineScheduleRuntime([stub(ranks, stages)], microbatches, **options)
    schedule._load_csv(rows_or_path, format=format)
    return schedule


def cells(order):
    """Rows of torch's {rank: actions}."""
    return [["" if a is None else str(a) for a in order[rank]] for rank in sorted(order)]


def lowered(rows_or_path, **options):
    """torch's whole lowering of a compute-only schedule, as torch dumps it."""
    schedule = runtime(rows_or_path, "compute_only", **options)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lowered.csv")
        schedule._dump_csv(path, "compute_comms")
        return read(path)


def add_send_recv(rows):
    """torch's transfers for a schedule that has none."""
    _, stages, _ = sizes(rows)
    where = stage_map(rows)
    actions = {rank: [Action.from_str(cell) for cell in row] for rank, row in enumerate(rows)}
    return cells(torch_schedules._add_send_recv(actions, lambda stage: where[stage], stages))


def builtin(name, ranks, chunks, microbatches):
    """One of torch's own schedules: (compute order, lowered order), or the
    message with which torch refuses the size."""
    try:
        schedule = torch_schedules.get_schedule_class(name)(
            stubs(ranks, ranks * chunks), microbatches, loss_fn=None)
    except (ValueError, AssertionError, RuntimeError) as error:
        return str(error)
    return cells(schedule.pipeline_order), cells(schedule.pipeline_order_with_comms)


# ---------------------------------------------------------------- comparison

def normal(rows):
    """Rows without idle slots, with adjacent RESHARDs in ascending order: torch
    keeps them in a set and its order says nothing."""
    result = []
    for row in rows:
        out, run = [], []
        for cell in [c for c in row if c] + [None]:
            if cell is not None and cell.endswith("RESHARD") and not cell.endswith("UNSHARD"):
                run.append(cell)
                continue
            out += sorted(run, key=lambda c: int(re.match(r"\d+", c)[0]))
            run = []
            if cell is not None:
                out.append(cell)
        result.append(out)
    return result


def difference(ours, theirs):
    """Where two schedules part, as text; None when they are equal."""
    if len(ours) != len(theirs):
        return f"{len(ours)} ranks against {len(theirs)}"
    for rank, (a, b) in enumerate(zip(ours, theirs)):
        for place in range(max(len(a), len(b))):
            x = a[place] if place < len(a) else "(end)"
            y = b[place] if place < len(b) else "(end)"
            if x != y:
                return f"rank {rank}, cell {place}: {x} against torch's {y}"
    return None


# ---------------------------------------------------------------- pipec

def run(*command, input=None):
    """Runs a program; returns (status, output, messages)."""
    done = subprocess.run([str(word) for word in command], input=input, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def pipec(*arguments):
    """The rows that `pipec ... --emit=csv` writes; raises on failure."""
    status, out, err = run("pipec", *arguments, "--emit=csv", "-o", "-")
    if status:
        raise RuntimeError(f"pipec {' '.join(map(str, arguments))}: {err}")
    return parse(out)


class Report:
    """Counts comparisons; ends the test with what differed."""

    def __init__(self):
        self.checked = 0
        self.wrong = []

    def check(self, name, problem):
        self.checked += 1
        if problem:
            self.wrong.append(f"{name}: {problem}")

    def finish(self, at_least):
        for line in self.wrong[:20]:
            print(line)
        print(f"{self.checked} compared, {len(self.wrong)} differ")
        if self.wrong or self.checked < at_least:
            sys.exit(f"expected at least {at_least} comparisons and no difference")
