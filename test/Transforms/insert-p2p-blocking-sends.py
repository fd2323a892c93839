# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`insert-p2p{order=timed,model=blocking-sends}` on the library: the lists complete
with blocking sends and receives, and take there no more time than those of any other
order; `--target=hyperparallel` likewise."""

import subprocess

COLUMN = "align-bubbles{mode=%s},insert-p2p{order=column}"
OTHERS = ["insert-p2p", "insert-p2p{order=timed}", COLUMN % "lockstep", COLUMN % "interleaved"]
SIZES = [("one_f_one_b", 4, 3), ("one_f_one_b", 8, 32), ("gpipe", 4, 6), ("zb1p", 4, 8), ("interleaved_any", 4, 3),
         ("interleaved_any", 4, 6), ("interleaved", 8, 32), ("interleaved_overlap_bf", 4, 8), ("zbv", 4, 8), ("dualpipe", 4, 8)]


def makespan(program, passes, *costs):
    """None where the passes refuse the list."""
    run = subprocess.run(["pipec", *program, *passes, *costs, "--model=blocking-sends", "--emit=report"],
                         capture_output=True, text=True)
    found = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("makespan ")]
    return float(found[0].lstrip("~")) if found else None


better = set()
for name, ranks, microbatches in SIZES:
    program = [name, f"ranks={ranks}", f"microbatches={microbatches}"]
    for costs in ([], ["--cost=F=1,B=2,p2p=0.1"], ["--cost=F=3,B=5,I=3,W=2,p2p=0.5"]):
        others = [makespan(program, ["--passes=" + passes], *costs) for passes in OTHERS]
        best = min(time for time in others if time is not None)
        timed = makespan(program, ["--passes=insert-p2p{order=timed,model=blocking-sends},detect-deadlock"], *costs)
        assert timed is not None and timed <= best, (program, costs, others, timed)
        if timed < best:
            better.add(name)
        target = makespan(program, ["--target=hyperparallel"], *costs)
        assert target is None or target <= best, (program, costs, others, target)
assert {"one_f_one_b", "interleaved_any", "zbv", "dualpipe"} <= better, better
