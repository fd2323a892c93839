# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places the transfers of the schedules of p2p-search.json by search."""

import json
import pathlib
import subprocess
import sys


def report(case, profile, passes):
    run = subprocess.run(["pipec", *case["args"], f"--cost-profile={profile}", f"--passes={passes}",
                          f"--model={case['model']}", "--emit=report", "--format=json"],
                         check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def check(case, profile):
    def costs(stage):
        row = {kind: case[kind][stage] if isinstance(case[kind], list) else case[kind] for kind in "FIW"}
        return row | {"B": row["I"] + row["W"]}

    stages = {str(stage): costs(stage) for stage in range(case["stages"])}
    profile.write_text(json.dumps({"p2p": case["p2p"], "stages": stages}))
    found = report(case, profile, f"insert-p2p{{order=search,model={case['model']}}}")
    placed = found["transfers"]
    assert placed["model"] == case["model"]
    assert placed["makespan"] == found["makespan"], "the simulation differs from the search"
    assert placed["free"] == found["free_makespan"] == case["free"]
    assert placed["starts"]["simulate"] == case["starts"]["simulate"]
    # Each start is the order that its name says.
    for name in case["starts"]:
        alone = report(case, profile, f"insert-p2p{{order={name}}}")["makespan"]
        assert placed["starts"][name] <= alone, f"{name}: {placed['starts'][name]}, not {alone}"
    assert placed["makespan"] <= min(placed["starts"].values())
    assert placed["makespan"] <= case["best"] * 1.01, f"{placed['makespan']}, not {case['best']}"
    assert placed["free"] <= placed["bound"] <= case["best"], f"bound {placed['bound']}"
    assert placed["optimal"] == (placed["bound"] == placed["makespan"])
    return placed["optimal"]


def main():
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text())
    profile = pathlib.Path(sys.argv[2])
    optimal = 0
    for case in cases:
        try:
            optimal += check(case, profile)
        except AssertionError as error:
            raise SystemExit(f"{case['args']}, {case['model']}: {error}")
    print(f"{len(cases)} placed, {optimal} proven optimal")


main()
