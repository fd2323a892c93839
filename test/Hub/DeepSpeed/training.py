# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %deepspeed-python %s %S/Inputs
"""The unmodified engine trains with 1F1B, eager 1F1B, an order of the user's and one
that `pipec search` found, after its own schedule: losses and gradients equal those of
the model without a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

inputs = sys.argv[1]
sys.path.insert(0, inputs)
import engine


def make(name, *words):
    subprocess.run(["pipec", *words, "-o", name], check=True)
    return name


def schedules(stages, micro_batches):
    sizes = [f"ranks={stages}", f"microbatches={micro_batches}"]
    yield None
    yield make("1f1b.json", "one_f_one_b", *sizes, "--emit=deepspeed")
    # Costs change the order of the transfers.
    yield make("eager.json", "eager_one_f_one_b", *sizes, "--cost=F=1,B=3,p2p=1", "--emit=deepspeed")
    yield make("own.json", os.path.join(inputs, "patient.pipe"), *sizes, "--emit=deepspeed")
    make("found.steps", "search", *sizes, "--backward=whole", "--cost=F=2,B=3,p2p=1", "--effort=1", "--memory-limit=3",
         "--memory-by=plain")
    yield make("found.json", "found.steps", "--emit=deepspeed")


sizes = [(2, 4), (4, 6)]
if os.environ.get("PIPEC_TEST_ALL"):
    sizes += [(2, 2), (3, 4), (3, 8), (4, 2), (4, 12)]
for stages, micro_batches in sizes:
    files = list(schedules(stages, micro_batches))
    for file, results in zip(files, engine.run(stages, micro_batches, files), strict=True):
        print(stages, micro_batches, file, results)
        assert all(result.error < 1e-6 and result.loss < 1e-6 for result in results), (file, results)
