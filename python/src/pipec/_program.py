"""Where the compiler is, and running it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Sequence

from ._diagnostics import CompileError, Diagnostic, read_diagnostics


class ProgramNotFound(FileNotFoundError):
    """There is no compiler in the package, in $PIPEC or on the PATH."""


def program() -> str:
    """The path of the compiler: $PIPEC, else the one in this package, else
    `pipec` on the PATH. Raises ProgramNotFound."""
    if named := os.environ.get("PIPEC"):
        if found := shutil.which(named):
            return found
        raise ProgramNotFound(f"$PIPEC is {named!r}, which is not a program")
    inside = pathlib.Path(__file__).parent / "bin" / "pipec"
    if inside.is_file():
        return str(inside)
    if found := shutil.which("pipec"):
        return found
    raise ProgramNotFound("no compiler: install a wheel that holds it, set $PIPEC, or put `pipec` on the PATH")


def file_argument(path: str | os.PathLike[str]) -> str:
    """A file or a name of the library as an argument of the compiler: a file whose
    name looks like an option or a size is preceded by its folder."""
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") or "=" in text and not os.path.isabs(text) else text


def run(arguments: Sequence[str], text: str | None = None, *, findings: bool = False) -> tuple[str, list[Diagnostic]]:
    """Runs the compiler with `text` as its input. Returns what it writes and
    what it says; raises CompileError when it fails. With `findings` a failure
    that has an output is none: the output says what was found."""
    done = subprocess.run([program(), *arguments, "--diagnostics-format=json"], input=text,
                          stdin=None if text is not None else subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", errors="replace", check=False)
    diagnostics, rest = read_diagnostics(done.stderr)
    if findings and done.returncode == 2 and done.stdout:
        # What is wrong with the command line is among the findings.
        raise CompileError([*diagnostics, *map(Diagnostic.from_json, json.loads(done.stdout)["findings"])])
    if done.returncode != 0 and not (findings and done.returncode == 1 and done.stdout):
        if rest or not diagnostics:
            diagnostics.append(Diagnostic("", "error", rest or f"pipec ended with status {done.returncode}"))
        raise CompileError(diagnostics)
    return done.stdout, diagnostics


def main() -> None:
    """The command `pipec` of a wheel: becomes the compiler in the package."""
    inside = str(pathlib.Path(__file__).parent / "bin" / "pipec")
    os.execv(inside, ["pipec", *sys.argv[1:]])
