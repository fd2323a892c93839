# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates the orders of states.json, and verifies the wrong ones."""

import json
import pathlib
import subprocess
import sys


def main():
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    steps, profile = folder / "a.steps", folder / "a.json"
    simulated = refused = 0
    for case in cases:
        steps.write_text(case["steps"])
        if case["valid"]:
            simulate(case, steps, profile)
            simulated += 1
        else:
            lint(case, steps)
            refused += 1
    print(f"{simulated} simulated, {refused} refused")


def simulate(case, steps, profile):
    costs = dict(case["cost"], memory=case["memory"])
    if case.get("share"):
        costs["share"] = case["share"]
    profile.write_text(json.dumps(costs))
    run = subprocess.run(["pipec", steps, f"--cost-profile={profile}", "--emit=report", "--format=json"],
                         check=True, capture_output=True, text=True)
    report = json.loads(run.stdout)
    ranks = report["ranks"]
    found = report["makespan"], [rank["peak"] for rank in ranks], [report["makespan"] - rank["work"] for rank in ranks]
    expected = case["makespan"], case["peak"], case["idle"]
    assert found == expected, f"{case['name']}: {found}, not {expected}"


def lint(case, steps):
    """The first step of the list that is wrong, or for a reduction a later compute, is named at its line."""
    run = subprocess.run(["pipec", "lint", steps], capture_output=True, text=True)
    assert run.returncode == 1, case["name"]
    if case["position"] < 0:
        return
    lines = case["steps"].split("\n")
    first = lines.index(f"  rank {case['rank']} {{") + 1
    step = lines[first + case["position"]].split()
    named = {first + case["position"]}
    if step[0] == "REDUCE_GRAD":
        named |= {i for i in range(first, lines.index("  }", first)) if lines[i].split()[1] == step[1]}
    assert any(f"{steps}:{line + 1}:" in run.stdout + run.stderr for line in named), f"{case['name']}: {run.stderr}"


main()
