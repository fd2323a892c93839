# REQUIRES: cairosvg
# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Pictures as PDF and PNG, from functions and from the command line."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import io
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import cairocffi
import pipec

schedule = pipec.compile("one_f_one_b", ranks=3, microbatches=4)


def pixels(png):
    """The size and the colours of a PNG."""
    surface = cairocffi.ImageSurface.create_from_png(io.BytesIO(png))
    data = bytes(surface.get_data())
    colors = {"#%02x%02x%02x" % (data[i + 2], data[i + 1], data[i]) for i in range(0, len(data), 4)}
    return surface.get_width(), surface.get_height(), colors


def size_of(svg):
    root = ElementTree.fromstring(svg)
    return float(root.get("width")), float(root.get("height"))


svg = pipec.render(schedule, format="svg")
width, height, colors = pixels(pipec.render(schedule, "a.png"))
assert open("a.png", "rb").read().startswith(b"\x89PNG")
assert (width, height) == tuple(map(int, size_of(svg))), (width, height)
light = re.findall(r"^\.k[01]s0 \{ fill: (#\w{6}); \}", svg.decode(), re.M)[:2]
assert len(light) == 2 and set(light) <= colors and "#ffffff" in colors, (light, sorted(colors)[:9])

# Options reach the picture.
narrow = pipec.render("one_f_one_b", format="png", width=500, title="A title", memory="none", window="0:20",
                      cost={"F": 1, "B": 3}, args=["-Dranks=3"])
assert pixels(narrow)[0] == 500
assert pixels(pipec.render(schedule, format="png", scale="1/2"))[0] == width // 2
assert pipec.render(schedule, format="png", profile={"B": 5}) != pipec.render(schedule, format="png")

# PDF: one page of the size of the picture, 0.75 points a pixel.
pdf = pipec.render(schedule, "a.pdf")
assert pdf == open("a.pdf", "rb").read() and pdf.startswith(b"%PDF-")
box, = re.findall(rb"/MediaBox \[ ?([0-9. ]+) ?\]", pdf)
sides = [float(side) for side in box.split()]
assert all(abs(a - b) < 0.01 for a, b in zip(sides, [0, 0, *(0.75 * side for side in size_of(svg))], strict=True)), box


def command(*args, **options):
    return subprocess.run([sys.executable, "-m", "pipec", *args], capture_output=True, **options)


sizes = ["one_f_one_b", "ranks=3", "microbatches=4"]
assert command(*sizes, "-o", "b.png").returncode == 0 and open("b.png", "rb").read() == open("a.png", "rb").read()
for form in ["--emit=png"], ["--emit", "png", "-o", "-"], ["-oc.png"], ["--output=d.PNG"], ["--emit=png", "--output", "e"]:
    done = command(*sizes, *form)
    assert done.returncode == 0 and not done.stderr, done.stderr
    name = {"-oc.png": "c.png", "--output=d.PNG": "d.PNG", "e": "e"}.get(form[-1])
    found = open(name, "rb").read() if name else done.stdout
    assert found == open("a.png", "rb").read(), form
done = command(*sizes, "--emit=pdf", "--width=400")
assert done.returncode == 0 and done.stdout.startswith(b"%PDF-")

# What the compiler refuses leaves the file as it was; so does a folder that is not there.
done = command(*sizes, "--width=9", "-o", "a.png")
assert done.returncode == 2 and b"`9` in `--width`" in done.stderr
assert open("a.png", "rb").read() == open("b.png", "rb").read()
done = command(*sizes, "-o", "none/a.png")
assert done.returncode == 1 and b"cannot write `none/a.png`: no such file" in done.stderr
assert sorted(os.listdir()) == ["a.pdf", "a.png", "b.png", "c.png", "d.PNG", "e"]
