"""Searches all splits of a model one by one, and compares with --layouts:

    layouts.py PIPEC

The best layout is as good as the best of them, and no bound is above it.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import json
import subprocess
import sys

PROBLEMS = [
    # Layers, arguments.
    ("Etttttt" "L", ["--ranks=3", "--microbatches=3"]),
    ("Ettttm" "L", ["--ranks=3", "--microbatches=4", "--backward=whole"]),
    ("Etttttt" "L", ["--ranks=2", "--chunks=2", "--microbatches=3"]),
    ("Etttt" "L", ["--ranks=2", "--chunks=2", "--placement=v", "--microbatches=3", "--backward=whole"]),
    ("ttttttt", ["--ranks=3", "--microbatches=4", "--memory-limit=9"]),
    ("Ettttt" "L", ["--ranks=3", "--microbatches=2", "--backward=whole", "--cost=F=3,B=5,p2p=2"]),
]
PROFILE = "--cost-profile=layers.json"


def search(layers, *arguments):
    """The report; None if there is no schedule."""
    done = subprocess.run([sys.argv[1], "search", "--format=json", "--effort=1", PROFILE, *layers, *arguments],
                          capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


with open("layers.json", "w", encoding="utf-8") as file:
    json.dump({"F": 4, "I": 3, "W": 3, "B": 6, "p2p": 1, "memory": {"F": 1},
               "layers": {"E": {"F": 1, "B": 2}, "m": {"F": 5, "B": 7}, "L": {"F": 3, "B": 5}}}, file)

for layers, arguments in PROBLEMS:
    sizes = dict(word[2:].split("=", 1) for word in arguments)
    stages = int(sizes["ranks"]) * int(sizes.get("chunks", 1))
    best = None
    for cuts in itertools.combinations(range(1, len(layers)), stages - 1):
        ends = [0, *cuts, len(layers)]
        layout = "|".join(layers[a:b] for a, b in zip(ends, ends[1:]))
        if report := search([f"--layout={layout}"], *arguments):
            if best is None or report["makespan"] < best["makespan"]:
                best = {**report, "layout": layout}
    found = search([f"--layers={layers}", "--layouts"], *arguments)
    assert found["layouts"]["bound"] <= best["makespan"], (arguments, found, best)
    assert found["makespan"] == best["makespan"], (arguments, found, best)
    assert found["layouts"]["bound"] <= found["bound"] <= found["makespan"]
    assert found["layouts"]["optimal"] == (found["layouts"]["bound"] == found["makespan"])
    # The layout gives the makespan.
    again = search([f"--layout={found['layout']}"], *arguments)
    assert again["bound"] <= found["makespan"], (arguments, found, again)
    print(layers, *arguments, "makespan", found["makespan"], "optimal" if found["layouts"]["optimal"] else "not proven")
