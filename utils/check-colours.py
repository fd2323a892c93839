#!/usr/bin/env python3
"""Prints how far apart the colors of steps in SVG pictures are, and fails if two of
neighbouring chunks or of different kinds are too close:

    check-colours.py FILE.svg...

Distances are those of CIELAB (CIE 1976, D65), for normal color vision, where 10 is
needed, and for its three deficiencies, where 7 is. These are simulated as in Machado,
Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency", 2009, at full severity. Chunks must differ by 12 in the lightness L*, too.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import re
import sys

NEEDED = {"normal": 10, "protan": 7, "deutan": 7, "tritan": 7}
NEEDED_LIGHTNESS = 12
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.95047, 1, 1.08883)


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(color):
    """The linear channels of `#rrggbb`."""
    channels = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def lab(color, vision):
    seen = [min(max(c, 0), 1) for c in times(VISION[vision], linear(color))]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116
               for v in (c / w for c, w in zip(times(XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a, b, vision):
    return sum((p - q) ** 2 for p, q in zip(lab(a, vision), lab(b, vision))) ** 0.5


def schemes(svg):
    """The colors by kind and shade, for light and dark pages."""
    style = re.search(r"<style>(.*?)</style>", svg, re.S).group(1)
    for name, css in zip(("light", "dark"), re.split(r"@media \(prefers-color-scheme: dark\)", style)[-2:]):
        yield name, {(int(kind), int(shade)): color
                     for kind, shade, color in re.findall(r"\.k(\d+)s(\d+) \{ fill: (#[0-9a-f]{6})", css)}


def check(path):
    """Prints the pairs of a file that are closest, and returns the number too close."""
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    wrong = 0
    for scheme, colors in schemes(svg):
        if not colors:
            raise SystemExit(f"{path}: there are no colors of steps for {scheme} pages")
        pairs = [(a, b) for a, b in itertools.combinations(sorted(colors), 2) if a[0] != b[0] or b[1] - a[1] == 1]
        for what, chosen in (("chunks", [p for p in pairs if p[0][0] == p[1][0]]), ("kinds", [p for p in pairs if p[0][0] != p[1][0]])):
            if not chosen:
                continue
            for vision, needed in NEEDED.items():
                found, a, b = min((distance(colors[a], colors[b], vision), colors[a], colors[b]) for a, b in chosen)
                print(f"{scheme} {what} {vision}: {found:.1f} ({a} {b})")
                wrong += found < needed
            if what == "chunks":
                found = min(abs(lab(colors[a], "normal")[0] - lab(colors[b], "normal")[0]) for a, b in chosen)
                print(f"{scheme} {what} lightness: {found:.1f}")
                wrong += found < NEEDED_LIGHTNESS
    return wrong


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(1 if sum([check(path) for path in sys.argv[1:]]) else 0)
