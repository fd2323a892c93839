"""`pipec` as a function."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
from typing import Sequence

from ._diagnostics import Diagnostic
from ._inputs import Cost, Inputs, Profile, integer, options, text, words
from ._program import file_argument, run
from ._schedule import Schedule


def compile(path_or_name: str | os.PathLike[str] | None = None, *, source: str | None = None, target: str | None = None,
            passes: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
            slices: int | None = None, args: Sequence[str] = (), **params: int) -> Schedule:
    """Compiles a program (a `.pipe` file, or a name of the library), or reads
    step IR or a CSV. `source` is the text of a program in place of a file.

    `params` are the parameters of the program, by label or name: `ranks=4,
    microbatches=8`. Of lists of steps, which have none, they are the sizes that
    these must have: `ranks`, `stages`, `microbatches`. `target` names a list of
    passes (docs/Passes.md), `passes` is a list of passes; without both, the
    schedule has only the compute steps of the program. `cost` are the costs of
    steps (`{"F": 1, "B": 2}`), `profile` is a file of measured costs, or the
    contents of one. `slices` cuts each micro-batch of a program, or of a CSV, into as
    many slices along its sequence. `args` are further arguments of pipec (`--memory-limit=20`),
    which must not specify the output.

    Raises CompileError, which has the diagnostics; `file` of those on `source`
    is `<source>`.
    """
    return Schedule(*compiled("ir", path_or_name, source=source, target=target, passes=passes, cost=cost, profile=profile,
                              slices=slices, args=args, **params))


def compiled(kind: str, path_or_name: str | os.PathLike[str] | None, *, source: str | None, target: str | None,
             passes: str | None, cost: Cost | None, profile: Profile | None, slices: int | None = None,
             args: Sequence[str] = (), **params: int) -> tuple[str, list[Diagnostic]]:
    """The same in another form (`--emit=KIND`), and the diagnostics."""
    if (path_or_name is None) == (source is None):
        raise TypeError("compile takes either a file or name, or source")
    path = "-" if path_or_name is None else file_argument(path_or_name)
    command = [f"--emit={kind}", "--output=-", *options(target=target, passes=passes)]
    if slices is not None:
        command.append(f"--slices={integer(slices, 'slices')}")
    for name, value in params.items():
        command.append(f"-D{name}={integer(value, f'parameter {name}')}")
    with Inputs() as inputs:
        command += inputs.costs(cost, profile)
        if source is None:
            command += [*words(args), path]
        else:
            command += ["--input=pipe", *words(args), "-"]
        return run(command, None if source is None else text(source, "source"), names=inputs.names)


def library() -> list[str]:
    """The names of the schedules of the library."""
    out, _ = run(["--list"])
    return [line.split()[0] for line in out.splitlines() if line and not line[0].isspace()]


def describe(path_or_name: str | os.PathLike[str]) -> str:
    """Parameters, constraints and source of a program, as text."""
    return run(["--describe", file_argument(path_or_name)])[0]
