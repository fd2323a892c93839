# RUN: %torch-python %s
"""An executor takes the data of a batch in an order; losses, outputs and gradients are
those of the batch. So does a run of another schedule, in its own order if it has one."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import pipec
import pipec.torch

WIDTH, MICROBATCHES = 4, 6
ORDER = [3, 0, 5, 1, 4, 2]


def loss_fn(output, target):
    return (output - target).square().mean()


def reordered(mesh, case):
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(3)
    modules = [nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)]
    stage = PipelineStage(modules[rank], rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())
    batch, target = torch.randn(12, WIDTH), torch.randn(12, WIDTH)
    output = modules[1](modules[0](batch))
    own = [loss_fn(*pair) for pair in zip(output.chunk(MICROBATCHES), target.chunk(MICROBATCHES))]
    gradients = torch.autograd.grad(sum(own) / MICROBATCHES, tuple(modules[rank].parameters()))
    schedule = pipec.torch.executor("one_f_one_b", stage, loss_fn, MICROBATCHES)
    problems = []
    for order in ORDER, None:
        schedule.reorder(order)
        modules[rank].zero_grad()
        losses = []
        result = schedule.step(*((batch,) if rank == 0 else ()), **({"target": target, "losses": losses} if rank else {}))
        if rank and not torch.allclose(torch.stack(losses), torch.stack(own)):
            problems.append(("losses", order, losses))
        if rank and not torch.allclose(result, output):
            problems.append(("outputs", order))
        for parameter, gradient in zip(modules[rank].parameters(), gradients):
            if not torch.allclose(parameter.grad, gradient, atol=1e-6):
                problems.append(("gradients", order))
    if schedule._ordered(range(MICROBATCHES)) != range(MICROBATCHES):
        problems.append("an order remains")
    for order, text in ((ORDER if rank else list(range(MICROBATCHES)), "differs from that of another rank"),
                        ([0] * MICROBATCHES, "is not an order of 6 micro-batches")):
        try:
            schedule.reorder(order)
            problems.append((text, "not raised"))
        except ValueError as error:
            if text not in str(error):
                problems.append(str(error))
    return problems


class Noting(nn.Module):
    """A first stage that notes which of the batch it is called with."""

    def __init__(self, seen):
        super().__init__()
        self.linear, self.seen = nn.Linear(WIDTH, WIDTH), seen

    def forward(self, x):
        self.seen.append(int(x[0, 0]))
        return self.linear(x)


def planned(name, microbatches, order=None):
    """A schedule, with an order as `pipec search --weights` gives it one."""
    plan = pipec.compile(name, target="pytorch", ranks=2, microbatches=microbatches)
    if order is None:
        return plan
    return pipec.Schedule.from_steps(re.sub(r"(\n  map .*)", rf"\1\n  order {' '.join(map(str, order))}", plan.ir))


def runs(mesh, case):
    rank, seen = mesh["pp"].get_local_rank(), []
    torch.manual_seed(3)
    stage = PipelineStage(Noting(seen) if rank == 0 else nn.Linear(WIDTH, WIDTH), rank, 2, torch.device("cpu"),
                          group=mesh["pp"].get_group())
    own, others = [5, 4, 3, 2, 1, 0], [0, 2, 4, 1, 3, 5]
    schedule = pipec.torch.executor(planned("one_f_one_b", MICROBATCHES, own), stage, loss_fn, MICROBATCHES)
    batch = {count: torch.arange(count).repeat_interleave(2).view(-1, 1).expand(-1, WIDTH).float() for count in (4, MICROBATCHES)}

    def check(due, step, count=MICROBATCHES):
        seen.clear()
        losses = []
        result = step(*((batch[count],) if rank == 0 else ()),
                      **({"target": torch.zeros_like(batch[count]), "losses": losses} if rank else {}))
        assert rank or seen == due, (seen, due)
        if rank:  # in the order of the batch
            parts = result.chunk(count)
            assert torch.allclose(torch.stack(losses), torch.stack([part.square().mean() for part in parts])), losses
            steps = [float((after - before).norm()) for before, after in zip(parts, parts[1:])]
            assert torch.allclose(torch.tensor(steps), torch.tensor(steps[0])), steps

    plain, found = planned("gpipe", MICROBATCHES), planned("gpipe", MICROBATCHES, others)
    in_batch = list(range(MICROBATCHES))
    check(own, schedule.step)
    source = os.path.join(case, f"found{rank}.py")
    with open(source, "w") as file:
        file.write(found.emit("python", "--passes="))
    for given, due in (plain, in_batch), (found, others), (source, others), (schedule.plan, own), (plain, in_batch):
        check(due, lambda *args, given=given, **kwargs: schedule.run(given, *args, **kwargs))
    schedule.reorder(ORDER)
    for given, due in (plain, ORDER), (found, others):
        check(due, lambda *args, given=given, **kwargs: schedule.run(given, *args, **kwargs))
    check(ORDER, schedule.step)
    four = planned("one_f_one_b", 4)
    executors.refuse("one_f_one_b has 4 micro-batches, and `reorder` has set an order of 6", lambda: schedule.run(four))
    executors.refuse("the ranks run different schedules", lambda: schedule.run(found if rank else planned("gpipe", 6, own)))
    schedule.reorder(None)
    check(in_batch, schedule.step)
    check(list(range(4)), lambda *args, **kwargs: schedule.run(four, *args, **kwargs), 4)
    executors.refuse("one_f_one_b has an order of its batch, and PyTorch's runtime runs batches as they are",
                     lambda: pipec.torch.load_schedule(planned("one_f_one_b", MICROBATCHES, own), stage, loss_fn, MICROBATCHES))


(results,) = executors.run(2, [None], function=reordered)
assert not any(results), results
with tempfile.TemporaryDirectory() as folder:
    executors.run(2, [folder], function=runs)
