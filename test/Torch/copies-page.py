# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %torch-python %s %root/docs/Torch.md
"""The example with recomputations, copies and optimizer steps of docs/Torch.md trains."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.pipelining import PipelineStage

import executors  # finds the package
import copied
import pipec.torch

PAGE = open(sys.argv[1], encoding="utf-8").read()
PROGRAM, CODE = (re.search(rf"^```{label}\n(.*?)^```$", PAGE, re.M | re.S)[1] for label in ("pipe lean.pipe", "python lean"))


def train(mesh, code):
    """The parameters after two steps."""
    modules = copied.make_stages(2)
    stages = [PipelineStage(module, stage, 2, torch.device("cpu"), group=mesh["pp"].get_group())
              for stage, module in enumerate(modules)]
    torch.manual_seed(1)
    exec(code, {"torch": torch, "pipec": pipec, "stages": stages, "loss_fn": copied.loss_function,
                "batches": [copied.make_batch(4)] * 2})
    return [parameter.detach() for parameter in modules.parameters()]


def by_hand(code):
    """The same without the new steps."""
    return code.replace('"lean.pipe"', '"plain.pipe"').replace(", optimizers=optimizers", "") + \
        "    for optimizer in optimizers.values():\n        optimizer.step()\n"


with open("lean.pipe", "w", encoding="utf-8") as file:
    file.write(PROGRAM)
with open("plain.pipe", "w", encoding="utf-8") as file:
    file.write(re.sub(r"(if i > 0 )?\{ WAIT_OFFLOAD\[0\] \}|\b(R|(WAIT_)?OFFLOAD|RELOAD|UPDATE)\[\d\]|expect .*;", "", PROGRAM))
start = list(copied.make_stages(2).parameters())
(lean,), (plain,) = executors.run(1, [CODE, by_hand(CODE)], function=train)
for ours, due, before in zip(lean, plain, start, strict=True):
    assert torch.allclose(ours, due, rtol=1e-12, atol=0) and not torch.equal(ours, before)
