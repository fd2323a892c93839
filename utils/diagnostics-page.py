#!/usr/bin/env python3
"""Makes the pages of diagnostics from their tables and examples: Diagnostics.md, and
Diagnostics/PHASE.md for each phase.

    diagnostics-page.py [--bin FOLDER] [--out FOLDER] [--explain] [--lenient]
                        [--without KIND] [ROOT]

Without --out the examples are only checked. The build writes the pages to
share/pipec/diagnostics, where `pipec --explain` reads them.

The kinds come from lib/Support/Diagnostics/*.def, in the order of
lib/Support/Diagnostics.def, one page per table, the examples from
test/Diagnostics/Inputs/*.example:

    kinds: UnknownName NoteDidYouMean
    What the message means, and how to mend the program, in Markdown; optional.
    $ pipec a.pipe
    --- a.pipe
    schedule ...

Commands are run in an empty folder that contains the files; the page shows
files, commands and their output. The output must show every kind of the first
line, and the example is that of the first kind. A kind without an example of
its own refers to one that shows it; one that no example shows is a mistake.

With --explain, `pipec --explain KIND` must print the section of every kind. The status
is 1 if an example is wrong or missing, and with --lenient 0.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = """\
# Diagnostics

[Messages.md](Messages.md) explains how to read a message. The pages below have a section for every kind, by the phase
that reports it; `pipec --explain KIND` prints this section. The outputs are those of the commands.

"""

SHOWN = re.compile(r"^(.*\b(?:error|warning|note): .*) \[(\w+)\]((?: \[-W[\w=-]+\])?)$", re.M)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Phase:
    """One table: its name, its title, and its groups: [(title, [(kind, severity, flag, format)])]."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.name = path.stem
        title = re.match(r"//===-+ \S+ - (.*?)[ -]*(?:\*- C\+\+ -\*-*)?===//", text)
        self.title = title[1] if title else self.name
        self.groups = []
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        for match in re.finditer(r'PIPEC_(DIAG_GROUP|ERROR|USAGE_ERROR|WARNING|NOTE)\(((?:"(?:[^"\\]|\\.)*"|[^")])*)\)',
                                 text):
            strings = STRING.findall(match[2])
            if match[1] == "DIAG_GROUP":
                self.groups.append((strings[0], []))
                continue
            kind = match[2].split(",", 1)[0].strip()
            flag = strings.pop(0) if match[1] == "WARNING" else ""
            message = "".join(strings).replace("\\\\", "\\").replace('\\"', '"')
            self.groups[-1][1].append((kind, match[1].removeprefix("USAGE_").lower(), flag, message))

    def kinds(self):
        return [kind for _, kinds in self.groups for kind in kinds]


def read_tables(root, without):
    """The phases, without the kinds that are left out."""
    master = (root / "lib/Support/Diagnostics.def").read_text(encoding="utf-8")
    phases = [Phase(root / "lib/Support" / name)
              for name in re.findall(r'^#include "Support/(Diagnostics/\w+\.def)"', master, re.M)]
    for phase in phases:
        phase.groups = [(title, [kind for kind in kinds if kind[0] not in without]) for title, kinds in phase.groups]
    return phases


