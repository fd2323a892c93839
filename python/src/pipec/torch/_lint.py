"""Linting schedule objects of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Mapping

from .._files import write_text
from .._inputs import Inputs
from .._lint import LintResult, lint_argument
from .._program import STDIN
from ._order import order_of


def lint(schedule: Any, *, require: str = "stream", grades: Mapping[str, str] | None = None) -> LintResult:
    """Lints a schedule object that one already has, or a `pipeline_order`, as
    `from_torch` takes them. `position` of a finding counts in the list of its
    rank, and `file` is the name of the object's class.

    Raises TypeError for objects without a list.
    """
    order = order_of(schedule)
    with Inputs() as inputs:
        if not order.is_csv:
            return lint_argument((), "-", order.text, require, grades or {}, {STDIN: order.name})
        file = inputs.path(f"{order.name}.csv")
        inputs.names[file] = order.name
        write_text(file, order.text)
        return lint_argument(order.sizes, file, None, require, grades or {}, inputs.names)
