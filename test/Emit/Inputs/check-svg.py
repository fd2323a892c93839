#!/usr/bin/env python3
"""Checks pictures of --emit=svg.

    check-svg.py [--ir FILE] PICTURE...

A picture is well-formed XML with a title and a description; its boxes are on
lanes, also those of streams, and do not overlap; numbers are on boxes; its colours are as
utils/check-colours.py wants them. With --ir, the boxes are those of the
compute steps of a step IR: as many, with the same micro-batches in order.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import importlib.util
import itertools
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"

spec = importlib.util.spec_from_file_location(
    "colours", pathlib.Path(__file__).resolve().parents[3] / "utils" / "check-colours.py")
colours = importlib.util.module_from_spec(spec)
spec.loader.exec_module(colours)


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def check_colors(svg):
    """Checks the colours of light and dark pages; returns those of light ones, by class."""
    fills = dict(colours.schemes(svg))
    for scheme, colors in fills.items():
        for problem in colours.problems(colors):
            check(False, f"{scheme}: {problem}")
    return fills["light"]


def lanes_of(lane, names):
    """[left, right, kind, class] of a lane and of the lanes of streams below it, in their order."""
    lanes = []
    for group in lane.findall(f"{SVG}g[@class='box']"):
        lanes.append([])
        for rect in group.findall(f"{SVG}rect"):
            name = rect.get("class")
            check(name in names, f"a box of class {name}, which has no colour")
            check((rect.get("y") is None) == (len(lanes) == 1), "a box on another lane")
            left = float(rect.get("x"))
            lanes[-1].append((left, left + float(rect.get("width")), colours.KINDS[int(name[1])], name))
    return lanes


def fills_strip(lane, first, last):
    """Whether the levels of memory below a lane are within it, from left to right, and do not overlap,
    nor do those of the host."""
    strips = {}
    for path in lane.findall(f"{SVG}path"):
        classes = (path.get("class") or "").split()
        if "heat" in classes:
            strips.setdefault("host" in classes, []).extend(
                (float(a), float(b)) for a, b in re.findall(r"M([0-9.]+) [0-9.]+H([0-9.]+)", path.get("d")))
    return all(all(first <= a < b <= last for a, b in parts)
               and all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(parts))) for parts in strips.values())


def check_picture(path, steps):
    root = ET.parse(path).getroot()
    check(root.tag == f"{SVG}svg" and root.get("role") == "img", "no picture")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    check(len(ids) == len(set(ids)), "an id is given twice")
    for name in root.get("aria-labelledby").split():
        check(any(element.get("id") == name and element.text for element in root.iter()), f"no text for {name}")
    width, height = (float(root.get(side)) for side in ("width", "height"))
    box = [float(number) for number in root.get("viewBox").split()]
    check(box[:2] == [0, 0] and abs(box[2] * height - box[3] * width) <= 0.1 * (box[2] + box[3]),
          f"the view box {box} has another shape than the picture, {width} x {height}")
    # Text is measured in units of the view box.
    width = box[2]
    fills = check_colors(pathlib.Path(path).read_text(encoding="utf-8"))

    for text in root.findall(f"{SVG}text"):
        # Letters are 6 pixels wide or wider, those of the title 8.
        letter = {"sub": 6, "note": 6, "title": 8}.get(text.get("class"))
        if letter:
            check(float(text.get("x")) + letter * len(text.text) <= width, f"`{text.text}` does not fit")
    for text in root.findall(f"{SVG}g[@class='phases']/{SVG}text"):
        check(text.text and 0 <= float(text.get("x")) <= width, "the name of a phase leaves the picture")

    lanes = [g for g in root.findall(f"{SVG}g") if (g.get("transform") or "").startswith("translate")]
    for rank, lane in enumerate(lanes):
        check(lane.find(f"{SVG}text").text == f"rank {rank}", "lanes are not in order")
        band = lane.find(f"{SVG}rect")
        first, last = float(band.get("x")), float(band.get("x")) + float(band.get("width"))
        check(last <= width, "a lane leaves the picture")
        check(fills_strip(lane, first, last), "the strip for memory leaves its lane")
        boxes, *streams = lanes_of(lane, fills)
        for own in [boxes, *streams]:
            for box in own:
                check(first - 0.01 <= box[0] and box[1] <= last + 0.51, f"a box outside its lane: {box}")
            for a, b in zip(own, own[1:]):
                # A step too short to be seen is drawn half a pixel wide.
                check(b[0] >= a[1] - 0.51, f"boxes overlap: {a} {b}")
        for text in lane.findall(f"{SVG}text"):
            if "num" not in (text.get("class") or ""):
                continue
            x = float(text.get("x"))
            under = [box for box in boxes if box[0] <= x <= box[1]]
            check(len(under) == 1, f"the number {text.text} is on {len(under)} boxes")
            check(text.get("class") == f"num t{under[0][3][1]}", f"the number {text.text} has the colour of another kind")
        if steps is not None:
            expected, *others = steps[rank]
            check([[box[2] for box in own] for own in streams] == [[kind for kind, _ in own] for own in others],
                  f"rank {rank} draws other kinds on streams")
            check([box[2] for box in boxes] == [kind for kind, _ in expected],
                  f"rank {rank} draws other kinds than its steps are")
            labelled = [re.match(r"\d*", text.text)[0] for text in lane.findall(f"{SVG}text")
                        if "num" in (text.get("class") or "")]
            if len(labelled) == len(expected):
                check(labelled == [m for _, m in expected], f"rank {rank} has other numbers than its steps")
    for path_ in root.iter(f"{SVG}path"):
        check(re.fullmatch(r"[MLHVhvZ0-9. -]+", path_.get("d")), f"no path: {path_.get('d')[:60]}")
    check(steps is None or len(lanes) == len(steps), "not a lane per rank")
    return sum(len(boxes) for lane in lanes for boxes in lanes_of(lane, fills))


def read_ir(path):
    """(kind, micro-batch) of the steps of each rank, and of those on each of its streams."""
    ranks, streams = [], []
    for line in open(path, encoding="utf-8"):
        if found := re.match(r'\s*stream (?:"[^"]*"|\S+) ([\d ]+)$', line):
            streams.append(found[1].split())
        elif re.match(r"\s*rank \d+ \{", line):
            ranks.append([[] for _ in range(1 + len(streams))])
        elif ranks:
            for kind, stage, microbatch in re.findall(r"\b([FBIWR]|UPDATE) s(\d+)(?: m(\d+))?", line):
                lane = next((k for k, stages in enumerate(streams, 1) if microbatch and stage in stages), 0)
                ranks[-1][lane].append((kind, microbatch))
    return ranks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ir")
    parser.add_argument("pictures", nargs="+")
    options = parser.parse_args()
    steps = read_ir(options.ir) if options.ir else None
    for path in options.pictures:
        try:
            print(f"{check_picture(path, steps)} boxes")
        except (AssertionError, ET.ParseError) as error:
            sys.exit(f"{path}: {error}")


main()
