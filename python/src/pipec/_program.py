"""Where the compiler is, and running it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from typing import Mapping, NoReturn, Sequence

from ._diagnostics import CompileError, Diagnostic, Error, read_diagnostics, renamed

STDIN = "<stdin>"
SOURCE = "<source>"
"""What the compiler and the package call the input that is given as text."""


class ProgramNotFound(Error, FileNotFoundError):
    """There is no compiler in the package, in $PIPEC or on the PATH."""


def program() -> str:
    """The path of the compiler: $PIPEC, else the one in this package, else
    `pipec` on the PATH. Raises ProgramNotFound."""
    if named := os.environ.get("PIPEC"):
        if found := shutil.which(named):
            return found
        raise ProgramNotFound(f"$PIPEC is {named!r}, which is not a program")
    if os.path.isfile(inside := _inside("pipec")):
        return inside
    if found := shutil.which("pipec"):
        return found
    raise ProgramNotFound("no compiler: install a wheel that holds it, set $PIPEC, or put `pipec` on the PATH")


def path_text(path: object, what: str, of: str = "the name of a file") -> str:
    """The text of a path; raises TypeError with `what` for what is not a path."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{what} is {path!r}, not {of}")
    return text


def file_argument(path: object, what: str = "the input", of: str = "a file or a name of the library") -> str:
    """A file or a name of the library as an argument of the compiler: a file whose
    name looks like an option or a size is preceded by its folder. Raises TypeError
    for what is not a path."""
    text = path_text(path, what, of)
    return os.path.join(os.curdir, text) if text.startswith("-") or "=" in text and not os.path.isabs(text) else text


_running: dict[threading.Thread, subprocess.Popen[str]] = {}
"""The compilers that run, by the threads that wait for them."""


def interrupt(thread: threading.Thread) -> None:
    """Ends the work of the compiler that another thread runs early, as a
    KeyboardInterrupt ends that of its own thread: a search then has its best result so
    far. Without effect if the thread runs none."""
    if process := _running.get(thread):
        process.send_signal(signal.SIGINT)


def run(arguments: Sequence[str], text: str | None = None, *, findings: bool = False,
        interruptible: bool = False, names: Mapping[str, str] | None = None) -> tuple[str, list[Diagnostic]]:
    """Runs the compiler with `text` as its input. Returns its output and its
    diagnostics; raises CompileError when it fails. With `findings`, status 1 with an
    output is not a failure, since the output has the findings. With
    `interruptible` a KeyboardInterrupt ends the work of the compiler early; if it
    has no result by then, the interrupt is raised. `names` are what messages call
    temporary files."""
    process = subprocess.Popen([program(), *arguments, "--diagnostics-format=json"],
                               stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                               start_new_session=interruptible)
    _running[threading.current_thread()] = process
    with process:
        try:
            out, err = process.communicate(text)
        except KeyboardInterrupt:
            if not interruptible:
                _kill(process)
                raise
            # Its session is another one, so that a terminal does not interrupt it, too.
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate()
            except BaseException:
                _kill(process)
                raise
            if process.returncode != 0:
                raise
        except BaseException:
            _kill(process)
            raise
        finally:
            del _running[threading.current_thread()]
    diagnostics, rest = read_diagnostics(err)
    diagnostics = renamed(diagnostics, {**({} if text is None else {STDIN: SOURCE}), **(names or {})})
    failed = process.returncode != 0
    if failed and findings and out:
        if process.returncode == 1:
            failed = False
        else:  # What is wrong with the command line is among the findings of `lint`.
            diagnostics += map(Diagnostic.from_json, json.loads(out).get("findings", ()))
    if failed:
        if rest or not diagnostics:
            diagnostics.append(Diagnostic("", "error", rest or f"pipec ended with status {process.returncode}"))
        raise CompileError(diagnostics)
    return out, diagnostics


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    # `Popen.__exit__` does not wait long after a KeyboardInterrupt.
    process.wait()


def main() -> None:
    """The command `pipec` of a wheel: becomes the compiler in the package, or makes
    pictures that the compiler alone does not make."""
    inside = _inside("pipec")
    if any(argument.lower().endswith(("pdf", "png")) for argument in sys.argv):
        from ._pictures import main as draw

        os.environ["PIPEC"] = inside
        sys.exit(draw(sys.argv[1:]))
    _become("pipec")


def run_lsp() -> None:
    """The command `pipec-lsp` of a wheel: becomes the language server in the package."""
    _become("pipec-lsp")


def run_opt() -> None:
    """The command `pipec-opt` of a wheel: becomes that program in the package."""
    _become("pipec-opt")


def _inside(name: str) -> str:
    """The path of a program of the package."""
    return str(pathlib.Path(__file__).parent / "bin" / name)


def _become(name: str) -> NoReturn:
    try:
        os.execv(_inside(name), [name, *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"{name}: the package was built without this program")
