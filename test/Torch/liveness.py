# REQUIRES: torch-2.15
# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %torch-python %s
"""The peak of activations that `--emit=report` gives each rank, where W frees
them, is the number of slots that PyTorch's own analysis of the lists needs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import library
import oracle

from torch.distributed.pipelining.schedules import analyze_pipeline_activation_liveness

with open("at-w.json", "w", encoding="utf-8") as file:
    json.dump({"memory": {"F": 1, "I": 0}}, file)

SIZES = library.SIZES if library.ALL else [(1, 3), (2, 1), (2, 5), (3, 7), (4, 8)]
report = oracle.Report()
for title, words, compute in library.instances(sizes=SIZES):
    for target in oracle.TARGET, oracle.TIMED:
        rows = oracle.pipec(*words, f"--target={target}")
        schedule = oracle.runtime(rows, "compute_comms", oracle.sizes(compute))
        where = oracle.stage_map(compute)
        theirs = [analyze_pipeline_activation_liveness(
            schedule, pp_rank=rank, stage_indices=[s for s, on in where.items() if on == rank],
            granularity="stage_microbatch").num_slots for rank in range(len(rows))]
        status, out, err = oracle.run("pipec", *words, f"--target={target}", "--cost-profile=at-w.json", "--emit=report",
                                      "--format=json")
        ours = [rank["peak"] for rank in json.loads(out)["ranks"]] if not status else err
        report.check(f"{title} {target}", None if ours == theirs else f"{ours} against torch's {theirs}")
report.finish(120)
