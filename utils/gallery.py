#!/usr/bin/env python3
"""Makes docs/Gallery.md and its pictures from the schedules of the library.

    gallery.py [--bin FOLDER] [ROOT]            writes the page and docs/gallery/
    gallery.py --check [--bin FOLDER] [ROOT]    compares them

Every schedule that `pipec --list` names is drawn at its default sizes. README.md
shows docs/gallery/one_f_one_b-p2p.svg, the first one.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import subprocess
import sys

# The first picture, which is not of a schedule alone: name, heading, arguments.
FIRST = ("one_f_one_b-p2p", "1F1B with its transfers, uneven costs",
         ["one_f_one_b", "--passes=insert-p2p", "--cost=F=1,B=2,p2p=1/4"])

HEADER = """\
# Gallery

The schedules of the library as pipec draws them, each at the sizes of its program; every picture is the output of the
command below it. [Pictures](Pictures.md) says what the colours and numbers mean, [the library](Library.md) what the
schedules are. The page is made by `utils/gallery.py`.
"""


def pictures(pipec):
    """[name, heading, arguments] of everything on the page."""
    listed = subprocess.run([pipec, "--list"], capture_output=True, text=True, check=True).stdout
    rows = [FIRST]
    for line in listed.splitlines():
        name, summary = line.split(None, 1)
        rows.append((name, summary.rstrip("."), [name]))
    return rows


def make(pipec):
    """The files of the gallery, by their names below docs/."""
    files = {}
    page = [HEADER]
    for name, heading, arguments in pictures(pipec):
        command = [*arguments, "--emit=svg"]
        run = subprocess.run([pipec, *command], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"gallery.py: pipec {' '.join(command)}:\n{run.stderr}")
        files[f"gallery/{name}.svg"] = run.stdout
        page.append(f"\n## {heading}\n\n![{heading}](gallery/{name}.svg)\n\n"
                    f"    pipec {' '.join(command)}\n")
    files["Gallery.md"] = "".join(page)
    return files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("root", nargs="?", default=".")
    options = parser.parse_args()
    root = pathlib.Path(options.root)
    docs = root / "docs"
    files = make(pathlib.Path(options.bin) / "pipec")
    there = {f"gallery/{path.name}" for path in (docs / "gallery").glob("*")}
    stale = sorted(there - set(files))
    if options.check:
        stale += [name for name, text in files.items()
                  if not (docs / name).exists() or (docs / name).read_text() != text]
        if stale:
            sys.exit(f"docs/ differs from what pipec draws: {', '.join(stale)}; run utils/gallery.py")
        print(f"{len(files) - 1} pictures agree")
        return
    (docs / "gallery").mkdir(exist_ok=True)
    for name in stale:
        (docs / name).unlink()
    for name, text in files.items():
        (docs / name).write_text(text)


main()
