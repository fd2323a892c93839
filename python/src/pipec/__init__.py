"""pipec: compiles pipeline-parallel training schedules.

    import pipec

    schedule = pipec.compile("zb1p", ranks=4, microbatches=8, target="torch")
    schedule.steps[0]             # rank 0's steps
    schedule.makespan             # under the costs of the schedule
    schedule.report().peak        # and all other figures, also under other costs
    schedule.lint().safe          # {"stream": True, "pair": True, ...}
    schedule.csv                  # what PyTorch loads

`pipec.torch` makes PyTorch's runtime from a schedule, and `pipec.deepspeed` connects
pipec with DeepSpeed; such modules are imported when they are first used, and so is
NumPy.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib
import types as _types

from ._calibrate import Calibration, calibrate
from ._check import CheckResult, check
from ._compare import Comparison, compare
from ._compile import compile, describe, library
from ._diagnostics import CompileError, Diagnostic, Error, Fix, PackageNotFound
from ._inputs import CostProfile
from ._lint import LintResult
from ._lint import lint_file as lint
from ._order import Order, order
from ._pictures import render
from ._plan import Plan, plan
from ._program import ProgramNotFound, program
from ._report import Report
from ._schedule import Kind, Schedule, Step
from ._search import SearchResult, search
from ._texts import derive, diff, explain
from ._times import Times

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "CheckResult",
    "Comparison",
    "CompileError",
    "CostProfile",
    "Diagnostic",
    "Error",
    "Fix",
    "Kind",
    "LintResult",
    "Order",
    "PackageNotFound",
    "Plan",
    "ProgramNotFound",
    "Report",
    "Schedule",
    "SearchResult",
    "Step",
    "Times",
    "calibrate",
    "check",
    "compare",
    "compile",
    "derive",
    "describe",
    "diff",
    "explain",
    "library",
    "lint",
    "order",
    "plan",
    "program",
    "render",
    "search",
]


_FRAMEWORKS = ("d9d", "deepspeed", "jax", "megatron", "primus", "torch")


def __getattr__(name: str) -> _types.ModuleType:
    """The modules for frameworks are imported when they are first used."""
    if name in _FRAMEWORKS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
