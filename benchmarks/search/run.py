#!/usr/bin/env python3
"""Measures how good and how fast `pipec search` is.

    benchmarks/search/run.py PIPEC [--effort=N] [--time=TIME] [--threads=N]
                             [--cases] [--random] [--long] [--large] [--only=TEXT]
                             [--check]

The effort, 10 without --time, limits the search, so results do not depend on the
load of the machine. Seconds are those of the processor. Backwards are split, and nothing
is recomputed or copied.

Without an option for a set, --cases and --random are run: the 22 published cases of
cases.json with what an earlier program reached in 10 s, and 96 random problems
(problems.py); --long and --large are further ones. Every schedule is measured again by `pipec --emit=report`, and
with --check its certificate is written and checked.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import problems

HERE = pathlib.Path(__file__).parent


def profile(case):
    """The cost profile of a case."""
    stages = {}
    sizes = {}
    for stage in range(case["p"] * case["v"]):
        stages[str(stage)] = {kind: case[kind][stage] for kind in "FIW"}
        i, w = case["memI"][stage], case["memW"][stage]
        sizes[str(stage)] = {"F": i + w, "I": -i, "W": -w}
    memory = {"stages": sizes, "limit": max(case["cap"])}
    if min(case["cap"]) != max(case["cap"]):
        memory["limits"] = {str(rank): cap for rank, cap in enumerate(case["cap"])}
    return {"per": "stage", "stages": stages, "p2p": case["hop"], "memory": memory}


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(pipec, case, options, folder, *more):
    (folder / "costs.json").write_text(json.dumps(profile(case)))
    command = [pipec, "search", "--memory-by=plain", f"--ranks={case['p']}", f"--microbatches={case['m']}",
               f"--chunks={case['v']}", "--placement=" + ("v" if case["placement"] == "V" else "loop"),
               f"--cost-profile={folder}/costs.json", "--format=json", "-o", f"{folder}/best.steps", *more]
    command.append(f"--threads={options.threads}")
    if options.effort or not options.time:
        command.append(f"--effort={options.effort or 10}")
    if options.time:
        command.append(f"--time={options.time}")
    if options.check:
        command.append(f"--certificate={folder}/best.proof")
    start = seconds_of_children()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = seconds_of_children() - start
    if done.returncode:
        raise SystemExit(f"{case['name']}: {done.stderr}")
    result = json.loads(done.stdout)
    report = subprocess.run([pipec, f"{folder}/best.steps", "--emit=report", "--format=json"],
                            capture_output=True, text=True)
    measured = json.loads(report.stdout)
    if measured["makespan"] != result["makespan"] or measured["over_limit"]:
        raise SystemExit(f"{case['name']}: the report says {measured['makespan']}, not {result['makespan']}")
    if options.check:
        subprocess.run([pipec, "check", f"{folder}/best.steps", f"--certificate={folder}/best.proof"],
                       check=True, stdout=subprocess.DEVNULL)
    return result, seconds


def share(values, at):
    values = sorted(values)
    return values[min(len(values) - 1, int(at * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipec")
    parser.add_argument("--effort", type=int)
    parser.add_argument("--time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    more = options.long or options.large
    both = options.cases == options.random and not (more and not options.cases)
    sets = []
    if both or options.cases:
        sets.append(("published cases", json.loads((HERE / "cases.json").read_text())))
    if both or options.random:
        sets.append(("random problems", list(problems.all_problems())))
    if options.long:
        sets.append(("long problems", list(problems.long_problems())))
    if options.large:
        sets.append(("large problems", list(problems.large_problems())))
    with tempfile.TemporaryDirectory() as name:
        for title, cases in sets:
            print(f"| {title} | library | makespan | bound | gap % | s | reference |\n" + "| --- " * 7 + "|")
            gaps = []
            for case in cases:
                if options.only not in case["name"]:
                    continue
                result, seconds = run(options.pipec, case, options, pathlib.Path(name), "--backward=split")
                library = result["library"]
                known = case.get("reference")
                gaps.append(100 * result["gap"])
                print(f"| {case['name']} | {library['makespan']} {library['name']} " if library
                      else f"| {case['name']} | ", end="")
                print(f"| {result['makespan']} | {result['bound']} | {100 * result['gap']:.2f} | {seconds:.1f} | "
                      + (f"{known['makespan']} / {known['bound']}" if known else "") + " |", flush=True)
            if gaps:
                print(f"\n{len(gaps)} problems; optimal {sum(gap == 0 for gap in gaps)}, within 1 % "
                      f"{sum(gap <= 1 for gap in gaps)}, within 3 % {sum(gap <= 3 for gap in gaps)}; gap median "
                      f"{share(gaps, .5):.2f} %, p90 {share(gaps, .9):.2f} %, largest {max(gaps):.2f} %\n")


if __name__ == "__main__":
    sys.exit(main())
