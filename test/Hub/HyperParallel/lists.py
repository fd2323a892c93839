# RUN: rm -rf %t && mkdir -p %t && cd %t && %torch-python %s
"""At every size `--target=hyperparallel` takes no more time, with blocking sends and
receives, than the list of HyperParallel's own class."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

sys.path.insert(0, os.environ["PIPEC_HYPERPARALLEL"])
from hyper_parallel import PipelineStage
from hyper_parallel.core.pipeline_parallel import scheduler

CLASSES = [("Schedule1F1B", 1, "one_f_one_b"), ("ScheduleInterleaved1F1B", 2, "interleaved_any"),
           ("ScheduleInterleaved1F1B", 3, "interleaved_any")]
SIZES = [(ranks, microbatches) for ranks in (2, 3, 4) for microbatches in (1, 3, 4, 6, 8, 9)]
COSTS = ["F=1,B=2", "F=1,B=2,p2p=0.1"]


class Stage(PipelineStage):
    """A stage of which only the sizes are used."""

    def __init__(self, index, count):
        self.stage_index, self.stage_num = index, count

    def init(self, local):
        pass


def makespan(args, costs, text=None):
    """None for a list that pipec finds wrong."""
    run = subprocess.run(["pipec", *args, "--cost=" + costs, "--model=blocking-sends", "--emit=report"], input=text,
                         capture_output=True, text=True)
    found = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("makespan ")]
    return float(found[0].lstrip("~")) if found else None


faster = compared = 0
for name, chunks, schedule in CLASSES:
    for ranks, microbatches in SIZES:
        stages = [Stage(chunk * ranks, chunks * ranks) for chunk in range(chunks)]
        own = str(getattr(scheduler, name)(stages, microbatches).exec_order)
        for costs in COSTS:
            theirs = makespan(["-", "--input=hyperparallel", "--passes="], costs, own)
            sizes = [f"ranks={ranks}", f"microbatches={microbatches}"] + ([f"chunks={chunks}"] if chunks > 1 else [])
            ours = makespan([schedule, *sizes, "--target=hyperparallel"], costs)
            assert ours is not None, (schedule, sizes)
            if theirs is not None:  # some lists of theirs receive too late
                assert ours <= theirs, (schedule, sizes, costs, theirs, ours)
                compared += 1
                faster += ours < theirs
print(f"{compared} lists, {faster} of pipec are faster")
assert compared > 60
