#!/usr/bin/env python3
"""Checks pictures of --emit=tikz: check-tikz.py [--boxes N] FILE.tex...

Groups are closed, every style and color is defined, and coordinates are within the
picture. With pdflatex or tectonic, it also compiles, to one page of the size that the
file gives.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib


def check(holds, what):
    if not holds:
        sys.exit(f"check-tikz.py: {what}")


def check_text(text, boxes):
    depth = 0
    for char in re.sub(r"\\.", "", re.sub(r"(?<!\\)%.*", "", text)):
        depth += {"{": 1, "}": -1}.get(char, 0)
        check(depth >= 0, "a brace is closed twice")
    check(depth == 0, "a brace is not closed")
    check(text.isascii() or "\\UTFviii@undefined@err" in text, "characters that no font has")
    check(text.count("\\begin{scope}") == text.count("\\end{scope}"), "a scope is not closed")
    styles = set(re.findall(r"^ +([\w-]+)/\.(?:append )?style", text, re.M))
    body = text[text.index("\\useasboundingbox"):]
    used = set(re.findall(r"^\\begin\{scope\}\[([a-z][\w-]*)", body, re.M)) - {"shift"}
    used |= {name for names in re.findall(r"\\(?:path|node)\[([^\]]+)\]", body) for name in names.split(",")}
    check(used <= styles, f"styles that are not defined: {sorted(used - styles)}")
    commands = set(re.findall(r"\\([A-Za-z]+)", body))
    known = {"path", "node", "begin", "end", "useasboundingbox", "endgroup", "pipecnum"}
    check(all(name in known or name.startswith(("text", "char")) for name in commands), f"other commands: {sorted(commands - known)}")
    colors = set(re.findall(r"\\definecolor\{(\w+)\}", text)) | {"black"}
    named = set(re.findall(r"(?:draw|fill|text)=(\w+)", text))
    check(named <= colors, f"colors that are not defined: {sorted(named - colors)}")
    width, height = map(float, re.match(r"\\useasboundingbox\(0,0\)rectangle\(([\d.]+),([\d.]+)\);", body).groups())
    down = 0.0
    for line in body.split("\n"):
        if line.startswith("\\begin{scope}"):
            down = float((re.search(r"shift=\{\(0,([\d.]+)\)\}", line) or [0, down])[1])
        for x, y in re.findall(r"\((-?[\d.]+),(-?[\d.]+)\)", line.partition("{")[0] if line.startswith("\\node") else line):
            check(0 <= float(x) <= width and -1 <= float(y) + down * line.startswith(("\\path", "\\node")) <= 2 * height,
                  f"outside of the picture: {line}")
    drawn = sum(path.count("rectangle") for path in re.findall(r"^\\path\[k\ds\d\]\(([^;]*);$", body, re.M))
    check(boxes is None or drawn == boxes, f"{drawn} boxes")
    return drawn


def pages(pdf):
    """The sizes of the pages of a PDF, in points."""
    parts = [pdf]
    for start in re.finditer(rb"stream\r?\n", pdf):
        try:
            parts.append(zlib.decompressobj().decompress(pdf[start.end():]))
        except zlib.error:
            continue
    return [tuple(map(float, box)) for part in parts for box in re.findall(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", part)]


def compile_picture(path, text):
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if not program:
        return
    with tempfile.TemporaryDirectory() as folder:
        tex = pathlib.Path(folder) / "picture.tex"
        tex.write_text(text, encoding="utf-8")
        options = [] if "tectonic" in program else ["-interaction=nonstopmode", "-halt-on-error"]
        done = subprocess.run([program, *options, tex.name], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        check(done.returncode == 0, f"{path} does not compile:\n{done.stdout[-2000:]}")
        check("Overfull" not in done.stdout, f"{path}: {done.stdout[-2000:]}")
        sizes = pages(tex.with_suffix(".pdf").read_bytes())
        wanted = tuple(map(float, re.search(r"papersize=\{([\d.]+)bp,([\d.]+)bp\}", text).groups()))
        check(len(sizes) == 1 and all(abs(a - b) < 0.1 for a, b in zip(sizes[0], wanted)), f"{path}: pages of {sizes}, not {wanted}")
    print(f"{path} compiles")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--boxes", type=int)
    parser.add_argument("pictures", nargs="+")
    options = parser.parse_args()
    for path in options.pictures:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        print(check_text(text, options.boxes), "boxes")
        compile_picture(path, text)


main()
