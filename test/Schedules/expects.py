# RUN: %python %s quick
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every figure that the library claims holds: under costs of one unit, uneven
ones, a forward as long as a backward, with hops shorter and longer than a
step; and every clause is checked, in whole and for every schedule.

    expects.py quick | wide
"""

import json
import subprocess
import sys

COSTS = [
    "F=1",
    "F=10,I=12,W=7,F&B=29,B&F=29",
    "F=10,I=8,W=8,F&B=22,B&F=22,p2p=2",
    "F=18.522,I=18.086,W=9.337,p2p=0.601",
    "F=1,B=1",
    "F=3,I=1,W=5,p2p=7",
    "F=2,I=2,W=2,F&B=5,B&F=5",
    "F=1,p2p=1/3",
]
GRIDS = {
    "quick": (COSTS[:6], "ranks=1..6 microbatches=1..12,16 chunks=1..3 group=2..6 waves=1,2 middle_pairs=0,1 slices=1,3,4"),
    "wide": (COSTS, "ranks=1..10,16 microbatches=1..26,31,32,33,48 chunks=1..4 group=2..4,6,8,11,16 waves=1..3 middle_pairs=0,1 slices=1..4,6"),
}

# Every schedule with the clauses that it must have: the metrics of its paper.
CLAUSES = {
    "chimera": "idle peak",
    "dualpipe": "idle peak",
    "dualpipev": "idle peak",
    "eager_one_f_one_b": "makespan idle peak",
    "gpipe": "makespan idle peak",
    "hanayo": "idle peak",
    "interleaved": "makespan peak",
    "interleaved_any": "makespan peak",
    "interleaved_flexible": "makespan peak",
    "interleaved_overlap": "makespan peak",
    "interleaved_overlap_bf": "makespan peak",
    "interleaved_zb": "idle peak",
    "kimi_k2": "makespan peak",
    "looped_bfs": "makespan peak",
    "one_f_one_b": "makespan idle peak",
    "one_f_one_b_overlap": "makespan peak",
    "seq1f1b": "makespan idle peak",
    "seqpipe": "makespan peak",
    "slimpipe": "makespan peak",
    "v_half": "makespan peak",
    "v_min": "makespan peak",
    "zb1p": "makespan idle peak",
    "zbh2": "makespan span bubble_span peak",
    "zbv": "makespan span bubble_span peak",
}


def main():
    costs, grid = GRIDS[sys.argv[1]]
    command = ["pipec", "check", "--library", "--format=json", "-Werror", "--grid", *grid.split()]
    command += [f"--cost={cost}" for cost in costs]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["good"]
    schedules = {schedule["name"]: schedule for schedule in result["schedules"]}
    assert sorted(schedules) == sorted(CLAUSES), sorted(set(schedules) ^ set(CLAUSES))
    total = 0
    for name, schedule in schedules.items():
        metrics = {clause["metric"] for clause in schedule["clauses"]}
        assert metrics == set(CLAUSES[name].split()), (name, metrics)
        assert schedule["sizes"] >= 12 and not schedule["broken"], name
        for clause in schedule["clauses"]:
            assert clause["figures"] >= 12 and not clause["failures"], (name, clause)
            total += clause["figures"]
    print(total, "figures hold")


main()
