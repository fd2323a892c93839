#!/usr/bin/env python3
"""Checks `pipec order` on the batches of batches.json, whose best orders and bounds
are those of another implementation that ran longer.

    check-batches.py PIPEC BATCHES
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys


def order(pipec, case):
    """The result of one case, without weights of several stages in one figure."""
    stages = {str(i): {"F": f, "I": case["I"][i], "W": case["W"][i], "B": case["I"][i] + case["W"][i]}
              for i, f in enumerate(case["F"])}
    json.dump({"per": "stage", "stages": stages, "p2p": case["hop"]}, open("costs.json", "w"))
    batch = {"weights": case["weights"]}
    if case["sizes"] is not None:
        batch |= {"sizes": case["sizes"], "limit": case["limit"]}
    json.dump(batch, open("batch.json", "w"))
    command = [pipec, "order", case["schedule"], f"ranks={case['ranks']}", f"microbatches={case['microbatches']}",
               *case["args"], "--cost-profile=costs.json", "--weights=batch.json", "--format=json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def close(a, b):
    return abs(a - b) < 1e-6 * b


def main(pipec, batches):
    cases = json.load(open(batches))["cases"]
    for case in cases:
        found = order(pipec, case)
        name, best = case["name"], case["best"]
        assert sorted(found["order"]) == list(range(case["microbatches"])), name
        if case["given"] is not None:
            assert close(found["given"], case["given"]), (name, found["given"])
        assert found["bound"] <= found["makespan"] <= found["given"] or case["given"] is None, name
        # The bounds and makespans of both are those of the same problem.
        assert found["bound"] <= best * (1 + 1e-9) and case["bound"] <= found["makespan"] * (1 + 1e-9), name
        if case["microbatches"] <= 8:
            assert found["optimal"] and close(found["makespan"], best), (name, found["makespan"])
        assert found["makespan"] <= 1.09 * best, (name, found["makespan"] / best)
        if case["limit"] is not None:
            assert found["peak"] <= case["limit"], (name, found["peak"])
    print(f"{len(cases)} batches")


if __name__ == "__main__":
    main(*sys.argv[1:])