class Example:
    def __init__(self, path):
        self.path = path
        head, *parts = re.split(r"^--- (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
        first, *rest = head.splitlines()
        self.kinds = first.removeprefix("kinds: ").split()
        self.commands = [line.removeprefix("$ ") for line in rest if line.startswith("$ ")]
        self.meaning = "\n".join(line for line in rest if not line.startswith("$ ")).strip()
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
                self.output.append((command, SHOWN.sub(r"\1\3", text).rstrip("\n")))
        return self

    def lines(self):
        if self.meaning:
            yield f"{self.meaning}\n"
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


def anchor(title):
    return re.sub("[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def find_examples(phases, examples):
    """The example of each kind that has one, and one that shows it for each that is shown; and what is wrong."""
    failures = []
    names = {kind for phase in phases for kind, *_ in phase.kinds()}
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
    failures += [f"no example shows {kind}" for kind in sorted(names) if kind not in own and kind not in shown]
    return own, shown, failures


def phase_page(phase, page_of, own, shown):
    lines = [f"# Diagnostics: {phase.title}\n",
             "<!-- Made by utils/diagnostics-page.py. -->\n",
             "[Messages.md](../Messages.md) explains how to read a message."]
    groups = [(title, kinds) for title, kinds in phase.groups if kinds]
    if len(groups) > 1:
        lines[-1] += "\n"
        lines += [f"- [{title}](#{anchor(title)})" for title, _ in groups]
    for title, kinds in groups:
        lines.append(f"\n## {title}\n")
        for kind, severity, flag, message in kinds:
            lines.append(f"### {kind}\n")
            what = f"Warning, `-W{flag}`" if flag else severity.capitalize()
            lines.append(f"{what}: {code(message)}\n")
            if kind in own:
                lines += own[kind].lines()
            elif kind in shown:
                other = shown[kind].kinds[0]
                page = "" if page_of[other] == phase.name else page_of[other] + ".md"
                lines.append(f"Shown with [{other}]({page}#{other.lower()}).\n")
    return "\n".join(lines).rstrip() + "\n"


def index_page(phases):
    lines = [HEADER + "## Pages\n", "| page | reports |", "| --- | --- |"]
    for phase in phases:
        groups = [title for title, kinds in phase.groups if kinds]
        lines.append(f"| [{phase.name}](Diagnostics/{phase.name}.md) | {'; '.join(groups)} |")
    flags = {}
    for phase in phases:
        for kind, _, flag, _ in phase.kinds():
            if flag:
                flags.setdefault(flag, []).append((kind, phase.name))
    if flags:
        lines += ["\n## Flags\n", "`-Wno-NAME` switches off all kinds of a flag, `-Werror=NAME` makes them errors.\n",
                  "| flag | kinds |", "| --- | --- |"]
        lines += [f"| `-W{flag}` | {', '.join(f'[{kind}](Diagnostics/{page}.md#{kind.lower()})' for kind, page in kinds)} |"
                  for flag, kinds in sorted(flags.items())]
    lines += ["\n## Kinds\n", "| kind | severity | page |", "| --- | --- | --- |"]
    lines += [f"| [{kind}](Diagnostics/{page}.md#{kind.lower()}) | {severity} | [{page}](Diagnostics/{page}.md) |"
              for kind, severity, page in sorted((kind, severity, phase.name)
                                                 for phase in phases for kind, severity, *_ in phase.kinds())]
    return "\n".join(lines).rstrip() + "\n"


def make_pages(phases, own, shown):
    page_of = {kind: phase.name for phase in phases for kind, *_ in phase.kinds()}
    pages = {"Diagnostics.md": index_page(phases)}
    for phase in phases:
        pages[f"Diagnostics/{phase.name}.md"] = phase_page(phase, page_of, own, shown)
    return pages


def sections(page):
    """The sections of the kinds of a page, by kind."""
    parts = re.split(r"^### (\w+)\n", page, flags=re.M)[1:]
    return {kind: re.split(r"^## ", text, flags=re.M)[0].strip() for kind, text in zip(parts[::2], parts[1::2])}


def check_explain(pages, bin_folder):
    """Yields the kinds of which `pipec --explain` prints something else than their sections."""
    known = {kind: text for page in pages.values() for kind, text in sections(page).items()}
    for kind, text in known.items():
        run = subprocess.run([bin_folder / "pipec", "--explain", kind], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=100)
        wanted = f"### {kind}\n\n{text}\n"
        if other := re.search(r"^Shown with \[(\w+)\]", text, re.M):
            wanted += f"\n### {other[1]}\n\n{known[other[1]]}\n"
        printed = run.stdout.decode("utf-8", "replace")
        if run.returncode or printed != wanted:
            yield f"pipec --explain {kind} prints another text than the page:\n{printed}"


def main():
    parser = argparse.ArgumentParser(description="Makes the pages of diagnostics.")
    parser.add_argument("--bin", type=pathlib.Path, default=None,
                        help="the folder of pipec and pipec-opt (default: ROOT/build/release/bin)")
    parser.add_argument("--out", type=pathlib.Path, help="write the pages to this folder")
    parser.add_argument("--explain", action="store_true", help="compare what --explain prints with the pages")
    parser.add_argument("--lenient", action="store_true", help="report wrong examples without failing")
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
    phases = read_tables(root, options.without)
    own, shown, failures = find_examples(phases, examples)
    pages = make_pages(phases, own, shown)
    if options.out:
        (options.out / "Diagnostics").mkdir(parents=True, exist_ok=True)
        for name, page in pages.items():
            (options.out / name).write_text(page, encoding="utf-8")
    if options.explain:
        failures += check_explain(pages, bin_folder)
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{sum(len(phase.kinds()) for phase in phases)} kinds, {len(examples)} examples, {len(failures)} wrong")
    sys.exit(1 if failures and not options.lenient else 0)


if __name__ == "__main__":
    main()
