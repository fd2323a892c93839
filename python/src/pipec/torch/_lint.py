"""Linting schedule objects of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any, Mapping

from .._diagnostics import CompileError, Diagnostic
from .._lint import LintResult, lint_file, lint_text
from ._order import order_of


def lint(schedule: Any, *, require: str = "stream", grades: Mapping[str, str] | None = None) -> LintResult:
    """Lints a schedule object that one already has, or a `pipeline_order`, as
    `from_torch` takes them. `position` of a finding counts in the list of its
    rank, and `file` is the name of the object's class.

    Raises TypeError for objects without a list.
    """
    order = order_of(schedule)
    name = order.name
    if not order.is_csv:
        return _renamed(lint_text(order.text, require=require, grades=grades), name)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{name}.csv")
        with open(file, "w", encoding="ascii", newline="") as text:
            text.write(order.text)
        try:
            found = lint_file(file, require=require, grades=grades, args=order.sizes)
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
