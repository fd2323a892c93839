# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s
"""Executors of stage graphs train with the losses and gradients of the model without a
pipeline: skip connections, several stages that take the batch, stages of a graph on one
rank, split backwards."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import executors
import pipec
import pipec.torch
import torch
from torch.distributed.pipelining import PipelineStage

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
EXAMPLES = os.path.join(ROOT, "examples", "schedules")
SHAPES = os.path.join(ROOT, "test", "Integration", "Inputs", "shapes.pipe")
WIDTH, ROWS = 8, 2
Case = executors.Case


class Node(torch.nn.Module):
    """A stage of a graph: the inputs have weights of their own, so that it matters which
    is which."""

    def __init__(self, stage, inputs):
        super().__init__()
        torch.manual_seed(stage)
        self.weights = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(max(inputs, 1)))
        self.norm = torch.nn.LayerNorm(WIDTH)

    def forward(self, *inputs):
        assert len(inputs) == len(self.weights)
        return self.norm(sum(torch.tanh(weight(x)) for weight, x in zip(self.weights, inputs)))


def sources(plan, stage):
    return [source for source, target in plan.edges if target == stage]


def whole(plan, x, target, loss_function):
    """Losses and gradients without a pipeline."""
    nodes = [Node(stage, len(sources(plan, stage))) for stage in range(plan.stages)]
    losses = []
    for rows, wanted in zip(x.chunk(plan.microbatches), target.chunk(plan.microbatches)):
        outputs = []
        for stage, node in enumerate(nodes):
            outputs.append(node(*[outputs[source] for source in sources(plan, stage)] or [rows]))
        losses.append(loss_function(outputs[-1], wanted))
    (sum(losses) / plan.microbatches).backward()
    return torch.stack(losses).detach(), [[p.grad for p in node.parameters()] for node in nodes]


def train(mesh, case):
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(case.name, **case.params, **case.options)
    mine = plan.stages_of(rank)
    modules = {s: Node(s, len(sources(plan, s))) for s in mine}
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    loss_function = torch.nn.functional.mse_loss
    schedule = pipec.torch.executor(plan, parts, loss_function, plan.microbatches, patience=30)
    torch.manual_seed(100)
    x, target = torch.randn(2, ROWS * plan.microbatches, WIDTH)
    expected_losses, expected_gradients = whole(plan, x, target, loss_function)
    problems = []
    for step in range(2):  # receives are ahead of the list from the second step on
        losses = []
        last = plan.stages - 1 in mine
        schedule.step(*[x] * any(not sources(plan, s) for s in mine), **(dict(target=target, losses=losses) if last else {}))
        if last and not torch.allclose(torch.stack(losses).detach(), expected_losses):
            problems.append(f"losses of step {step}")
        for s in mine:
            if not all(torch.allclose(p.grad, g, atol=1e-6) for p, g in zip(modules[s].parameters(), expected_gradients[s])):
                problems.append(f"gradients of stage {s} of step {step}")
            modules[s].zero_grad()
    return problems


def case(file, ranks, **options):
    params = {"ranks": ranks, **({"microbatches": options.pop("microbatches")} if "microbatches" in options else {})}
    return Case(file, params, {"target": "pytorch", **options} if "passes" not in options else options)


CASES = {
    3: [case(SHAPES, 3, args=("--schedule=skips",)),
        case(SHAPES, 3, args=("--schedule=skips",), passes="insert-p2p{order=timed},insert-waits")],
    4: [case(os.path.join(EXAMPLES, "unet.pipe"), 4, microbatches=6),
        case(os.path.join(EXAMPLES, "two_encoders.pipe"), 4, microbatches=4),
        case(SHAPES, 4, args=("--schedule=sources",)),
        case(SHAPES, 4, args=("--schedule=encoders",), passes="insert-p2p,batch-p2p")],
}

failed = False
for ranks, todo in CASES.items():
    for one, results in zip(todo, executors.run(ranks, todo, function=train)):
        for rank, problems in enumerate(results):
            if problems:
                failed = True
                print(f"{one}: rank {rank}: {'; '.join(problems)}", flush=True)
assert not failed
print("graphs")
