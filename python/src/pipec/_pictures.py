"""Pictures as PDF and PNG, which CairoSVG makes of those that pipec draws."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Sequence

from ._diagnostics import PackageNotFound
from ._files import write_bytes
from ._inputs import Cost, Figure, Input, Inputs, Profile, counts, figure_text, figures, options, words
from ._packages import cairosvg
from ._program import path_text, program, run

FORMATS = ("pdf", "png", "svg")
"""What `render` writes."""


def render(schedule: Input, path: str | os.PathLike[str] | None = None, *, format: str | None = None,
           width: int | None = None, scale: Figure | None = None, title: str | None = None, memory: str | None = None,
           window: str | tuple[Figure, Figure] | None = None, model: str | None = None, cost: Cost | None = None,
           profile: Profile | None = None, args: Sequence[str] = ()) -> bytes:
    """A picture of a schedule over time (docs/Pictures.md) as PDF, PNG or SVG. With
    `path` it is also written to a file, as a whole or not at all.

    `schedule` is a Schedule, a file, or a name of the library. `format` is by
    default the extension of `path`. `width` is the maximum width in pixels, `scale`
    a factor for everything, `title` the title, `memory` `"panel"`, `"heat"` or
    `"none"`, `window` a range of time (`"0:20"` or `(0, 20)`), `model` the communication model.
    `cost` and `profile` are those of `compile`, and `args` further arguments of
    pipec.

    Raises CompileError; ValueError for another format; and PackageNotFound for PDF
    and PNG without CairoSVG, `pip install cairosvg`.
    """
    if format is None:
        if path is None:
            raise TypeError("render takes a path or a format")
        format = _extension(path_text(path, "path"))
    if format not in FORMATS:
        raise ValueError(f"{format!r} is not a format of pictures: {', '.join(FORMATS)}")
    if isinstance(window, (tuple, list)):
        if len(window) != 2:
            raise ValueError(f"window is {window!r}, not two times")
        window = ":".join(figure_text(time, "a time of window") for time in window)
    given = [*counts(width=width), *figures(scale=scale), *options(title=title, memory=memory, window=window, model=model)]
    with Inputs() as inputs:
        command = ["--emit=svg", "--output=-", *given, *inputs.costs(cost, profile), *words(args), inputs.schedule(schedule)]
        picture = converted(run(command, names=inputs.names)[0], format)
    if path is not None:
        write_bytes(path, picture)
    return picture


def converted(svg: str, format: str) -> bytes:
    """An SVG in a format of FORMATS."""
    text = svg.encode()
    if format == "svg":
        return text
    package = cairosvg(f"a picture as {format.upper()}")
    result: bytes = package.svg2pdf(bytestring=text) if format == "pdf" else package.svg2png(bytestring=text)
    return result


def requested(arguments: Sequence[str]) -> tuple[str, str | None, list[str]] | None:
    """The format, the output file and the other arguments of a command line that asks
    for a PDF or PNG, by `--emit` or by the name of the output; None for others, and
    for one with two of these options, which the compiler refuses."""
    emits: list[str] = []
    outputs: list[str] = []
    rest: list[str] = []
    at = iter(arguments)
    for argument in at:
        if argument == "--":
            rest += [argument, *at]
        elif found := re.fullmatch(r"--?emit(?:=(.*))?", argument, re.S):
            emits.append(next(at, "") if found[1] is None else found[1])
        elif found := re.fullmatch(r"(?:-o|--?output)(?:=(.*))?|-o(.+)", argument, re.S):
            value = found[2] if found[1] is None else found[1]
            outputs.append(next(at, "") if value is None else value)
        else:
            rest.append(argument)
    output = outputs[0] if outputs else None
    kind = emits[0] if emits else _extension(output or "")
    return (kind, output, rest) if kind in ("pdf", "png") and max(len(emits), len(outputs)) < 2 else None


def _extension(path: str) -> str:
    """In lower case and without the dot."""
    return os.path.splitext(path)[1].removeprefix(".").lower()


def main(arguments: Sequence[str]) -> int:
    """pipec with `--emit=pdf` and `--emit=png`. Returns the exit status; for other
    outputs the process becomes the compiler."""
    request = requested(arguments)
    if request is None:
        os.execv(program(), ["pipec", *arguments])
    format, output, rest = request
    to_stdout = output is None or output == "-"
    if to_stdout and sys.stdout.isatty():
        print(f"pipec: error: a {format.upper()} is not written to a terminal; -o FILE.{format} names a file", file=sys.stderr)
        return 2
    if (named := _extension(output or "")) in FORMATS and named != format:
        print(f"pipec: error: `--emit={format}` into `{output}`, whose name is that of {named}", file=sys.stderr)
        return 2
    end = rest.index("--") if "--" in rest else len(rest)
    # After the other arguments: the first of them may be a command.
    done = subprocess.run([program(), *rest[:end], "--emit=svg", *rest[end:]], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode != 0:
        return done.returncode
    try:
        picture = converted(done.stdout, format)
        if output is None or output == "-":
            sys.stdout.buffer.write(picture)
            sys.stdout.buffer.flush()
        else:
            write_bytes(output, picture)
    except PackageNotFound as error:
        print(f"pipec: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"pipec: error: cannot write `{output or '-'}`: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    return 0
