"""What the compiler says, as objects."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message. What it does not have is None."""

    kind: str
    """Its name in docs/Diagnostics.md; empty for a text of no known form."""
    severity: str
    """`error`, `warning` or `note`."""
    message: str
    file: str | None = None
    line: int | None = None
    """Counted from 1, as is the column, which counts bytes."""
    column: int | None = None
    rank: int | None = None
    """The place of the step that the message names: its rank, and the steps of
    the rank (cells, for a CSV) before it."""
    position: int | None = None
    cell: str | None = None
    """The step itself, as step IR or the CSV has it."""
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagnostic:
        fields = {name: data[name] for name in ("kind", "severity", "message", "file", "line", "column",
                                                "rank", "position", "cell")}
        return cls(**fields, notes=tuple(cls.from_json(note) for note in data["notes"]))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file is not None else "pipec"
        return "\n".join([f"{place}: {self.severity}: {self.message}", *map(str, self.notes)])


class CompileError(Exception):
    """The compiler refused the input; `diagnostics` say where and why."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = tuple(diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that made the run fail."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.diagnostics,)


def read_diagnostics(text: str) -> tuple[list[Diagnostic], str]:
    """Reads JSON lines; returns what is not JSON as the text it is."""
    found, rest = [], []
    for line in text.splitlines():
        try:
            found.append(Diagnostic.from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            rest.append(line)
    return found, "\n".join(rest)
