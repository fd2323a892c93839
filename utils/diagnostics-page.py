#!/usr/bin/env python3
"""Makes docs/Diagnostics.md from the tables and the examples of diagnostics.

    diagnostics-page.py [--bin FOLDER] [ROOT]            writes the page
    diagnostics-page.py --check [--bin FOLDER] [--without KIND] [ROOT]
                                                         compares it

The kinds come from lib/Support/Diagnostics/*.def, in the order of
lib/Support/Diagnostics.def, the examples from test/Diagnostics/Inputs/*.example:

    kinds: UnknownName NoteDidYouMean
    $ pipec a.pipe
    --- a.pipe
    schedule ...

Commands are run in an empty folder that holds the files; the page shows files,
commands and what they print. The output must show every kind of the first line,
and the example is the one of the first kind. A kind without an example of its
own refers to one that shows it; one that no example shows is a mistake.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = """\
# Diagnostics

Every message of pipec and pipec-opt, by the phase that reports it. This page is made by `utils/diagnostics-page.py` from
the tables of the compiler; the outputs are those of the commands.

A message has a *kind*, which `--show-kinds` prints after it. An **error** makes the run fail: the exit status is 1, or 2
if the command line is wrong, and no output is written. A **warning** does not; its flag switches it off or makes it an
error ([CommandLine.md](CommandLine.md#warnings)). A **note** belongs to the error or warning before it; some kinds of
warnings are reported as notes of their own. In the text of a message, `{0}`, `{1}`, ... are its arguments.

`--diagnostics-format=json` prints one object per message, each on one line, with `kind`, `severity`, `message`, `rank`, `position`,
`cell`, `file`, `line`, `column`, `endLine`, `endColumn` and `notes`, themselves such objects; what a message does not
have is `null`.

A position is file, line and column, the column in bytes, both counted from 1. The end is that of the text that the
message points at, its column the one after the last byte; for a single position it is that position. Messages without
a position are about the run itself and begin with the name of the program. In text, control characters of names and
lines are shown as `?`.
"""

SHOWN = re.compile(r"^(.*\b(?:error|warning|note): .*) \[(\w+)\]$", re.M)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_tables(root):
    """Groups of kinds: [(title, [(name, severity, flag, format)])]."""
    master = (root / "lib/Support/Diagnostics.def").read_text(encoding="utf-8")
    groups = []
    for name in re.findall(r'^#include "Support/(Diagnostics/\w+\.def)"', master, re.M):
        text = (root / "lib/Support" / name).read_text(encoding="utf-8")
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        for match in re.finditer(r'PIPEC_(DIAG_GROUP|ERROR|USAGE_ERROR|WARNING|NOTE)\(((?:"(?:[^"\\]|\\.)*"|[^")])*)\)',
                                 text):
            strings = STRING.findall(match[2])
            if match[1] == "DIAG_GROUP":
                groups.append((strings[0], []))
                continue
            kind = match[2].split(",", 1)[0].strip()
            flag = strings.pop(0) if match[1] == "WARNING" else ""
            message = "".join(strings).replace("\\\\", "\\").replace('\\"', '"')
            groups[-1][1].append((kind, match[1].removeprefix("USAGE_").lower(), flag, message))
    return groups


class Example:
    def __init__(self, path):
        self.path = path
        head, *parts = re.split(r"^--- (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
        first, *rest = head.splitlines()
        self.kinds = first.removeprefix("kinds: ").split()
        self.commands = [line.removeprefix("$ ") for line in rest]
        self.files = list(zip(parts[::2], parts[1::2]))
        self.shown = set()
        self.output = []

    def run(self, bin_folder):
        # The folder may be a link, and messages show it as it was found.
        library = str(bin_folder.parent.resolve() / "share/pipec/schedules")
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder, "work")
            tools = pathlib.Path(folder, "bin")
            work.mkdir()
            tools.mkdir()
            for tool in ("pipec", "pipec-opt"):
                script = tools / tool
                script.write_text(f'#!/bin/sh\nexec "{bin_folder / tool}" "$@" --show-kinds\n')
                script.chmod(0o755)
            for name, text in self.files:
                (work / name).write_text(text, encoding="utf-8")
            environment = dict(os.environ, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")
            for command in self.commands:
                run = subprocess.run(["sh", "-c", command], cwd=work, env=environment, check=False,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
                text = run.stdout.decode("utf-8", "replace").replace(library, "PREFIX/share/pipec/schedules")
                self.shown |= {match[2] for match in SHOWN.finditer(text)}
                self.output.append((command, SHOWN.sub(r"\1", text).rstrip("\n")))
        return self

    def lines(self):
        for name, text in self.files:
            label = "pipe" if name.endswith(".pipe") else "json" if name.endswith(".json") else "text"
            if len(self.files) > 1:
                yield f"`{name}`:\n"
            yield f"```{label}\n{text.rstrip()}\n```\n"
        yield "```console"
        for command, output in self.output:
            yield f"$ {command}"
            if output:
                yield "\n".join(line.rstrip() for line in output.split("\n"))
        yield "```\n"


def code(text):
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def make_page(groups, examples):
    failures = []
    names = {kind for _, kinds in groups for kind, *_ in kinds}
    own, shown = {}, {}
    for example in examples:
        for kind in example.kinds:
            if kind not in names:
                failures.append(f"{example.path.name}: no diagnostic is called {kind}")
            elif kind not in example.shown:
                failures.append(f"{example.path.name}: the output does not show {kind}:\n" +
                                "\n".join(f"$ {c}\n{o}" for c, o in example.output))
        own[example.kinds[0]] = example
        for kind in sorted(example.shown):
            shown.setdefault(kind, example)

    lines = [HEADER]
    for title, kinds in groups:
        if kinds:
            lines.append(f"- [{title}](#{re.sub('[^a-z0-9 -]', '', title.lower()).replace(' ', '-')})")
    for title, kinds in groups:
        if not kinds:
            continue
        lines.append(f"\n## {title}\n")
        for kind, severity, flag, message in kinds:
            lines.append(f"### {kind}\n")
            what = f"Warning, `-W{flag}`" if flag else severity.capitalize()
            lines.append(f"{what}: {code(message)}\n")
            if kind in own:
                lines += own[kind].lines()
            elif kind in shown:
                other = shown[kind].kinds[0]
                lines.append(f"Shown with [{other}](#{other.lower()}).\n")
            else:
                failures.append(f"no example shows {kind}")
    return "\n".join(lines).rstrip() + "\n", failures


def main():
    parser = argparse.ArgumentParser(description="Makes docs/Diagnostics.md.")
    parser.add_argument("--check", action="store_true", help="compare the page, write nothing")
    parser.add_argument("--bin", type=pathlib.Path, default=None,
                        help="the folder of pipec and pipec-opt (default: ROOT/build/release/bin)")
    parser.add_argument("--without", action="append", default=[], metavar="KIND",
                        help="leave out this kind and its example")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    root = options.root.resolve()
    bin_folder = (options.bin or root / "build/release/bin").resolve()

    examples = [Example(path) for path in sorted((root / "test/Diagnostics/Inputs").glob("*.example"))
                if path.stem not in options.without]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda example: example.run(bin_folder), examples))
    groups = [(title, [kind for kind in kinds if kind[0] not in options.without])
              for title, kinds in read_tables(root)]
    page, failures = make_page(groups, examples)
    target = root / "docs/Diagnostics.md"
    if options.check:
        old = target.read_text(encoding="utf-8") if target.exists() else ""
        for kind in options.without:
            old = re.sub(rf"^### {kind}\n.*?\n(?=##)", "", old, flags=re.M | re.S)
        difference = list(difflib.unified_diff(old.splitlines(True), page.splitlines(True),
                                               "docs/Diagnostics.md", "now"))
        if difference:
            failures.append("the page is not up to date; utils/diagnostics-page.py makes it:\n" +
                            "".join(difference))
    else:
        target.write_text(page, encoding="utf-8")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{sum(len(kinds) for _, kinds in groups)} kinds, {len(examples)} examples, "
          f"{len(failures)} wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
