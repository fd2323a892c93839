"""`pipec derive`, `pipec diff` and `pipec explain` as functions, which return texts."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Sequence

from ._inputs import Cost, Input, Inputs, Profile, Sizes, counts, figures, options, size_argument, words
from ._program import run


class Text(str):
    """A text for people, which prompts and notebooks show as it is."""

    def __repr__(self) -> str:
        return str(self)


def _text(inputs: Inputs, command: Sequence[str]) -> Text:
    out = run(command, names=inputs.names)[0]
    for path, name in inputs.names.items():
        out = out.replace(path, name)
    return Text(out)


def _sizes(given: dict[str, Sizes]) -> list[str]:
    return [size_argument(name, values) for name, values in given.items()]


def derive(*schedules: Input, cost: Cost | None = None, profile: Profile | None = None, args: Sequence[str] = (),
           **grid: Sizes) -> Text:
    """Closed forms of the figures of programs as `expect` clauses (docs/Derive.md):
    what `pipec derive` prints. `grid` are the sizes, as for `check`. Raises
    CompileError."""
    with Inputs() as inputs:
        return _text(inputs, ["derive", *words(args), *inputs.costs(cost, profile), *map(inputs.schedule, schedules),
                              *_sizes(grid)])


def diff(first: Input, second: Input, *, model: str | None = None, cost: Cost | None = None,
         profile: Profile | None = None, args: Sequence[str] = (), **params: Sizes) -> Text:
    """How two schedules differ, and where (docs/Diff.md): what `pipec diff` prints.
    Raises CompileError."""
    with Inputs() as inputs:
        return _text(inputs, ["diff", *options(model=model), *words(args), *inputs.costs(cost, profile),
                              inputs.schedule(first, "the first"), inputs.schedule(second, "the second"), *_sizes(params)])


def explain(schedule: Input, *, rank: int | None = None, at: float | str | None = None, step: str | None = None,
            model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
            args: Sequence[str] = (), **params: Sizes) -> Text:
    """What a rank does at a time, or why a step starts no earlier: what
    `pipec explain` prints. Raises CompileError."""
    with Inputs() as inputs:
        return _text(inputs, ["explain", *counts(rank=rank), *figures(at=at), *options(step=step, model=model),
                              *words(args), *inputs.costs(cost, profile), inputs.schedule(schedule), *_sizes(params)])
