"""`pipec` as a function."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import decimal
import os
from typing import Mapping, Sequence, Union

from ._program import file_argument, run
from ._schedule import Schedule

Cost = Union[str, Mapping[str, Union[int, float, str]]]
"""Costs of steps: `"F=1,B=2"`, or `{"F": 1, "B": 2}`."""


def cost_arguments(cost: Cost | None, profile: str | os.PathLike[str] | None) -> list[str]:
    """The arguments of pipec for costs."""
    result = []
    if profile is not None:
        result.append(f"--cost-profile={os.fspath(profile)}")
    if cost is not None:
        text = cost if isinstance(cost, str) else ",".join(f"{name}={_number(name, cost[name])}" for name in cost)
        result.append(f"--cost={text}")
    return result


def _number(name: str, value: int | float | str) -> str:
    """A cost without an exponent, which pipec does not read."""
    if isinstance(value, float):
        return format(decimal.Decimal(repr(value)), "f")
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(f"cost {name} is {value!r}, not a number")
    return str(value)


def compile(path_or_name: str | os.PathLike[str], *, target: str | None = None, passes: str | None = None,
            cost: Cost | None = None, cost_profile: str | os.PathLike[str] | None = None,
            args: Sequence[str] = (), **params: int) -> Schedule:
    """Compiles a program (a `.pipe` file, or a name of the library), or reads
    step IR or a CSV.

    `params` are the parameters of the program, by label or name: `ranks=4,
    microbatches=8`. Of a CSV, which has none, they are the numbers that it must
    have: `stages`, `microbatches`. `target` names a list of passes (`torch`,
    `torch-compute`, `torch-timed`, `hyperparallel`, `cpp`), `passes` is a list
    of passes; without both, the schedule has only the computes of the program.
    `cost` are the costs of steps (`{"F": 1, "B": 2}`), `cost_profile` is a file
    with measured costs. `args` are further arguments of pipec
    (`--memory-limit=20`), which must not specify the output.

    Raises CompileError, which has the diagnostics.
    """
    path = os.fspath(path_or_name)
    command = ["--emit=ir", *cost_arguments(cost, cost_profile), *args]
    for name, value in params.items():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"parameter {name} is {value!r}, not an integer")
        form = "--" if path.endswith((".csv", ".steps")) else "-D"
        command.append(f"{form}{name}={value.__index__()}")
    if target is not None:
        command.append(f"--target={target}")
    if passes is not None:
        command.append(f"--passes={passes}")
    ir, diagnostics = run([*command, file_argument(path)])
    return Schedule(ir, diagnostics)


def library() -> list[str]:
    """The names of the schedules of the library."""
    out, _ = run(["--list"])
    return [line.split()[0] for line in out.splitlines() if line and not line[0].isspace()]


def describe(path_or_name: str | os.PathLike[str]) -> str:
    """Parameters, constraints and source of a program, as text."""
    return run(["--describe", file_argument(path_or_name)])[0]
