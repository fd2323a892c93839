"""`pipec lint` as a function."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping, Sequence

from ._data import counted
from ._diagnostics import CompileError, Diagnostic, renamed
from ._inputs import Input, Inputs, words
from ._program import SOURCE, STDIN, run


@dataclasses.dataclass(frozen=True, repr=False)
class LintResult:
    """What is wrong with a schedule, and where it can run."""

    findings: tuple[Diagnostic, ...]
    """By kind in docs/Lint.md; a note of a finding says what PyTorch does."""
    safe: Mapping[str, bool]
    """By communication model (`stream`, `pair`, `edge`, `buffered`): every rank
    finishes, and no transfers are unmatched or crossed."""
    pytorch: Mapping[str, bool]
    """By version of PyTorch (`2.13`, which is for 2.6 to 2.14, and `2.15`): it
    loads the CSV of the schedule in the format that fits, and trains correctly."""
    pytorch_reasons: Mapping[str, tuple[Diagnostic, ...]]
    """The reasons against each of these versions; none for one that is right."""
    blocking: bool
    """Whether it is safe where ranks wait at receives (the model `blocking`)."""
    frameworks: Mapping[str, bool] = dataclasses.field(default_factory=dict)
    """With `--for`: whether this framework runs it, and trains correctly with it."""
    framework_reasons: Mapping[str, tuple[Diagnostic, ...]] = dataclasses.field(default_factory=dict)
    absent_ranks: tuple[int, ...] = ()
    """With `--ranks-present`: the ranks whose lists the file does not have, and how
    many transfers there are with them."""
    unjudged_transfers: int = 0
    communicators: int | None = None
    """With transfers: how many communicators are enough; None if it needs buffers."""
    buffers: int | None = None
    """The smallest number of buffers per directed edge."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def __bool__(self) -> bool:
        """True when no finding is an error."""
        return not self.errors

    def __repr__(self) -> str:
        models = [model for model, safe in self.safe.items() if safe]
        return (f"<pipec.LintResult: {counted(len(self.errors), 'error')} in {counted(len(self.findings), 'finding')}, "
                f"safe under {', '.join(models) or 'no model'}>")

    def __str__(self) -> str:
        models = [model for model, safe in self.safe.items() if safe]
        judged = [*((f"PyTorch {version}", good, self.pytorch_reasons[version]) for version, good in self.pytorch.items()),
                  *((name, good, self.framework_reasons[name]) for name, good in self.frameworks.items())]
        verdicts = [f"{name}: " + ("yes" if good else f"no: {reasons[0].message}") for name, good, reasons in judged]
        return "\n".join([*map(str, self.findings), f"safe under: {' '.join(models) or 'no model'}", *verdicts])


def lint_argument(arguments: Sequence[str], path: str, text: str | None, require: str, grades: Mapping[str, str],
                  names: Mapping[str, str]) -> LintResult:
    """Lints what `path` names for the compiler, or with `text` this standard input.
    `names` are what findings call temporary files."""
    command = ["lint", "--format=json", f"--require={require}", *arguments]
    command += [f"--grade={rule}={grade}" for rule, grade in grades.items()]
    command.append(path)
    out, diagnostics = run(command, text, findings=True, names=names)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise CompileError(diagnostics)
    data = json.loads(out)

    def read(findings: Sequence[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
        return tuple(renamed(map(Diagnostic.from_json, findings), names))

    def reasons(name: str) -> dict[str, tuple[Diagnostic, ...]]:
        return {version: read(found) for version, found in data.get(name, {}).items()}

    return LintResult(read(data["findings"]), data["safe"], data["pytorch"], reasons("pytorch_reasons"), data["blocking"],
                      data.get("frameworks", {}), reasons("framework_reasons"), tuple(data["absent_ranks"]),
                      data["unjudged_transfers"], data["communicators"], data["buffers"])


def lint_file(schedule: Input, *, require: str = "stream", grades: Mapping[str, str] | None = None,
              args: Sequence[str] = ()) -> LintResult:
    """Lints a file (a CSV of PyTorch's, step IR or a program), a name of the library,
    or a Schedule.

    What does not end under the model `require` is an error; `grades` sets the
    severities of rules (docs/Lint.md). `args` are further arguments of
    `pipec lint`. What is wrong with a file that cannot be read are its findings,
    and it is safe under no model and correct for no version of PyTorch. Raises CompileError for wrong options.
    """
    with Inputs() as inputs:
        return lint_argument(words(args), inputs.schedule(schedule), None, require, grades or {}, inputs.names)


def lint_text(text: str, *, require: str = "stream", grades: Mapping[str, str] | None = None,
              args: Sequence[str] = ()) -> LintResult:
    """Lints step IR."""
    return lint_argument(words(args), "-", text, require, grades or {}, {STDIN: SOURCE})
