#!/usr/bin/env python3
"""Makes the gallery from the schedules of the library.

    gallery.py --out FOLDER [--bin FOLDER] [ROOT]    writes the gallery of utils/site.py
    gallery.py --pages FOLDER [--bin FOLDER] [ROOT]  writes the gallery as a web site of its own
    gallery.py [--bin FOLDER] [ROOT]                 writes the picture of README.md
    gallery.py --check [--bin FOLDER] [ROOT]         compares it

Every schedule that `pipec --list` names is drawn at its default sizes, after a few with
transfers, copies, FSDP actions and a graph of stages. README.md shows the first picture,
docs/gallery/one_f_one_b-p2p.svg. The gallery of the documentation has pictures, a page with
the program and the figures of each, and their interactive pages. The web site of its own has
the interactive pages and an index with the pictures; it needs no other files.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import html
import json
import pathlib
import re
import shlex
import subprocess
import sys

# The first pictures, which are not of a schedule of the library alone: name, heading, arguments.
# That of README.md is the first.
FIRST = [
    ("one_f_one_b-p2p", "1F1B with its transfers, uneven costs",
     ["one_f_one_b", "microbatches=6", "--passes=insert-p2p", "--cost=F=1,B=2,p2p=1/4"]),
    ("one_f_one_b-offload", "1F1B with copies of activations to the host",
     ["one_f_one_b", "--passes=inject-offload{limit=3}", "--cost=offload=1/2,reload=1/2"]),
    ("interleaved-fsdp", "interleaved 1F1B with the actions of FSDP",
     ["interleaved", "ranks=2", "microbatches=4", "--passes=inject-fsdp", "--cost=unshard=1/2,reduce_grad=1/2"]),
    ("unet", "a U-Net, whose stages feed several others", ["examples/schedules/unet.pipe"]),
]


def pictures(pipec):
    """[name, heading, arguments] of everything on the page."""
    listed = subprocess.run([pipec, "--list"], capture_output=True, text=True, check=True).stdout
    rows = list(FIRST)
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


def output_of(pipec, root, command):
    run = subprocess.run([pipec, *command], capture_output=True, text=True, cwd=root)
    if run.returncode:
        sys.exit(f"gallery.py: pipec {' '.join(command)}:\n{run.stderr}")
    return run.stdout


def make_site(pipec, root, out):
    """Writes the gallery as a web site to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    index = [INDEX]
    for name, heading, arguments in pictures(pipec):
        (out / f"{name}.svg").write_text(output_of(pipec, root, [*arguments, "--emit=svg", "--width=1048"]))
        (out / f"{name}.html").write_text(output_of(pipec, root, [*arguments, "--emit=html", f"--title={heading}"]))
        heading = html.escape(heading)
        index.append(f'<h2>{heading}</h2>\n<p><a href="{name}.html"><img src="{name}.svg" alt="{heading}" loading="lazy"></a></p>\n'
                     f"<p><code>pipec {html.escape(' '.join(arguments))} --emit=html</code></p>\n")
    (out / "index.html").write_text("".join([*index, "</body>\n</html>\n"]))
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"{len(index) - 1} pages, {(size + 999) // 1000} kB, in {out}")


def program_of(root, arguments):
    """The text of the program that a picture shows, without the line of its license."""
    path = root / (arguments[0] if arguments[0].endswith(".pipe") else f"schedules/{arguments[0]}.pipe")
    return re.sub(r"^// SPDX-.*\n+", "", path.read_text(encoding="utf-8")).rstrip()


def cell(text):
    return str(text).replace("|", "\\|")


def table(header, rows):
    return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in (header, ["---"] * len(header), *rows)) + "\n"


def titles(heading):
    """The title and the description of a picture: `GPipe: all forwards first. (alias)`."""
    title, _, description = re.sub(r"\. \([^()]*\)$", "", heading).partition(": ")
    return title[0].upper() + title[1:], description[:1].upper() + description[1:] + "." * bool(description)


def page_of(name, heading, arguments, program, report):
    """The page of a picture. `report` is what --emit=report has as JSON."""
    command = shlex.join(arguments)
    # `ranks p = 4`: what the program calls a parameter.
    roles = {letter: role for role, letter in re.findall(r"(\w+) (\w+) = ", program)}
    parameters = table(["parameter", "in the program", "value"],
                       [[roles.get(letter, letter), f"`{letter}`", value] for letter, value in report["params"].items()])
    title, description = titles(heading)
    bubble = report.get("bubble_makespan_exact")
    figures = table(["makespan", "bubble", "peak of a rank", "ranks", "stages", "micro-batches", "costs"],
                    [[report["makespan"], f"{report['bubble_makespan']:.1%}" + (f" ({bubble})" if bubble else ""),
                      report["peak"], report["num_ranks"], report["num_stages"], report["num_microbatches"],
                      report["costs"]]])
    return f"""\
---
hide: [toc]
---
# {title}

{description}

<div class="wide" markdown>
[![{title}]({name}.svg)]({name}.page.html)
</div>

[Interactive page]({name}.page.html){{ .md-button .md-button--primary }}

{figures}
The bubble is the idle part of the makespan. [Figures](../Figures.md) defines these and more;
`pipec {command} --emit=report` prints them for each rank.

## Parameters

{parameters}
## Command

```sh
pipec {command} -o {name}.svg     # this picture
pipec {command} -o {name}.html    # the interactive page
```

[Pictures](../Pictures.md) says what the colours and numbers mean; the [first page](../../README.md) has all schedules.

## Program

```pipe
{program}
```
"""


def make(pipec, root):
    """The files of the gallery, by their names below docs/, and the pictures as a list of links from the root."""
    files, cards = {}, []
    for name, heading, arguments in pictures(pipec):
        report = json.loads(output_of(pipec, root, [*arguments, "--emit=report", "--format=json"]))
        files[f"gallery/{name}.svg"] = output_of(pipec, root, [*arguments, "--emit=svg"])
        files[f"gallery/{name}.page.html"] = output_of(pipec, root, [*arguments, "--emit=html", f"--title={heading}"])
        files[f"gallery/{name}.md"] = page_of(name, heading, arguments, program_of(root, arguments), report)
        # Small, without what the card says in larger letters.
        files[f"gallery/{name}-small.svg"] = output_of(pipec, root, [*arguments, "--emit=svg", "--width=400", "--title=", "--memory=none"])
        page, (title, description) = f"docs/gallery/{name}.md", titles(heading)
        cards.append(f"-   [**{title}**]({page})<br>{description}\n\n    [![{title}](docs/gallery/{name}-small.svg)]({page})\n")
    files["gallery/cards.txt"] = "\n".join(cards)
    return files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--pages", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    pipec, root = (pathlib.Path(options.bin) / "pipec").resolve(), pathlib.Path(options.root)
    if options.pages:
        make_site(pipec, root, options.pages)
        return
    if options.out:
        files = make(pipec, root)
        (options.out / "gallery").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (options.out / name).write_text(text, encoding="utf-8")
        print(f"{sum(name.endswith('.md') for name in files)} pictures")
        return
    name, _, arguments = FIRST[0]
    path = root / f"docs/gallery/{name}.svg"
    picture = output_of(pipec, root, [*arguments, "--emit=svg"])
    if not options.check:
        path.write_text(picture)
    elif not path.exists() or path.read_text() != picture:
        sys.exit(f"{path} differs from what pipec draws; run utils/gallery.py")
    else:
        print(f"{path} agrees")


main()
