# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s
"""Executors run recomputations, copies to the host and optimizer steps at random places:
losses, outputs, gradients and parameters are those of the schedule without these steps,
and the units that are alive are as many as the report says."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import dataclasses
import os
import random
import sys
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.nn.parallel import DistributedDataParallel

import executors  # finds the package
import copied
import library
import pipec
import pipec.torch
import slices as sliced
import train as training
from pipec.torch import _copies, _worker

TOLERANCE = 1e-12
TIED = """\
schedule tied(ranks p, microbatches m) {
  placement loop;
  tie 0, stages - 1;
  warmup   { repeat m { F } }
  cooldown { repeat m { B } }
}
"""
FSDP = "strip-bubbles,inject-fsdp,insert-p2p{order=timed},detect-deadlock{model=stream}"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    params: dict
    seed: int = 0
    wrap: str | None = None
    passes: str | None = None
    scale_grads: bool = True
    #: How likely units are recomputed and copied.
    remade: float = 0.5
    copied: float = 0.5
    #: The stages exchange two tensors.
    places: bool = False
    #: The stages of a rank have one optimizer.
    shared: bool = False
    #: A part of the executor that is replaced.
    broken: str | None = None

    def plans(self, ranks):
        """The schedule without and with the new steps."""
        source = {"source": TIED} if self.name == "tied" else {}
        computes = pipec.compile(None if source else self.name, **source, ranks=ranks, **self.params)
        given = {"passes": self.passes} if self.passes else {"target": "pytorch"}
        text = copied.with_extras(computes, random.Random(self.seed), self.remade, self.copied)
        return [pipec.Schedule.from_steps(copied.with_extras(computes, random.Random(0), 0, 0, False), **given),
                pipec.Schedule.from_steps(text, **given)]


def make(mesh, plan, case):
    """An executor of a plan, its stages, and their optimizers."""
    rank, modules = mesh["pp"].get_local_rank(), list(copied.make_stages(plan.stages, case.places))
    mine = plan.stages_of(rank)
    for stage in mine:
        if case.wrap == "ddp":
            modules[stage] = DistributedDataParallel(modules[stage], process_group=mesh["dp"].get_group())
        elif case.wrap == "fsdp":
            for part in modules[stage].before, modules[stage]:
                fully_shard(part, mesh=mesh["dp"], reshard_after_forward=False)
    def optimizer_of(stages):
        return torch.optim.SGD([p for stage in stages for p in modules[stage].parameters()], lr=0.01, momentum=0.5)

    optimizers = dict.fromkeys(mine, optimizer_of(mine)) if case.shared else {stage: optimizer_of([stage]) for stage in mine}
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    updates = any(step[0] == pipec.Kind.UPDATE for step in plan.steps[rank])
    schedule = pipec.torch.executor(plan, parts, copied.loss_function, plan.microbatches, patience=20, scale_grads=case.scale_grads,
                                    optimizers=optimizers if updates else None)
    return schedule, {stage: modules[stage] for stage in mine}, optimizers, updates


@contextlib.contextmanager
def breaking(what):
    """Within it, a part of the executor is wrong."""
    def stay(memory):
        pass

    def zero(memory):
        memory.on_device.zero_()

    where = {"random": (_copies.Stash, "restored", lambda stash: contextlib.nullcontext()),
             "kept": (_copies.Memory, "drop", stay), "copied": (_copies.Memory, "enter", zero),
             "updated": (_worker.Worker, "_update", lambda worker, stage: None)}
    if what is None:
        yield
        return
    owner, name, function = where[what]
    with unittest.mock.patch.object(owner, name, function):
        yield


def train(mesh, case):
    """The problems of this process with a case, the largest difference, and how many
    steps there are of each new kind."""
    rank, found = mesh["pp"].get_local_rank(), []
    problems, worst = [], 0.0
    plans = case.plans(mesh["pp"].size())
    for plan in plans:
        schedule, modules, optimizers, updates = make(mesh, plan, case)
        x, target = copied.make_batch(plan.microbatches)
        first, last = any(ranks[0] == rank for ranks in plan.maps), any(ranks[-1] == rank for ranks in plan.maps)
        results = []
        with breaking(case.broken if plan is plans[1] else None):
            for step in range(2):
                losses = []
                for optimizer in optimizers.values():
                    optimizer.zero_grad()
                keywords = dict(target=target, losses=losses) if last else {}
                if step == 0:  # nothing of an evaluation stays
                    schedule.eval(*((x,) if first else ()), **keywords)
                torch.manual_seed(100 * step + torch.distributed.get_rank())
                copied.Live.marks, copied.Live.peak = [], 0
                outputs = schedule.step(*((x,) if first else ()), **keywords)
                if copied.Live.peak != plan.report().ranks[rank].peak:
                    problems.append(f"{copied.Live.peak} live units, and a peak of {plan.report().ranks[rank].peak}")
                if copied.Live.now():
                    problems.append(f"{copied.Live.now()} units outlive the step")
                if not updates:
                    for optimizer in set(optimizers.values()):
                        optimizer.step()
                if last:
                    results += [("losses", torch.stack(losses).detach()), ("outputs", outputs)]
                for stage, module in modules.items():
                    for parameter in module.parameters():
                        results.append((f"gradients of stage {stage}", training.whole(parameter.grad).clone()))
                        results.append((f"parameters of stage {stage}", training.whole(parameter.detach()).clone()))
        found.append(results)
    for (what, due), (_, ours) in zip(*found, strict=True):
        difference = sliced.difference(ours, due)
        worst = max(worst, difference)
        if not difference <= TOLERANCE:
            problems.append(f"{what}: {difference:g}")
    kinds = [pipec.Kind(int(step[0])).name for step in plans[1].steps[rank]]
    return problems, worst, {kind: kinds.count(kind) for kind in ("R", "OFFLOAD", "WAIT_OFFLOAD", "RELOAD", "UPDATE")}


def cases(ranks):
    plain = {"one_f_one_b": {}, "gpipe": {}, "zb1p": {}, "interleaved": {"chunks": 2}, "zbv": {}, "interleaved_zb": {"chunks": 2}}
    for seed in range(6 if library.ALL else 2):
        for name, more in plain.items():
            if ranks > 1 or name in ("gpipe", "zb1p"):
                yield Case(name, {"microbatches": 4, **more}, seed, scale_grads=seed % 2 == 0)
        for name, slices in ("gpipe", 4), ("seq1f1b", 2), ("zb1p", 2):
            units = {"gpipe": 8}.get(name, 4)
            params = {"microbatches": units, "slices": slices}
            yield Case(name, params, seed, scale_grads=seed % 2 == 0)
        if ranks > 1:
            yield Case("dualpipe" if ranks == 2 else "chimera", {"microbatches": 4}, seed)
            yield Case("tied", {"microbatches": 3}, seed)
            yield Case("interleaved_zb", {"chunks": 2, "microbatches": 4}, seed, places=True)
            yield Case("interleaved", {"chunks": 2, "microbatches": 4}, seed, shared=True)
        if ranks > 2:
            yield Case("zb1p", {"microbatches": 4, "args": ["--connect=0->2,1->3"]}, seed)
    for remade, copies in (1, 0), (0, 1), (1, 1):
        yield Case("zb1p", {"microbatches": 4}, 1, remade=remade, copied=copies)


def check(ranks, replicas, cases):
    count, worst, total = 0, 0.0, {}
    failed = False
    for case, results in zip(cases, executors.run(ranks, cases, replicas, function=train)):
        for rank, (problems, difference, kinds) in enumerate(results):
            count, worst = count + 1, max(worst, difference)
            for kind, number in kinds.items():
                total[kind] = total.get(kind, 0) + number
            if problems:
                failed = True
                print(f"{case} on {ranks} ranks: rank {rank}: {'; '.join(problems)}", flush=True)
    print(f"{count} runs on {ranks} ranks, the largest difference is {worst:g}; {total}", flush=True)
    assert not failed and all(total.values()), total


WRAPPED = [Case(name, {"microbatches": 4}, seed, wrap, passes) for seed in range(2)
           for name, wrap, passes in (("one_f_one_b", "ddp", None), ("zb1p", "ddp", None), ("zb1p", "fsdp", None),
                                      ("one_f_one_b", "fsdp", FSDP), ("zb1p", "fsdp", FSDP))]
if __name__ == "__main__":
    check(1, 1, list(cases(1)))
    check(2, 1, list(cases(2)))
    check(4, 1, list(cases(4)))
    check(2, 2, WRAPPED)
    # What is wrong shows.
    broken = [Case("zb1p", {"microbatches": 4}, 1, remade=1, copied=1, broken=what)
              for what in ("random", "kept", "copied", "updated")]
    for case, results, text in zip(broken, executors.run(2, broken, function=train),
                                   ("gradients of stage", "live units", "gradients of stage", "parameters of stage")):
        assert all(any(text in problem for problem in problems) for problems, _, _ in results), (case, results)
