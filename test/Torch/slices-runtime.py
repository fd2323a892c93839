# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %torch-python %s
"""PyTorch's own runtime runs the slices of a schedule as micro-batches, from a CSV of
units: losses and gradients are those of whole sequences. The context of a stage is its
own."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

import executors
import pipec
import pipec.torch
import slices as sliced

MICROBATCHES, SLICES = 3, 4
UNITS = MICROBATCHES * SLICES


class Units(torch.nn.Module):
    """A stage of which a call runs one unit."""

    def __init__(self, stage):
        super().__init__()
        self.stage, self.contexts = stage, {}

    def forward(self, x, *, unit, positions):
        microbatch, number = divmod(int(unit), SLICES)
        if number == 0:  # also where PyTorch runs unit 0 once more, to find shapes
            self.contexts[microbatch] = pipec.torch.Context(SLICES)
            assert repr(self.contexts[microbatch]) == f"<pipec.torch.Context: slice 0 of {SLICES}>"
        with self.contexts[microbatch].running(number):
            return self.stage(x, positions) if self.stage.first else self.stage(x)


def as_units(whole):
    """Sequences as (micro-batch, slice) along the first dimension."""
    return torch.cat([part for sequences in whole.chunk(MICROBATCHES) for part in sequences.chunk(SLICES, 1)])


def parts_of(mesh, modules, stages):
    rank = mesh["pp"].get_local_rank()
    return [PipelineStage(Units(modules[s]), s, stages, torch.device("cpu"), group=mesh["pp"].get_group())
            for s in range(stages) if s % mesh["pp"].size() == rank]


def loss_function(logits, target):
    return sliced.loss_function(logits, target) / MICROBATCHES


def train(mesh, name):
    """The problems of this process."""
    ranks, rank = mesh["pp"].size(), mesh["pp"].get_local_rank()
    plan = pipec.compile(name, target=pipec.torch.fitting_target(), ranks=ranks, slices=SLICES,
                         microbatches=MICROBATCHES if name == "seq1f1b" else UNITS)
    assert (plan.microbatches, plan.slices) == (MICROBATCHES, SLICES)
    modules = sliced.make_stages(plan.stages)
    schedule = _PipelineScheduleRuntime(parts_of(mesh, modules, plan.stages), n_microbatches=UNITS, loss_fn=loss_function,
                                        scale_grads=False)
    file = f"{name}-{ranks}-{rank}.csv"
    plan.write_csv(file)
    schedule._load_csv(file, format="compute_comms")
    losses_due, outputs_due, gradients_due = sliced.reference(plan.stages, MICROBATCHES)
    x, positions, target = map(as_units, sliced.make_batch(MICROBATCHES))
    problems = []

    def compare(what, ours, theirs):
        if not sliced.difference(ours, theirs) <= 1e-12:
            problems.append(f"{what}: {sliced.difference(ours, theirs):g}")

    for _ in range(2):
        losses = []
        modules.zero_grad()
        schedule.step(*((x,) if rank == 0 else ()), unit=torch.arange(UNITS), positions=positions,
                      **(dict(target=target, losses=losses) if rank == ranks - 1 else {}))
        if rank == ranks - 1:
            compare("losses", torch.stack(losses).detach().unflatten(0, (-1, SLICES)).sum(1) * MICROBATCHES, losses_due)
        for stage in plan.stages_of(rank):
            for parameter, gradient in zip(modules[stage].parameters(), gradients_due[stage], strict=True):
                compare(f"gradients of stage {stage}", parameter.grad, gradient)
    # The same in one call.
    loaded = pipec.torch.load_schedule(plan, parts_of(mesh, modules, plan.stages), loss_function, UNITS, scale_grads=False)
    assert loaded.pipeline_order_with_comms == schedule.pipeline_order_with_comms
    return problems


def split(mesh, _):
    """Split backwards leave out the gradients of the context, which the context tells."""
    modules = sliced.make_stages(2)
    schedule = _PipelineScheduleRuntime(parts_of(mesh, modules, 2), n_microbatches=UNITS, loss_fn=loss_function, scale_grads=False)
    steps = [f"{stage}F{unit}" for stage in range(2) for unit in range(UNITS)]
    steps += [f"{stage}{kind}{m * SLICES + SLICES - 1 - k}" for stage in (1, 0) for m in range(MICROBATCHES)
              for k in range(SLICES) for kind in "IW"]
    with open("split.csv", "w", encoding="utf-8") as file:
        file.write(",".join(steps) + "\n")
    schedule._load_csv("split.csv", format="compute_only")
    x, positions, target = map(as_units, sliced.make_batch(MICROBATCHES))
    try:
        schedule.step(x, unit=torch.arange(UNITS), positions=positions, target=target)
    except RuntimeError as error:
        assert f"slice {SLICES - 2} runs its backward before 1 use by later slices" in f"{error} {error.__cause__}", error
        return True
    return False


failed = False
for ranks, names in (2, ["gpipe", "seq1f1b"]), (4, ["seq1f1b"]):
    for name, results in zip(names, executors.run(ranks, names, function=train)):
        for rank, problems in enumerate(results):
            if problems:
                failed = True
                print(f"{name} on {ranks} ranks: rank {rank}: {'; '.join(problems)}", flush=True)
assert not failed
assert executors.run(1, [None], function=split) == [(True,)], "a split backward"
