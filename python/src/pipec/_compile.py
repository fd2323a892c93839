"""`pipec` as a function."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
from typing import Sequence

from ._program import run
from ._schedule import Schedule


def compile(path_or_name: str | os.PathLike[str], *, target: str | None = None, passes: str | None = None,
            args: Sequence[str] = (), **params: int) -> Schedule:
    """Compiles a program (a `.pipe` file, or a name of the library), or reads
    step IR or a CSV.

    `params` are the parameters of the program, by label or name: `ranks=4,
    microbatches=8`. Of a CSV, which has none, they are the numbers that it must
    have: `stages`, `microbatches`. `target` names a list of passes (`torch`,
    `torch-compute`, `torch-timed`, `hyperparallel`, `cpp`), `passes` is a list
    of one's own; without both the schedule is what the program says, computes
    alone. `args` are further arguments of pipec (`--cost=F=1,B=2`).

    Raises CompileError, which has the diagnostics.
    """
    path = os.fspath(path_or_name)
    command = [path, "--emit=ir", *args]
    for name, value in params.items():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"parameter {name} is {value!r}, not an integer")
        form = "--" if path.endswith((".csv", ".steps")) else "-D"
        command.append(f"{form}{name}={value.__index__()}")
    if target is not None:
        command.append(f"--target={target}")
    if passes is not None:
        command.append(f"--passes={passes}")
    ir, diagnostics = run(command)
    return Schedule(ir, diagnostics)


def library() -> list[str]:
    """The names of the schedules of the library."""
    out, _ = run(["--list"])
    return [line.split()[0] for line in out.splitlines() if line and not line[0].isspace()]


def describe(path_or_name: str | os.PathLike[str]) -> str:
    """Parameters, constraints and source of a program, as text."""
    return run(["--describe", os.fspath(path_or_name)])[0]
