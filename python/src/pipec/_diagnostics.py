"""The messages of the compiler as objects."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import json
from typing import Any, Iterable, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Fix:
    """An edit that corrects what a message reports: `text` replaces the part of the
    file from a line and column to another. Columns count bytes from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    applicability: str = "safe"
    """`safe`, or `unsafe` if something else may be meant."""


@dataclasses.dataclass(frozen=True, repr=False)
class Diagnostic:
    """One message. What it does not have is None."""

    kind: str
    """Its kind (docs/Messages.md); empty for a text of no known form."""
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
    end_line: int | None = None
    """The end of the text that the message points at; the column is the one after
    its last byte."""
    end_column: int | None = None
    excerpt: str | None = None
    """The line of the source, and below it a mark."""
    fixes: tuple[Fix, ...] = ()
    """The edits that together correct it, or that a note proposes."""
    flag: str | None = None
    """The name that switches the kind off, as in `-Wno-FLAG`."""
    ranks: tuple[int, ...] = ()
    """The ranks of a finding that one statement of a program has on several."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagnostic:
        fields = {name: data[name] for name in ("kind", "severity", "message", "file", "line", "column",
                                                "rank", "position", "cell", "excerpt")}
        fixes = (Fix(fix["file"], fix["line"], fix["column"], fix["endLine"], fix["endColumn"], fix["text"],
                     fix["applicability"])
                 for fix in data["fixes"])
        return cls(**fields, notes=tuple(cls.from_json(note) for note in data["notes"]),
                   end_line=data["endLine"], end_column=data["endColumn"], fixes=tuple(fixes),
                   flag=data["flag"], ranks=tuple(data["ranks"] or ()))

    def __repr__(self) -> str:
        return f"<pipec.Diagnostic {self._head()}>"

    def _head(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file is not None else "pipec"
        return f"{place}: {self.severity}: {self.message}"

    def __str__(self) -> str:
        excerpt = [] if self.excerpt is None else [self.excerpt.rstrip("\n")]
        return "\n".join([self._head(), *excerpt, *map(str, self.notes)])


def renamed(diagnostics: Iterable[Diagnostic], names: Mapping[str, str]) -> list[Diagnostic]:
    """The diagnostics with other names for files, also in messages; `names` has the
    new ones by the old."""
    if not names:
        return list(diagnostics)

    def text(message: str) -> str:
        for old, new in names.items():
            message = message.replace(old, new)
        return message

    return [dataclasses.replace(
        found, message=text(found.message), file=None if found.file is None else names.get(found.file, found.file), notes=tuple(renamed(found.notes, names)),
        fixes=tuple(dataclasses.replace(fix, file=names.get(fix.file, fix.file)) for fix in found.fixes))
        for found in diagnostics]


class Error(Exception):
    """What the package raises for bad input and missing programs."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """The messages of the compiler, if it ran."""


class PackageNotFound(Error, ImportError):
    """A Python package that a function needs is not installed; `name` is its name."""


class CompileError(Error):
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
