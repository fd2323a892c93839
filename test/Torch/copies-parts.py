# RUN: %torch-python %s
"""Parts of executors with recomputations, copies to the host and optimizer steps: what is
copied and what is not, handlers, profiles, the context of a repeated forward, and what is
refused."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys
import unittest.mock
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.utils.checkpoint import checkpoint

import executors
import pipec
import pipec.torch
from executors import refuse
from pipec.torch import _copies
from pipec.torch._copies import Copies, Saved, Streams

CPU = torch.device("cpu")


# ---------------------------------------------------------------- copies

# Tensors that share memory are copied once, to other memory, and share it again.
copies = Copies(Streams(CPU))
base = torch.arange(12.0, dtype=torch.float64)
complex_base = torch.randn(3, dtype=torch.complex128)
values = [base, base.view(3, 4).t(), base[3:5], complex_base, complex_base.conj(), complex_base.conj().imag, torch.tensor(2.5),
          torch.empty(0, 3), torch.ones(1).expand(4)]
assert values[4].is_conj() and values[5].is_neg()
expected = [value.clone() for value in values]
kept = [copies.keep(value) for value in values]
memories = list(copies._memories)
assert len(memories) == 5, len(memories)
where = values[0].data_ptr()
copies.leave()
assert all(memory._on_host.data_ptr() != memory.on_device.data_ptr() for memory in memories if memory._size)
copies.drop()
refuse("is on the host", kept[0].get)
base.fill_(-1)  # nothing of the copies is here
complex_base.fill_(-1)
copies.enter()
again = [one.get() for one in kept]
for value, due in zip(again, expected, strict=True):
    assert value.dtype == due.dtype and value.shape == due.shape and torch.equal(value, due), (value, due)
assert [value.stride() for value in again] == [value.stride() for value in values]
assert again[0].data_ptr() != where and again[2].data_ptr() == again[0].data_ptr() + 3 * 8
assert again[4].is_conj() and again[5].is_neg()
# A second time; what nothing needs is not kept.
copies.leave()
copies.drop()
copies.enter()
assert torch.equal(kept[1].get(), expected[1])
del kept, memories, again
assert not copies._memories and not copies._known
# A sparse tensor stays where it is.
sparse = Copies(Streams(CPU)).keep(torch.eye(2).to_sparse())
assert sparse._memory is None and sparse.get().is_sparse
# A tensor that has changed is not copied, and not given.
changed = torch.ones(2)
copies, stays = Copies(Streams(CPU)), Saved(changed, None)
kept = copies.keep(changed)
changed.add_(1)
for get in copies.leave, kept.get, stays.get:
    refuse("modified by an inplace operation: a tensor of shape [2] is at version 1, and was kept for the backward at version 0", get)

# The order of what streams do on a device that has them.
log = []


class Stream:
    def __init__(self, name):
        self.name = name

    def wait_stream(self, other):
        log.append(f"{self.name} waits for {other.name}")

    def wait_event(self, event):
        log.append(f"{self.name} waits for {event}")

    def record_event(self):
        log.append(f"{self.name} ends a copy")
        return f"the copy on {self.name}"

    def __enter__(self):
        log.append(f"on {self.name}:")

    def __exit__(self, *_):
        pass


def logged(name):
    do = getattr(_copies.Memory, name)
    return unittest.mock.patch.object(_copies.Memory, name, lambda memory: (log.append(name), do(memory)))


streams = Streams(CPU)
streams.out, streams.back, compute = Stream("out"), Stream("back"), Stream("compute")
with unittest.mock.patch("torch.cuda.current_stream", lambda device: compute), \
        unittest.mock.patch("torch.cuda.stream", lambda stream: stream), \
        logged("leave"), logged("drop"), logged("allocate"), logged("enter"):
    copies = Copies(streams)
    kept = copies.keep(torch.ones(3))
    for do in copies.leave, copies.drop, copies.enter, kept.get:
        do()
assert log == ["out waits for compute", "on out:", "leave", "out ends a copy", "compute waits for the copy on out", "drop",
               "allocate", "back waits for compute", "back waits for the copy on out", "on back:", "enter", "back ends a copy",
               "compute waits for the copy on back"], log

# An empty tensor in the place of another.
whole = torch.ones(3, 4, requires_grad=True)
hollow = _copies.hollow(whole)
assert hollow.shape == (3, 4) and hollow.untyped_storage().nbytes() == 4 and not hollow._is_view()
root = _copies.instead(whole * 2, hollow)
root.backward(torch.full((3, 4), 5.0))
assert torch.equal(whole.grad, torch.full((3, 4), 10.0))
assert _copies.hollow(torch.tensor(1.0)).shape == () and _copies.hollow(torch.empty(0, 2)).shape == (0, 2)


# ---------------------------------------------------------------- contexts

def attend(context, number, x):
    with context.running(number):
        joined = context.extend(x)
    return (joined.sum(-2) * (number + 1.0)).square().sum()


def gradients(again):
    """The gradients of three slices where those in `again` run twice."""
    context = pipec.torch.Context(3)
    inputs = [torch.arange(2.0).view(1, 2).add(k).requires_grad_() for k in range(3)]
    losses = {}
    for number, x in enumerate(inputs):
        with torch.set_grad_enabled(number not in again):
            losses[number] = attend(context, number, x.detach() if number in again else x)
    for number in reversed(range(3)):
        if number in again:
            losses[number] = attend(context, number, inputs[number])
        losses[number].backward()
        context.leave(number)
    return [x.grad for x in inputs]


due = gradients(())
assert all(value.abs().max() > 1 for value in due)
for again in (0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2):
    assert all(map(torch.equal, gradients(again), due)), again
context = pipec.torch.Context(2)
attend(context, 0, torch.ones(1, 2))
refuse("slice 1 runs its forward after the backward of slice 0", lambda: (context.leave(0), attend(context, 1, torch.ones(1, 2))))


# ---------------------------------------------------------------- executors

class Stage(nn.Module):
    def __init__(self, function=None):
        super().__init__()
        torch.manual_seed(1)
        self.one, self.two = nn.Linear(3, 3).double(), nn.Linear(3, 3).double()
        self.register_buffer("scale", torch.full((3,), 2.0, dtype=torch.float64))
        self.function = function

    def forward(self, x):
        if self.function:
            x = self.function(x)
        return checkpoint(self.two, self.one(x).tanh() * self.scale, use_reentrant=False).sin()


def plan_of(steps, ranks=1):
    return pipec.Schedule.from_steps([steps.split()] if ranks == 1 else steps, microbatches=2, target="pytorch")


def make(mesh, plan, module, loss_fn=lambda y, t: (y - t).square().sum(), **options):
    rank = mesh["pp"].get_local_rank()
    part = PipelineStage(module, rank, plan.stages, CPU, group=mesh["pp"].get_group())
    return pipec.torch.executor(plan, part, loss_fn, 2, **options)


PLAIN = "F0 F1 B0 B1"
EXTRAS = "F0 OFFLOAD0 F1 WAIT_OFFLOAD0 OFFLOAD1 WAIT_OFFLOAD1 RELOAD1 R1 RELOAD0 B0 OFFLOAD1 WAIT_OFFLOAD1 RELOAD1 B1 UPDATE"


def one_rank(mesh, _):
    x, target = torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    results = []
    for steps in PLAIN, EXTRAS:
        module = Stage()
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        schedule = make(mesh, plan_of(steps), module, optimizers={0: optimizer} if "UPDATE" in steps else None)
        losses = []
        schedule.step(x, target=target, losses=losses)
        if "UPDATE" not in steps:
            optimizer.step()
        results.append([*losses, *(p.grad for p in module.parameters()), *module.parameters()])
    assert all(torch.allclose(*pair, rtol=1e-12, atol=0) for pair in zip(*results, strict=True))

    # Parameters, buffers and the batch are not copied; everything else is.
    copied, called, handled = [], [], []

    def keep(copies, tensor, do=Copies.keep):
        copied.append(tensor)
        return do(copies, tensor)

    Copies.keep, before = keep, Copies.keep
    module = Stage()
    schedule = make(mesh, plan_of(EXTRAS), module, lambda y, t: (called.append(None), (y - t).square().sum())[1],
                    optimizers={0: torch.optim.SGD(module.parameters(), lr=0.1)})
    for kind in "R", "OFFLOAD", "WAIT_OFFLOAD", "RELOAD", "UPDATE":
        schedule.handle(kind, lambda step: (handled.append(str(step)), step.proceed()))
    schedule.eval(x, target=target)
    assert not copied and not handled and len(called) == 2
    schedule.step(x, target=target)
    Copies.keep = before
    outside = {_copies.storage_of(value) for value in (x, target, *module.parameters(), *module.buffers())}
    assert copied and not outside & {_copies.storage_of(value) for value in copied}
    assert len(called) == 4, called  # once for each micro-batch
    assert handled == ["OFFLOAD s0 m0", "WAIT_OFFLOAD s0 m0", "OFFLOAD s0 m1", "WAIT_OFFLOAD s0 m1", "RELOAD s0 m1", "R s0 m1",
                       "RELOAD s0 m0", "OFFLOAD s0 m1", "WAIT_OFFLOAD s0 m1", "RELOAD s0 m1", "UPDATE s0"], handled
    for part in schedule._worker.all_parts():
        assert not (part.kept or part.split or part.stashes or part.copies)

    # Members of an overlap.
    overlap = pipec.Schedule.from_steps([["F0", ("R0", "F1"), "B0", "B1"]], target="pytorch")
    module, members = Stage(), []
    overlapped = make(mesh, overlap, module)
    overlapped.step(x, target=target)
    assert all(torch.allclose(p.grad, due, rtol=1e-12) for p, due in zip(module.parameters(), results[0][2:]))
    overlapped.handle("OVERLAP", lambda steps: [(members.append(str(step)), step.wait(), step.proceed()) for step in reversed(steps)])
    overlapped.step(x, target=target)
    assert members == ["F s0 m1", "R s0 m0"], members
    assert all(torch.allclose(p.grad, 2 * due, rtol=1e-12) for p, due in zip(module.parameters(), results[0][2:]))

    # Spans of a profile have the cells of all steps.
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        schedule.step(x, target=target)
    spans = [event.name.removeprefix("PP:") for event in profiled.events() if event.name.startswith("PP:")]
    assert sorted(spans) == sorted(schedule.plan.csv.strip().split(",")), spans

    # The tensors of a step that autograd saves must not change, nor arguments before a recomputation.
    refuse("modified by an inplace operation", lambda: make(mesh, plan_of("F0 OFFLOAD0 WAIT_OFFLOAD0 RELOAD0 B0 F1 B1"), Stage(
        lambda x: ((y := x.requires_grad_(False) * 2).requires_grad_().sin(), y.detach().add_(1))[0])).step(x, target=target))
    refuse("the forward of stage 0 changes its arguments, and m1 is recomputed from them",
           lambda: make(mesh, plan_of("F0 B0 F1 R1 B1"), Stage(lambda x: x.add_(1))).step(x.clone(), target=target))
    make(mesh, plan_of("F0 B0 F1 B1"), Stage(lambda x: x.add_(1))).step(x.clone(), target=target)

    refuse("optimizers: steps has an UPDATE of stage 0, and no optimizer for it is given",
           lambda: make(mesh, plan_of("F0 F1 B0 B1 UPDATE"), Stage()), ValueError)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(mesh, plan_of(PLAIN), Stage(), optimizers={0: torch.optim.SGD(Stage().parameters())})
    assert ["steps has no UPDATE, so the executor does not run the optimizers; the pass `inject-update` adds it"] == \
        [str(warning.message) for warning in caught]
    return True


def two_ranks(mesh, _):
    """A missing optimizer is an error on all ranks."""
    rank = mesh["pp"].get_local_rank()
    plan = plan_of([["F0", "F1", "B0", "B1", "UPDATE"]] * 2, 2)
    module = Stage()
    optimizers = {0: torch.optim.SGD(module.parameters())} if rank == 0 else None
    if rank == 0:
        refuse("rank 1 has no schedule: optimizers: steps has an UPDATE of stage 1, and no optimizer",
               lambda: make(mesh, plan, module, optimizers=optimizers), RuntimeError)
    else:
        refuse("optimizers: steps has an UPDATE of stage 1, and no optimizer for it is given",
               lambda: make(mesh, plan, module, optimizers=optimizers), ValueError)
    both = pipec.Schedule.from_steps([["0F0", "2F0", "2B0", "0B0", "0UPDATE", "2UPDATE"], ["1F0", "3F0", "3B0", "1B0", "1UPDATE", "3UPDATE"]],
                                     stages=4, target="pytorch")
    parts = [PipelineStage(Stage(), stage, 4, CPU, group=mesh["pp"].get_group()) for stage in both.stages_of(rank)]
    refuse(f"an UPDATE of each of the stages {rank}, {rank + 2}, and no optimizer", lambda: pipec.torch.executor(both, parts, None, 1))
    return True


if __name__ == "__main__":
    assert executors.run(1, [None], function=one_rank) == [(True,)]
    assert executors.run(2, [None], function=two_ranks) == [(True, True)]
