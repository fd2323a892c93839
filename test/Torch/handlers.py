# RUN: %torch-python %s
"""Handlers with data: steps that a handler does itself, the flags of steps, overlaps; and
failures, which name the step, its tensors and the line on every rank, at once."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import model
import pipec.torch


def make(mesh, name="one_f_one_b", modules=None, **options):
    rank, ranks = mesh["pp"].get_local_rank(), mesh["pp"].size()
    plan = pipec.compile(name, target="pytorch", ranks=ranks, microbatches=4)
    parts = [PipelineStage(model.make_stage(s, plan.stages) if modules is None else modules[s], s, plan.stages, torch.device("cpu"),
                           group=mesh["pp"].get_group()) for s in plan.stages_of(rank)]
    return plan, rank, parts, pipec.torch.executor(plan, parts, model.loss_function, 4, **options)


def step(plan, rank, schedule):
    x, target = model.make_data(4, 0)[0]
    schedule.step(*((x,) if plan.maps[0][0] == rank else ()), **(dict(target=target) if plan.maps[0][-1] == rank else {}))


def check(plan, parts):
    expected = model.reference(plan.stages, 4)[0][1]
    for part in parts:
        for parameter, gradient in zip(part.submod.parameters(), expected[part.stage_index], strict=True):
            assert model.close(parameter.grad, gradient), (plan.name, part.stage_index)


def own(mesh, name):
    """Every compute step is done by a handler."""
    plan, rank, parts, schedule = make(mesh, name)
    modules = {part.stage_index: part.submod for part in parts}
    flags = []

    def forward(step):
        assert all(isinstance(value, torch.Tensor) for value in step.inputs)
        step.finish(modules[step.stage](*step.inputs, **step.kwargs))
        assert step.outputs and step.first == (step.microbatch == 0) and not step.last_backward

    def backward(step):
        torch.autograd.backward(step.outputs, step.output_gradients)
        flags.append((step.stage, step.first, step.last_backward))
        step.finish()

    schedule.handle("F", forward)
    for kind in "B", "I":
        schedule.handle(kind, backward)
    schedule.handle("W", lambda step: (flags.append((step.stage, step.first, step.last_backward)), step.finish()))
    for _ in range(2):
        for part in parts:
            part.submod.zero_grad()
        step(plan, rank, schedule)
        check(plan, parts)
    for part in parts:
        of = [entry for entry in flags if entry[0] == part.stage_index]
        assert sum(first for _, first, _ in of) == sum(last for *_, last in of) == 2, of

    # Gradients may be given, and looked at; sends too.
    _, _, parts, schedule = make(mesh, name)
    sent = []

    def given(step):
        wanted = [value for value in step.inputs if value.requires_grad]
        weights = [parameter for parameter in modules_of(step).parameters()]
        found = torch.autograd.grad(step.outputs, [*wanted, *weights], step.output_gradients)
        for weight, gradient in zip(weights, found[len(wanted):]):
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
        step.finish(*found[:len(wanted)])
        assert all(gradient is not None for gradient in step.input_gradients)

    def modules_of(step):
        return next(part.submod for part in parts if part.stage_index == step.stage)

    for kind in "B", "I":
        schedule.handle(kind, given)
    schedule.handle("W", lambda step: step.finish())
    schedule.handle("SEND_F", lambda step: (sent.extend(step.outputs), step.proceed()))
    step(plan, rank, schedule)
    check(plan, parts)
    assert bool(sent) == any(send[0] == pipec.Kind.SEND_F for send in plan.steps[rank])


def overlaps(mesh, case):
    """(Without CUDA, in sequence.)"""
    plan, rank, parts, schedule = make(mesh, "one_f_one_b_overlap")
    schedule.handle("OVERLAP", pipec.torch.overlap_streams())
    step(plan, rank, schedule)
    check(plan, parts)


def undone(mesh, case):
    plan, rank, parts, schedule = make(mesh)
    schedule.handle("F", lambda step: None)
    try:
        step(plan, rank, schedule)
    except RuntimeError as error:
        assert f"the handler of F s{rank} m0 has called neither `proceed` nor `finish`" in str(error), error
    else:
        raise AssertionError("it ended")


class Bad(nn.Module):
    """Fails in the third of its calls."""

    def __init__(self):
        super().__init__()
        self.linear, self.calls = nn.Linear(4, 4), 0

    def forward(self, x):
        self.calls += 1
        if self.calls == 3:
            raise KeyError("boom in forward")
        return self.linear(x)


def failure(mesh, case):
    """Rank 1 fails and lives; the others notice at once."""
    ranks = mesh["pp"].size()
    modules = [Bad() if s == 1 else nn.Linear(4, 4) for s in range(ranks)]
    rank = mesh["pp"].get_local_rank()
    part = PipelineStage(modules[rank], rank, ranks, torch.device("cpu"), group=mesh["pp"].get_group())
    schedule = pipec.torch.executor("one_f_one_b", part, nn.functional.mse_loss, 8)
    x, target = torch.randn(16, 4), torch.randn(16, 4)
    begin = time.monotonic()
    try:
        schedule.step(*((x,) if rank == 0 else ()), **(dict(target=target) if rank == ranks - 1 else {}))
    except (KeyError, RuntimeError) as error:
        text = "".join(traceback.format_exception(error))
        waited = time.monotonic() - begin
    else:
        raise AssertionError("it ended")
    if rank == 1:
        assert "KeyError: 'boom in forward'" in text, text
        if sys.version_info >= (3, 11):
            assert "rank 1, F s1 m2, arguments float32[2, 4], one_f_one_b.pipe:" in text, text
        time.sleep(8)  # it lives
    else:
        assert waited < 6, waited
        assert "rank 1 failed: KeyError: 'boom in forward' (F s1 m2, arguments float32[2, 4], one_f_one_b.pipe:" in text, text


for name in "one_f_one_b", "zb1p", "zbv":
    executors.run(2, [name], function=own)
executors.run(2, [None], function=overlaps)
executors.run(2, [None], function=undone)
executors.run(3, [None], function=failure)
