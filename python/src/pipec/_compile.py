"""`pipec` as a function."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
from typing import Sequence

from ._inputs import Cost, Inputs, Profile, integer, options, text, words
from ._program import file_argument, run
from ._schedule import Schedule


def compile(path_or_name: str | os.PathLike[str] | None = None, *, source: str | None = None, target: str | None = None,
            passes: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
            cost_profile: Profile | None = None, args: Sequence[str] = (), **params: int) -> Schedule:
    """Compiles a program (a `.pipe` file, or a name of the library), or reads
    step IR or a CSV. `source` is the text of a program in place of a file.

    `params` are the parameters of the program, by label or name: `ranks=4,
    microbatches=8`. Of a CSV, which has none, they are the numbers that it must
    have: `stages`, `microbatches`. `target` names a list of passes (`torch`,
    `torch-compute`, `torch-timed`, `hyperparallel`, `cpp`), `passes` is a list
    of passes; without both, the schedule has only the computes of the program.
    `cost` are the costs of steps (`{"F": 1, "B": 2}`), `profile` is a file of
    measured costs, or what its JSON holds; `cost_profile` is an older name of
    `profile`. `args` are further arguments of pipec (`--memory-limit=20`), which
    must not specify the output.

    Raises CompileError, which has the diagnostics; `file` of those on `source`
    is `<source>`.
    """
    if (path_or_name is None) == (source is None):
        raise TypeError("compile takes either a file or name, or source")
    if profile is not None and cost_profile is not None:
        raise TypeError("cost_profile is an older name of profile: only one can be given")
    path = "-" if path_or_name is None else file_argument(path_or_name)
    command = ["--emit=ir", "--output=-", *options(target=target, passes=passes)]
    for name, value in params.items():
        form = "--" if path.endswith((".csv", ".steps")) else "-D"
        command.append(f"{form}{name}={integer(value, f'parameter {name}')}")
    with Inputs() as inputs:
        command += inputs.costs(cost, cost_profile if profile is None else profile)
        if source is None:
            command += [*words(args), path]
        else:
            command += ["--input=pipe", *words(args), "-"]
        ir, diagnostics = run(command, None if source is None else text(source, "source"), names=inputs.names)
    return Schedule(ir, diagnostics)


def library() -> list[str]:
    """The names of the schedules of the library."""
    out, _ = run(["--list"])
    return [line.split()[0] for line in out.splitlines() if line and not line[0].isspace()]


def describe(path_or_name: str | os.PathLike[str]) -> str:
    """Parameters, constraints and source of a program, as text."""
    return run(["--describe", file_argument(path_or_name)])[0]
