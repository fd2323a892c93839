"""pipec: compiles pipeline-parallel training schedules.

    import pipec

    schedule = pipec.compile("zb1p", ranks=4, microbatches=8, target="torch")
    schedule.steps[0]       # rank 0's steps
    schedule.lint().safe    # {"stream": True, "pair": True, ...}
    schedule.csv            # what PyTorch loads

`pipec.torch` (imported when it is first used) makes PyTorch's runtime from a schedule.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib
from types import ModuleType

from ._compile import compile, describe, library
from ._diagnostics import CompileError, Diagnostic
from ._lint import LintResult
from ._lint import lint_file as lint
from ._program import ProgramNotFound, program
from ._schedule import Kind, Schedule, Step

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "Diagnostic",
    "Kind",
    "LintResult",
    "ProgramNotFound",
    "Schedule",
    "Step",
    "compile",
    "describe",
    "library",
    "lint",
    "program",
]


def __getattr__(name: str) -> ModuleType:
    """`pipec.torch`, which needs PyTorch, is imported when it is first used."""
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
