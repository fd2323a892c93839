# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: env PYTHONPATH=%root/python/src %torch-python %s
"""Transfers placed by search: files for each form of communicators train as the model
without a pipeline, with transfers that wait for each other as these do."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import oracle
import train

COSTS = "--cost=F=2,I=2,W=2,B=4,p2p=1"
FORMS = {"stream": "shared", "pair": "pair", "edge": "edge"}

report = oracle.Report()
jobs = []
for model, form in FORMS.items():
    by_ranks = {}
    for name, *sizes in (("interleaved", "ranks=3", "microbatches=6"), ("zbv", "ranks=3", "microbatches=6"),
                         ("zb1p", "ranks=3", "microbatches=5"), ("dualpipev", "ranks=2", "microbatches=4"),
                         ("interleaved_zb", "ranks=2", "microbatches=4")):
        path = f"{name}-{form}.csv"
        oracle.write(path, oracle.pipec(name, *sizes, COSTS, f"--target={oracle.TARGET}-search", f"--communicators={form}"))
        by_ranks.setdefault(sizes[0], []).append((path, "compute_comms"))
    jobs += [(files, train.Setting(communicators=model, timeout=30)) for files in by_ranks.values()]
for (files, setting), outcome in zip(jobs, train.train_all(jobs)):
    for file in files:
        found = outcome.get(file, "not trained")
        report.check(f"{file[0]} ({setting.communicators})", None if found == "equal" else str(found))

report.finish(len(FORMS) * 5)
