#!/usr/bin/env python3
"""Prints how far apart the colors of steps in SVG pictures are, and fails if two of
neighbouring chunks or of different kinds are too close:

    check-colours.py [--pairs] [FILE.svg...]

Without a file, it measures pictures of all kinds of steps with one to four chunks,
which `pipec` of the PATH draws. --pairs prints every pair; otherwise the closest ones.

Distances are those of CIELAB (CIE 1976, D65), for normal color vision, where 10 is
needed, and for its three deficiencies, where 7 is. These are simulated as in Machado,
Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency", 2009, at full severity. Of a recomputation or an optimizer step, 5 are
needed where ranks have several chunks. Where they have one, kinds differ by 15, and by
5 in the lightness L*, for print in gray. In lightness, neighbouring chunks differ by 12
(11.5 where there are four, for which the range has no room for more), and so do actions
of FSDP, and copies out and in. The lightness of boxes with numbers is 55 to 90, but for
optimizer steps. Boxes or the lines around them have a
contrast of 3 to idle time, and numbers one of 4.5 to their boxes (WCAG 2.2, 1.4.11 and
1.4.3).
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import itertools
import pathlib
import re
import subprocess
import tempfile

NEEDED = {"normal": 10, "protan": 7, "deutan": 7, "tritan": 7}
NEEDED_LIGHTNESS = 12
NEEDED_OF_FOUR = 11.5
LIGHTNESS = 55, 90
# Kinds by their numbers in classes of pictures.
KINDS = re.findall(r'^PIPEC_STEP_ROW\(\w+, "(\w+)"', (pathlib.Path(__file__).resolve().parents[1] / "lib" / "Support" / "Steps.def")
                   .read_text(encoding="utf-8"), re.M)
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


def luminance(color):
    return sum(weight * channel for weight, channel in zip(XYZ[1], linear(color)))


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def schemes(svg):
    """The colors on light and on dark pages, by class; `box` is that of the lines around boxes."""
    found = {}
    for part in re.search(r"<style>(.*?)</style>", svg, re.S)[1].split("@media (prefers-color-scheme: dark)"):
        for name, color in re.findall(r"^\.(\w+) \{ fill: (#[0-9a-f]{6}); \}$", part, re.M):
            found.setdefault(name, []).append(color)
        for color in re.findall(r"^\.box rect \{ stroke: (#[0-9a-f]{6})", part, re.M):
            found.setdefault("box", []).append(color)
    for name, colors in found.items():
        if re.match(r"[kt]\d|lane|box", name) and len(colors) != 2:
            raise SystemExit(f"`{name}` has not one color for light and one for dark pages: {colors}")
    for scheme, name in enumerate(("light", "dark")):
        yield name, {key: colors[scheme] for key, colors in found.items() if len(colors) == 2}


def name_of(box):
    kind, shade = re.fullmatch(r"k(\d+)(?:s(\d))?", box).groups()
    return KINDS[int(kind)] + (f" {shade}" if shade else "")


def pairs_of(colors):
    """(what, needed distances, lightness needed, class, class) for each pair that must differ."""
    boxes = sorted(name for name in colors if re.fullmatch(r"k\ds\d", name))
    shades = len({name[3] for name in boxes})
    for a, b in itertools.combinations(boxes, 2):
        if a[1] == b[1]:
            # All optimizer steps have one color.
            if int(b[3]) - int(a[3]) == 1 and KINDS[int(a[1])] != "UPDATE":
                yield "chunks", NEEDED, NEEDED_OF_FOUR if shades == 4 else NEEDED_LIGHTNESS, a, b
            continue
        extra = bool({KINDS[int(a[1])], KINDS[int(b[1])]} & {"R", "UPDATE"})
        if shades == 1:
            yield "kinds", dict.fromkeys(NEEDED, 15), 0 if extra else 5, a, b
        else:
            yield ("extra kinds", dict.fromkeys(NEEDED, 5), 0, a, b) if extra else ("kinds", NEEDED, 0, a, b)
    sides = [(f"k{number}", kind) for number, kind in enumerate(KINDS)]
    for kinds in ("UNSHARD", "RESHARD", "REDUCE_GRAD"), ("OFFLOAD", "RELOAD"):
        for a, b in itertools.combinations([name for name, kind in sides if kind in kinds and name in colors], 2):
            yield "actions", {}, NEEDED_LIGHTNESS, a, b


def problems(colors):
    """What is too close among the colors of a scheme, one text each."""
    for name, color in colors.items():
        ratio = max(contrast(shown, colors["lane"]) for shown in (color, colors["box"] if "s" in name else color))
        if name[0] == "k" and ratio < 3:
            yield f"{name_of(name)} {color} has a contrast of {ratio:.2f} with idle time"
        is_box = re.fullmatch(r"k\ds\d", name)
        light = lab(color, "normal")[0]
        if is_box and KINDS[int(name[1])] != "UPDATE" and not LIGHTNESS[0] <= light <= LIGHTNESS[1]:
            yield f"{name_of(name)} {color} has a lightness of {light:.1f}"
        if is_box and (ratio := contrast(color, colors["t" + name[1]])) < 4.5:
            yield f"numbers on {name_of(name)} {color} have a contrast of {ratio:.2f}"
    for what, needed, lightness, a, b in pairs_of(colors):
        both = f"{name_of(a)} {colors[a]} and {name_of(b)} {colors[b]}"
        for vision, least in needed.items():
            if (apart := distance(colors[a], colors[b], vision)) < least:
                yield f"{both} are {apart:.1f} apart for {vision} vision"
        if (apart := abs(lab(colors[a], "normal")[0] - lab(colors[b], "normal")[0])) < lightness:
            yield f"{both} are {apart:.1f} apart in lightness"
        if what == "chunks" and luminance(colors[a]) > luminance(colors[b]):
            yield f"{both} are in the wrong order"


def check(path, with_pairs):
    """Prints the closest pairs of a file, or all, and what is too close; returns how much is."""
    with open(path, encoding="utf-8") as file:
        svg = file.read()
    wrong = 0
    for scheme, colors in schemes(svg):
        if not any(re.fullmatch(r"k\ds\d", name) for name in colors):
            raise SystemExit(f"{path}: there are no colors of steps for {scheme} pages")
        closest = {}
        light = [(lab(color, "normal")[0], color) for name, color in colors.items()
                 if re.fullmatch(r"k\ds\d", name) and KINDS[int(name[1])] != "UPDATE"]
        print(f"{scheme} lightness:", " to ".join(f"{value:.1f} ({color})" for value, color in (min(light), max(light))))
        for what, needed, lightness, a, b in pairs_of(colors):
            measured = {vision: distance(colors[a], colors[b], vision) for vision in needed}
            if lightness:
                measured["lightness"] = abs(lab(colors[a], "normal")[0] - lab(colors[b], "normal")[0])
            if with_pairs:
                print(f"{scheme} {name_of(a)}, {name_of(b)}:", ", ".join(f"{apart:.1f} {how}" for how, apart in measured.items()))
            for how, apart in measured.items():
                found = (apart, colors[a], colors[b])
                closest[what, how] = min(found, closest.get((what, how), found))
        for (what, how), (apart, a, b) in closest.items():
            print(f"{scheme} {what} {how}: {apart:.1f} ({a} {b})")
        for text in problems(colors):
            print(f"{scheme}: {text}")
            wrong += 1
    return wrong


def program(chunks):
    """A schedule of one rank with all kinds of steps, as step IR."""
    stages, last = range(chunks), range(chunks)[::-1]
    steps = [f"UNSHARD s{s}" for s in stages] + [f"F s{s} m{m}" for m in range(4) for s in stages]
    steps += [f"{kind} s{s} m3" for kind in ("OFFLOAD", "WAIT_OFFLOAD", "RELOAD") for s in stages]
    steps += [f"{kind} s{s} m{m}" for m, kinds in enumerate(("IW", "RB", "B", "B")) for s in last for kind in kinds]
    steps += [f"{kind} s{s}" for s in stages for kind in ("REDUCE_GRAD", "WAIT_REDUCE_GRAD", "RESHARD")]
    steps += ["REDUCE_TIED t0"] * (chunks > 1) + [f"UPDATE s{s}" for s in stages]
    return "\n".join(["pipec-steps 2", f"schedule @kinds {{ ranks 1 stages {chunks} microbatches 4", "map" + " 0" * chunks,
                      *[f"tie 0 {chunks - 1}"] * (chunks > 1), "rank 0 {", *steps, "}", "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE.svg")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for chunks in range(1, 5) if not options.files else ():
            source, picture = (pathlib.Path(folder) / f"{chunks}{end}" for end in (".steps", ".svg"))
            source.write_text(program(chunks), encoding="utf-8")
            subprocess.run(["pipec", source, "-o", picture], check=True)
            options.files.append(picture)
        return 1 if sum([check(path, options.pairs) for path in options.files]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
