"""Linting schedule objects of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import csv
import dataclasses
import os
import re
import tempfile
from typing import Any, Mapping

from torch.distributed.pipelining.schedules import PipelineScheduleSingle, Schedule1F1B, ScheduleGPipe

from .._diagnostics import CompileError, Diagnostic
from .._lint import LintResult, lint_file, lint_text


def lint(schedule: Any, *, require: str = "stream", grades: Mapping[str, str] | None = None) -> LintResult:
    """Lints a schedule object that one already has: its
    `pipeline_order_with_comms`, or `pipeline_order` when it was not lowered.
    `position` of a finding counts in the list of its rank, and `file` is the name
    of the object's class.

    ScheduleGPipe and Schedule1F1B hold no list that they run; what is linted is
    the order of their code. Raises TypeError for other classes without a list.
    """
    name = type(schedule).__name__
    if isinstance(schedule, PipelineScheduleSingle):
        found = lint_text(_imperative(schedule), require=require, grades=grades)
        return _renamed(found, name)
    order = getattr(schedule, "pipeline_order_with_comms", None) or getattr(schedule, "pipeline_order", None)
    if not order:
        raise TypeError(f"{name} holds no order of steps")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{name}.csv")
        with open(file, "w", encoding="ascii", newline="") as text:
            rows = csv.writer(text, lineterminator="\n")
            rows.writerows(["" if action is None else str(action) for action in order[rank]] for rank in sorted(order))
        sizes = (f"--stages={schedule._num_stages}", f"--microbatches={schedule._n_microbatches}")
        try:
            found = lint_file(file, require=require, grades=grades, args=sizes)
        except CompileError as error:
            raise CompileError([_at(finding, name) for finding in error.diagnostics]) from None
    return _renamed(found, name)


def _renamed(found: LintResult, name: str) -> LintResult:
    """The result without the file that was only written for lint."""
    reasons = {version: tuple(_at(reason, name) for reason in given) for version, given in found.pytorch_reasons.items()}
    return dataclasses.replace(found, findings=tuple(_at(finding, name) for finding in found.findings),
                               pytorch_reasons=reasons)


def _at(finding: Diagnostic, name: str) -> Diagnostic:
    """The finding without the file that was only written for lint."""
    return dataclasses.replace(finding, file=None if finding.file is None else name,
                               notes=tuple(_at(note, name) for note in finding.notes))


def _imperative(schedule: Any) -> str:
    """What a schedule without a list runs, as step IR: transfers that its code
    posts together are batches."""
    runs = getattr(type(schedule), "_step_microbatches", None)
    orders = {ScheduleGPipe._step_microbatches: _gpipe, Schedule1F1B._step_microbatches: _one_f_one_b}
    if runs not in orders:
        raise TypeError(f"{type(schedule).__name__} holds no order of steps, and its code is not known")
    stages, microbatches = schedule._num_stages, schedule._n_microbatches
    lines = ["pipec-steps 1",
             f"schedule @{type(schedule).__name__} {{ ranks {stages} stages {stages} microbatches {microbatches}",
             "map " + " ".join(map(str, range(stages)))]
    for stage in range(stages):
        lines += [f"rank {stage} {{", *orders[runs](stage, stages, microbatches), f"REDUCE_GRAD s{stage}",
                  f"WAIT_REDUCE_GRAD s{stage}", "}"]
    return "\n".join([*lines, "}", ""])


def _post(stage: int, stages: int, *transfers: tuple[str, int]) -> list[str]:
    """The line that posts transfers together; the ends of the pipeline have none."""
    found = []
    for kind, microbatch in transfers:
        peer = stage + (1 if kind in ("SEND_F", "RECV_B") else -1)
        if 0 <= peer < stages:
            found.append(f"{kind} s{stage} m{microbatch} {'->' if kind.startswith('SEND') else '<-'} r{peer}")
    return [("batch " if len(found) > 1 else "") + ", ".join(found)] if found else []


def _wait(lines: list[str], sent: list[str]) -> None:
    """Waits for sends, given as the lines that post them, and forgets them."""
    for line in sent:
        for kind in "SEND_F", "SEND_B":
            for stage, microbatch in re.findall(rf"{kind} (s\d+) (m\d+)", line):
                lines.append(f"WAIT_{kind} {stage} {microbatch}")
    sent.clear()


def _gpipe(stage: int, stages: int, microbatches: int) -> list[str]:
    lines: list[str] = []
    for kind in "F", "B":
        sent: list[str] = []
        for k in range(microbatches):
            lines += [*_post(stage, stages, (f"RECV_{kind}", k)), f"{kind} s{stage} m{k}"]
            sent += (posted := _post(stage, stages, (f"SEND_{kind}", k)))
            lines += posted
        _wait(lines, sent)
    return lines


def _one_f_one_b(stage: int, stages: int, microbatches: int) -> list[str]:
    lines: list[str] = []
    sent: list[str] = []

    def post(*transfers: tuple[str, int]) -> None:
        posted = _post(stage, stages, *transfers)
        lines.extend(posted)
        sent.extend(posted)

    forwards = min(microbatches, stages - stage)
    for k in range(forwards):
        post(("RECV_F", k))
        lines.append(f"F s{stage} m{k}")
        _wait(lines, sent)
        if k != forwards - 1:
            post(("SEND_F", k))
    for k in range(microbatches):
        # The last forward is sent while the first gradient of a round comes.
        post(*([("SEND_F", forwards - 1)] if forwards <= microbatches else []), ("RECV_B", k))
        if forwards <= microbatches:
            _wait(lines, sent)
        lines.append(f"B s{stage} m{k}")
        _wait(lines, sent)
        if forwards < microbatches:
            post(("SEND_B", k), ("RECV_F", forwards))
            _wait(lines, sent)
            lines.append(f"F s{stage} m{forwards}")
        else:
            post(("SEND_B", k))
        forwards += 1
    _wait(lines, sent)
    return lines
