#!/usr/bin/env python3
"""Measures the effect of the constants of lib/Search/Tuning.h.

    benchmarks/search/constants.py [--build=FOLDER] [--only=TEXT] [--seeds=1,2]

For each value of the lists below, the header is rewritten, `pipec` built in the
folder (build/release), and 15 problems are searched with --effort=1. Prints the
rows of the table of benchmarks/README.md: the geometric mean of the changes of
the makespan against the unchanged program with the same seed, how many searches
are worse and better, and how many are optimal with the change and without. The
header is restored at the end.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import problems
import run

ROOT = run.HERE.parents[1]
HEADER = ROOT / "lib/Search/Tuning.h"

# Names of cases and of random problems; those at the end have whole backwards.
SPLIT = ("k04_p8m16_1p k08_p16m64_1p k16_Vmin8 k20_ZBV8 k22_Vhalf16 m05_p8v2m32l m18_p12v2m12l m24_p6v1m24l "
         "m61_p3v2m12l h73_p8v2m24V h79_p6v2m18V h90_p12v2m24V h94_p4v2m8l").split()
WHOLE = "m43_p6v2m12l k22_Vhalf16".split()

# The values of constants: today's, and those in its place.
VALUES = """
shortSteps = 1200 | 600 | 2400
caseGain = 20 | 1'000'000
caseShare = 300 | 150 | 600
oneRunSteps = 1600 | 0 | 1'000'000
heatSteps = 600'000 | 300'000 | 1'200'000
heats[] = {100, 400, 50, 1000, 200} | {100} | {100, 400}
periods[] = {100, 100, 101, 103, 106, 110, 120, 140, 165} | {100} | {100, 110, 140}
lateW[] = {0, 50, 100, 200, 400} | {0}
patience[] = {0, 30, 70, 120} | {0}
samplingShare = 40 | 10 | 80
maxChanges = 3 | 1 | 6
changes[] = {9, 5, 1, 2, 2, 1} | {1, 1, 1, 1, 1, 1} | {9, 5, 0, 0, 0, 0}
maxPatience = 200 | 100
periodChange = 5 | 10
blockHeat = 1 | 0 | 3
criticalChance = 65 | 0 | 100
precedingChance = 50 | 0 | 100
shortMove = 3 | 1 | 6
shortChance = 50 | 0 | 100
middleChance = 60 | 0 | 100
endsWeight = 3 | 0 | 1 | 9
movesPerCheck = 64 | 16 | 256
renewals = 400 | 50 | 2000
"""

ROUNDS = """{Phase::Anneal, 10, 200}, {Phase::Anneal, 20},
    {Phase::Anneal, 30},  {Phase::Anneal, 50},      {Phase::Anneal, 80},
    {Phase::Anneal, 120}, {Phase::Cases, 60},       {Phase::Anneal, 120},
    {Phase::Anneal, 120}, {Phase::Anneal, 120},"""
LONG_ROUNDS = """{Phase::Anneal, 110, 270}, {Phase::Anneal, 160},
    {Phase::Anneal, 160}, {Phase::Anneal, 160},"""
FEW_ROUNDS = """{Phase::Anneal, 110, 270}, {Phase::Anneal, 160},
    {Phase::Cases, 60}, {Phase::Anneal, 160}, {Phase::Anneal, 160},"""
RUNS = "steps <= shortSteps / 2 ? maxRuns : steps <= shortSteps ? 4 : 2"

# Changes of several constants: what the table calls them, and pairs of a text of the header and
# the text in its place.
CHANGES = [
    ("blocks and windows before annealing, twice each", "once each",
     "Blocks, 5}", "Blocks, 100}", "Bound, 20}", "Bound, 50}", "{Phase::Blocks, 95},", "", "{Phase::Bound, 30},", ""),
    ("growing rounds of short words", "those of long words", ROUNDS, FEW_ROUNDS),
    ("the trial of cases, 6 %", "no cases", "{Phase::Cases, 60},", ""),
    ("8, 4 or 2 runs", "4, 2 or 1", RUNS, f"({RUNS}) / 2"),
    ("8, 4 or 2 runs", "16, 8 or 4", "maxRuns = 8", "maxRuns = 16", RUNS, "2 * (" + RUNS.replace("maxRuns", "8") + ")"),
    ("`minHeat` 150, `maxHeat` 3000", "no limits", "minHeat = 150, maxHeat = 3000", "minHeat = 0, maxHeat = 1'000'000"),
    ("`stretchF`, `stretchI`", "both 100", "100, 100, 160, 250", "100", "100, 100, 150, 200", "100"),
    ("`cooling` by 100 in a round", "by 10", "coolingDivisor = 10'746", "coolingDivisor = 10'366"),
    ("`cooling` by 100 in a round", "by 1000", "coolingDivisor = 10'746", "coolingDivisor = 11'140"),
    ("`endsWeight`, `middleChance`", "both 0",
     "endsWeight = 3", "endsWeight = 0", "middleChance = 60", "middleChance = 0"),
    ("`endsWeight`, `middleChance`, `patience` and its changes", "all 0", "endsWeight = 3", "endsWeight = 0",
     "middleChance = 60", "middleChance = 0", "{0, 30, 70, 120}", "{0}", "{9, 5, 1, 2, 2, 1}", "{9, 5, 0, 2, 2, 1}"),
    ("rounds of long words, 4", "8", LONG_ROUNDS, "{Phase::Anneal, 110, 270}, " + 7 * "{Phase::Anneal, 69}, "),
    ("growing rounds of short words", "equal ones", ROUNDS,
     "{Phase::Anneal, 67, 200}, " + 5 * "{Phase::Anneal, 67}, " + "{Phase::Cases, 60}, " + 3 * "{Phase::Anneal, 89}, "),
    ("`numLevels` 64", "16", "numLevels = 64", "numLevels = 16", "coolingDivisor = 10'746", "coolingDivisor = 13'335"),
]


def changes():
    """Labels and pairs of texts, as in CHANGES."""
    for line in VALUES.split("\n"):
        name, _, values = line.partition(" = ")
        usual, *others = values.split(" | ")
        for other in others:
            labels = [value.translate(str.maketrans("", "", "'{}")) for value in (usual, other)]
            yield f"`{name.removesuffix('[]')}` {labels[0]}", labels[1], f"{name} = {usual}", f"{name} = {other}"
    yield from CHANGES


def searches(pipec, seed, folder):
    """The makespan and the bound of each problem."""
    known = {case["name"]: case for case in json.loads((run.HERE / "cases.json").read_text())}
    known.update((case["name"], case) for case in problems.all_problems())
    options = argparse.Namespace(threads=1, effort=1, time=None, check=False)
    found = []
    for names, backward in (SPLIT, "split"), (WHOLE, "whole"):
        for name in names:
            result, _ = run.run(pipec, known[name], options, folder, f"--seed={seed}", f"--backward={backward}")
            found.append((result["makespan"], result["bound"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", default="1")
    options = parser.parse_args()
    header = HEADER.read_text()
    seeds = [int(seed) for seed in options.seeds.split(",")]

    def row(setting, instead, results, usual):
        pairs = [(a, b) for result, base in zip(results, usual) for a, b in zip(result, base)]
        makespan = 100 * math.expm1(sum(math.log(a[0] / b[0]) for a, b in pairs) / len(pairs))
        print(f"| {setting} | {instead} | {len(results)} | {makespan:+.2f} % | {sum(a[0] > b[0] for a, b in pairs)} | "
              f"{sum(a[0] < b[0] for a, b in pairs)} | {sum(a[0] == a[1] for a, _ in pairs)} | "
              f"{sum(b[0] == b[1] for _, b in pairs)} |", flush=True)

    def measure(seeds, *pairs):
        text = header
        for old, new in zip(pairs[::2], pairs[1::2]):
            if old not in text:
                raise SystemExit(f"{HEADER} does not contain '{old}'")
            text = text.replace(old, new)
        HEADER.write_text(text)
        subprocess.run(["ninja", "-C", options.build, "pipec"], check=True, stdout=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory() as folder:
            return [searches(f"{options.build}/bin/pipec", seed, pathlib.Path(folder)) for seed in seeds]

    try:
        usual = measure(seeds)
        for seed, result in zip(seeds[1:], usual[1:]):
            row("none", f"seed {seed}", [result], usual)
        for setting, instead, *pairs in changes():
            if options.only in setting:
                row(setting, instead, measure(seeds, *pairs), usual)
    finally:
        HEADER.write_text(header)


if __name__ == "__main__":
    sys.exit(main())
