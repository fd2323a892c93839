"""pipec: compiles pipeline-parallel training schedules.

    import pipec

    schedule = pipec.compile("zb1p", ranks=4, microbatches=8, target="torch")
    schedule.steps[0]       # rank 0's steps
    schedule.lint().safe    # {"stream": True, "pair": True, ...}
    schedule.csv            # what PyTorch loads

`pipec.torch` (imported on demand) makes PyTorch's runtime from a schedule.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
