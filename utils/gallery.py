#!/usr/bin/env python3
"""Makes the gallery from the schedules of the library.

    gallery.py --out FOLDER [--bin FOLDER]      writes Gallery.md and gallery/*.svg
    gallery.py --pages FOLDER [--bin FOLDER]    writes the gallery as a web site
    gallery.py [--bin FOLDER] [ROOT]            writes the picture of README.md
    gallery.py --check [--bin FOLDER] [ROOT]    compares it

Every schedule that `pipec --list` names is drawn at its default sizes. README.md
shows the first picture, docs/gallery/one_f_one_b-p2p.svg. The web site has an
interactive page for each, and an index with the pictures; it needs no other files, and
can be published as it is.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import html
import pathlib
import subprocess
import sys

# The first picture, which is not of a schedule alone: name, heading, arguments.
FIRST = ("one_f_one_b-p2p", "1F1B with its transfers, uneven costs",
         ["one_f_one_b", "microbatches=6", "--passes=insert-p2p", "--cost=F=1,B=2,p2p=1/4"])

HEADER = """\
# Gallery

The schedules of the library as pipec draws them, each at the sizes of its program; every picture is the output of the
command below it. [Pictures](Pictures.md) says what the colours and numbers mean, [the library](Library.md) what the
schedules are.
"""


def pictures(pipec):
    """[name, heading, arguments] of everything on the page."""
    listed = subprocess.run([pipec, "--list"], capture_output=True, text=True, check=True).stdout
    rows = [FIRST]
    for line in listed.splitlines():
        name, summary = line.split(None, 1)
        rows.append((name, summary.rstrip("."), [name]))
    return rows


INDEX = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pipeline schedules, drawn by pipec</title>
<style>
:root { --page: #ffffff; --ink: #1f2937; --soft: #4b5563; --line: #d1d5db; --accent: #1d4e89; }
@media (prefers-color-scheme: dark) {
  :root { --page: #111827; --ink: #e5e7eb; --soft: #9ca3af; --line: #374151; --accent: #7db4ea; }
}
body {
  max-width: 1080px; margin: 0 auto; padding: 16px; background: var(--page); color: var(--ink);
  font: 15px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
h2 { margin: 32px 0 4px; font-size: 18px; }
a { color: var(--accent); }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
code { color: var(--soft); overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Pipeline schedules</h1>
<p>Each picture leads to a page on which you can zoom, follow a micro-batch, see why a rank is idle, and compare the
schedule with that of another page.</p>
"""


def output_of(pipec, command):
    run = subprocess.run([pipec, *command], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"gallery.py: pipec {' '.join(command)}:\n{run.stderr}")
    return run.stdout


def make_site(pipec, out):
    """Writes the gallery as a web site to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    index = [INDEX]
    for name, heading, arguments in pictures(pipec):
        (out / f"{name}.svg").write_text(output_of(pipec, [*arguments, "--emit=svg", "--width=1048"]))
        (out / f"{name}.html").write_text(output_of(pipec, [*arguments, "--emit=html", f"--title={heading}"]))
        heading = html.escape(heading)
        index.append(f'<h2>{heading}</h2>\n<p><a href="{name}.html"><img src="{name}.svg" alt="{heading}" loading="lazy"></a></p>\n'
                     f"<p><code>pipec {html.escape(' '.join(arguments))} --emit=html</code></p>\n")
    (out / "index.html").write_text("".join([*index, "</body>\n</html>\n"]))
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"{len(index) - 1} pages, {(size + 999) // 1000} kB, in {out}")


def make(pipec):
    """The files of the gallery, by their names below docs/."""
    files = {}
    page = [HEADER]
    for name, heading, arguments in pictures(pipec):
        command = [*arguments, "--emit=svg"]
        files[f"gallery/{name}.svg"] = output_of(pipec, command)
        page.append(f"\n## {heading}\n\n![{heading}](gallery/{name}.svg)\n\n"
                    f"    pipec {' '.join(command)}\n")
    files["Gallery.md"] = "".join(page)
    return files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--pages", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("root", nargs="?", default=".")
    options = parser.parse_args()
    pipec = pathlib.Path(options.bin) / "pipec"
    if options.pages:
        make_site(pipec, options.pages)
        return
    if options.out:
        files = make(pipec)
        (options.out / "gallery").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (options.out / name).write_text(text)
        print(f"{len(files) - 1} pictures")
        return
    name, _, arguments = FIRST
    path = pathlib.Path(options.root) / f"docs/gallery/{name}.svg"
    picture = output_of(pipec, [*arguments, "--emit=svg"])
    if not options.check:
        path.write_text(picture)
    elif not path.exists() or path.read_text() != picture:
        sys.exit(f"{path} differs from what pipec draws; run utils/gallery.py")
    else:
        print(f"{path} agrees")


main()
