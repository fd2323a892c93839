# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s
"""Executors of schedules with slices: losses and gradients are those of whole sequences,
for equal and unequal slices, whole and split backwards, and no rank keeps more than the
report says."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.nn.parallel import DistributedDataParallel

import executors
import pipec
import pipec.torch
import slices as sliced
import train as training
from executors import refuse

TOLERANCE = 1e-12

# The micro-batches of these programs are slices.
PROGRAMS = """\
schedule zero_bubble(ranks p = 2, microbatches n = 8, sliced s = 4) {
  placement loop;
  let w = min(n, p - 2 - rank + s);
  warmup   { repeat w { F } }
  steady   { for i in 0..n - w { F I if i >= rank { W } } }
  cooldown { for i in n - w..n { I if i >= rank { W } } W* }
}
schedule vee(ranks p = 2, microbatches n = 8, sliced s = 4) {
  placement v(2);
  warmup   { repeat n { F[0] } repeat n { F[1] } }
  cooldown { repeat n { B[1] } repeat n { B[0] } }
}
schedule two_ways(ranks p = 2, microbatches n = 8, sliced s = 4) {
  placement bidirectional;
  let h = n / 2;
  warmup   { repeat h { F[rank % 2] } repeat h { F[1 - rank % 2] } }
  cooldown { repeat h { B[1 - rank % 2] } repeat h { B[rank % 2] } }
}
"""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    slices: int
    lengths: tuple[int, ...] | None = None
    microbatches: int = 2
    wrap: str | None = None
    passes: str | None = None

    def compile(self, ranks):
        units = self.microbatches * self.slices
        sizes = {} if self.name in ("gpipe", "seq1f1b") else {"sliced": self.slices}
        return pipec.compile(None if sizes else self.name, source=PROGRAMS if sizes else None, ranks=ranks,
                             target=None if self.passes else "pytorch", passes=self.passes, slices=self.slices, **sizes,
                             microbatches=self.microbatches if self.name == "seq1f1b" else units,
                             args=[f"--schedule={self.name}", "-Wno-unused-parameter"] if sizes else [])


def make(mesh, plan, wrap, **options):
    rank, modules = mesh["pp"].get_local_rank(), list(sliced.make_stages(plan.stages))
    for stage in plan.stages_of(rank):
        if wrap == "ddp":
            modules[stage] = DistributedDataParallel(modules[stage], process_group=mesh["dp"].get_group())
        elif wrap == "fsdp":
            for part in *modules[stage].layers, modules[stage]:
                fully_shard(part, mesh=mesh["dp"], reshard_after_forward=False)
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group())
             for s in plan.stages_of(rank)]
    return pipec.torch.executor(plan, parts, sliced.loss_function, plan.microbatches, patience=20, **options), rank, modules


def train(mesh, case):
    """The problems of this process with a case, and the largest difference."""
    plan = case.compile(mesh["pp"].size())
    assert (plan.slices, plan.microbatches, plan.units) == (case.slices, case.microbatches, case.slices * case.microbatches)
    schedule, rank, modules = make(mesh, plan, case.wrap, slice_lengths=case.lengths)
    losses_due, outputs_due, gradients_due = sliced.reference(plan.stages, plan.microbatches)
    x, positions, target = sliced.make_batch(plan.microbatches)
    first, last = any(ranks[0] == rank for ranks in plan.maps), [ranks[-1] == rank for ranks in plan.maps]
    peak = plan.report().ranks[rank].peak
    problems, worst = [], 0.0

    def compare(what, ours, theirs):
        nonlocal worst
        found = sliced.difference(ours, theirs)
        worst = max(worst, found)
        if not found <= TOLERANCE:
            problems.append(f"{what}: {found:g}")

    half = plan.microbatches // 2
    due = slice(half * (not last[0]), half if not last[-1] else None) if len(last) == 2 else slice(None)
    for step in range(2):
        losses = []
        keywords = dict(target=target, losses=losses) if any(last) else {}
        if step == 0:  # nothing of an evaluation stays
            schedule.eval(*((x, positions) if first else ()), **keywords)
        for module in modules:
            module.zero_grad()
        sliced.forget()
        outputs = schedule.step(*((x, positions) if first else ()), **keywords)
        if any(last):
            compare("losses", torch.stack(losses).detach().unflatten(0, (-1, plan.slices)).sum(1), losses_due[due])
            compare("outputs", outputs, outputs_due.unflatten(0, (plan.microbatches, -1))[due].flatten(0, 1))
        for stage in plan.stages_of(rank):
            for parameter, gradient in zip(modules[stage].parameters(), gradients_due[stage], strict=True):
                compare(f"gradients of stage {stage}", training.whole(parameter.grad), gradient)
        if sliced.Held.peak > peak:
            problems.append(f"{sliced.Held.peak} live units, and a peak of {peak}")
        if sliced.Held.live:
            problems.append(f"{len(sliced.Held.live)} units outlive the step")
    return problems, worst


CASES = [Case(name, s, lengths, microbatches) for name in ("gpipe", "seq1f1b", "zero_bubble")
         for s, lengths, microbatches in [(1, None, 2), (2, None, 3), (4, None, 2), (3, (6, 1, 5), 2), (4, (1, 2, 3, 6), 2)]]
TWO = [Case(name, 4, lengths) for name in ("vee", "two_ways") for lengths in (None, (5, 4, 2, 1))]
FSDP = "strip-bubbles,inject-fsdp,insert-p2p{order=timed},detect-deadlock{model=stream}"
WRAPPED = [Case(name, 4, wrap=wrap, passes=passes) for name in ("seq1f1b", "zero_bubble")
           for wrap, passes in (("ddp", None), ("fsdp", None), ("fsdp", FSDP))]
failed, worst, count = False, 0.0, 0
for ranks, replicas, cases in (1, 1, CASES), (2, 1, CASES + TWO), (3, 1, CASES[-6:]), (2, 2, WRAPPED):
    for case, results in zip(cases, executors.run(ranks, cases, replicas, function=train)):
        for rank, (problems, difference) in enumerate(results):
            worst, count = max(worst, difference), count + 1
            if problems:
                failed = True
                print(f"{case} on {ranks} ranks: rank {rank}: {'; '.join(problems)}", flush=True)
print(f"{count} runs, the largest difference is {worst:g}")
assert not failed and 0 < worst < TOLERANCE


class Often(torch.nn.Module):
    """A stage that extends as often as `counts` says of its slice."""

    def __init__(self, counts):
        super().__init__()
        self.counts, self.layer = counts, torch.nn.Linear(1, 1)

    def forward(self, x):
        for _ in range(self.counts[pipec.torch.context().slice]):
            pipec.torch.context().extend(x)
        return self.layer(x)


def refusals(mesh, case):
    """What is wrong, on one rank."""
    def run(plan, module, x=torch.ones(2, 4, 1), loss_fn=lambda y, t: y.sum(), **options):
        part = PipelineStage(module, 0, 1, torch.device("cpu"), group=mesh["pp"].get_group())
        pipec.torch.executor(plan, part, loss_fn, 1, **options).step(x, target=x)

    plan = pipec.compile("gpipe", target="pytorch", ranks=1, microbatches=2, slices=2)
    handled = []
    part = PipelineStage(Often([1, 1]), 0, 1, torch.device("cpu"), group=mesh["pp"].get_group())
    schedule = pipec.torch.executor(plan, part, lambda y, t: y.sum(), 1)
    schedule.handle("B", lambda step: (handled.append((str(step), step.microbatch, step.slice)), step.proceed()))
    schedule.step(torch.ones(2, 4, 1), target=torch.ones(2, 4, 1))
    assert handled == [("B s0 m0.1", 0, 1), ("B s0 m0.0", 0, 0)], handled

    # Another schedule cuts sequences in the same way.
    lengths = []
    part.submod.register_forward_pre_hook(lambda _, args: lengths.append(args[0].shape[1]))
    schedule = pipec.torch.executor(plan, part, lambda y, t: y.sum(), 1, slice_lengths=[1, 3])
    other = pipec.compile("gpipe", target="pytorch", ranks=1, microbatches=4, slices=2)
    schedule.run(other, torch.ones(2, 4, 1), target=torch.ones(2, 4, 1))
    assert lengths == [1, 3, 1, 3], lengths

    refuse("slice 1 extends 1 times, slice 0 2 times", lambda: run(plan, Often([2, 1])))
    refuse("slice 1 extends more often than slice 0, 2 times", lambda: run(plan, Often([1, 2])))
    refuse("called outside of the forward of a stage",
           lambda: run(plan, Often([1, 1]), loss_fn=lambda y, t: pipec.torch.context()))
    refuse("slice_lengths has 3 lengths, the schedule 2 slices", lambda: run(plan, Often([1, 1]), slice_lengths=[1, 1, 2]))
    refuse("slice_lengths has a slice of length 0", lambda: run(plan, Often([1, 1]), slice_lengths=[0, 4]))
    refuse("arguments: slice_lengths adds up to 5, and the sequence has length 4",
           lambda: run(plan, Often([1, 1]), slice_lengths=[2, 3]))
    whole = pipec.compile("gpipe", target="pytorch", ranks=1, microbatches=1)
    refuse("slice_lengths has no effect on a schedule without slices", lambda: run(whole, Often([1]), slice_lengths=[4]))
    refuse("arguments: a sequence of length 1 has fewer than 2 slices", lambda: run(plan, Often([1, 1]), slice_dim=2))
    refuse("arguments: a tensor of shape [2, 4, 1] has no dimension 3", lambda: run(plan, Often([1, 1]), slice_dim=3))
    refuse("gpipe has 1 micro-batches, the job 2", lambda: pipec.torch.executor(plan, part, None, 2))
    assert pipec.torch.context().slices == 1 and pipec.torch.context().extend(1, 2) == (1, 2)

    # Backwards in the order of the forwards leave gradients out.
    for order, message in [("F0 F1 F2 B0 B1 B2", "slice 0 runs its backward before 2 uses by later slices"),
                           ("F0 F1 F2 B2 B0 B1", "slice 0 runs its backward before 1 use by later slices"),
                           ("F0 F1 B1 F2 B2 B0", "slice 2 runs its forward after the backward of slice 1"),
                           ("F0 B0 F1 F2 B2 B1", "slice 1 runs its forward where slice 0 is due"),
                           ("F0 F2 F1 B2 B1 B0", "slice 2 runs its forward where slice 1 is due")]:
        steps = [f"{step[0]} s0 m0.{step[1]}" for step in order.split()]
        text = "\n".join(["pipec-steps 2", "schedule @wrong { ranks 1 stages 1 microbatches 1 slices 3", "  map 0", "  rank 0 {",
                          *steps, "  }", "}"])
        wrong = pipec.Schedule(text)
        source = pipec.torch._source.Source(wrong.emit("python", "--verify=none", "--passes="), "wrong")
        part = PipelineStage(Attends(), 0, 1, torch.device("cpu"), group=mesh["pp"].get_group())
        options = dict(communicators="one", scale_grads=True, args_chunk_spec=None, kwargs_chunk_spec=None,
                       output_merge_spec=None, patience=2, receives_ahead=None, tied_parameters=None)
        schedule = pipec.torch.Executor(wrong, source, [part], lambda y, t: y.sum(), **options)
        refuse(message, lambda: schedule.step(torch.ones(2, 4, 1), target=torch.ones(2, 4, 1)))


class Attends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x):
        return x + pipec.torch.context().extend(self.layer(x)).sum(-2, keepdim=True)


def disagreement(mesh, case):
    """The ranks cut sequences in the same way, or none of them begins."""
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile("seq1f1b", target="pytorch", ranks=2, microbatches=1, slices=2)
    refuse("the ranks have different schedules", lambda: make(mesh, plan, None, slice_lengths=[6, 6] if rank else [4, 8]))
    refuse("the ranks have different schedules", lambda: make(mesh, plan, None, slice_dim=1 + rank))
    refuse("slice_lengths has 1 lengths" if rank else "rank 1 has no schedule: slice_lengths has 1 lengths",
           lambda: make(mesh, plan, None, slice_lengths=[12] if rank else [4, 8]))
    make(mesh, plan, None, slice_lengths=[4, 8] if rank else (4, 8))


executors.run(1, [None], function=refusals)
executors.run(2, [None], function=disagreement)
