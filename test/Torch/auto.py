# RUN: %torch-python %s
"""A job that looks for a better list while it trains: it switches to a faster one, returns
from one that is slower than predicted, and trains on whatever fails."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import copy
import logging
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.nn.parallel import DistributedDataParallel

import alone
import executors
import pipec
import pipec.torch

lock = alone.wait()

WIDTH, MICROBATCHES, AFTER, MOST, TRIES = 4, 6, 3, 2000, 3
#: How long the forward of each stage sleeps, in milliseconds; its backward takes twice as long.
UNEQUAL = [4, 30, 4, 4, 4, 12]
TOLERANCE = 0.15


class Sleep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, stage):
        ctx.stage = stage
        time.sleep(stage.pause())
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(2 * ctx.stage.pause())
        return gradient.clone(), None


class Stage(nn.Module):
    """A layer that sleeps; for longer while `slows` is true."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.slows = seconds, lambda: False
        self.layer = nn.Linear(WIDTH, WIDTH)

    def pause(self):
        return self.seconds * (1.5 if self.slows() else 1)

    def forward(self, x):
        # The backward of the first stage sleeps, too.
        return self.layer(Sleep.apply(x if x.requires_grad else x.detach().requires_grad_(), self))


class Job:
    """A pipeline, and the model as a whole."""

    def __init__(self, mesh, plan="interleaved", pauses=UNEQUAL, wrap=lambda module: module, **params):
        self.group = mesh["pp"].get_group()
        self.rank = mesh["pp"].get_local_rank()
        torch.manual_seed(3)
        self.modules = [Stage(pause / 1000) for pause in pauses]
        self.whole = nn.Sequential(*(copy.deepcopy(module.layer) for module in self.modules))
        self.ranks = self.group.size()
        self.mine = list(range(self.rank, len(pauses), self.ranks))
        self.stages = [PipelineStage(wrap(self.modules[stage]), stage, len(pauses), torch.device("cpu"), group=self.group)
                       for stage in self.mine]
        self.last = len(pauses) - 1
        self.schedule = pipec.torch.executor(plan, self.stages, nn.functional.mse_loss, MICROBATCHES, **params)
        self.generator = torch.Generator().manual_seed(5)
        self.problems = []

    def step(self):
        """Trains on a batch, and compares the gradients."""
        x, target = (torch.randn(2 * MICROBATCHES, WIDTH, generator=self.generator) for _ in range(2))
        self.whole.zero_grad()
        pairs = zip(self.whole(x).chunk(MICROBATCHES), target.chunk(MICROBATCHES))
        due_losses = torch.stack([nn.functional.mse_loss(*pair) for pair in pairs])
        due_losses.mean().backward()
        losses = []
        for stage in self.mine:
            self.modules[stage].zero_grad()
        targets = {"target": target, "losses": losses} if self.last in self.mine else {}
        self.schedule.step(*((x,) if 0 in self.mine else ()), **targets)
        if targets and not torch.allclose(torch.stack(losses), due_losses.detach()):
            self.problems.append("losses")
        for stage in self.mine:
            for mine, due in zip(self.modules[stage].layer.parameters(), self.whole[stage].parameters()):
                if mine.grad is None or not torch.allclose(mine.grad, due.grad, atol=1e-6):
                    self.problems.append(f"gradients of stage {stage}")

    def train(self, auto, further=3):
        """Trains until the schedule changes no more, and for some steps."""
        states = []
        for _ in range(MOST):
            self.step()
            states += [auto.state] if states[-1:] != [auto.state] else []
            if auto.done:
                break
        for _ in range(further):
            self.step()
        return states

    def same(self, auto):
        """All ranks have the same result."""
        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, (repr(auto), auto.schedule.name))
        if len(set(everyone)) != 1:
            self.problems.append(f"the ranks differ: {everyone}")


class Lines(logging.Handler):
    """What is logged."""

    def __init__(self):
        super().__init__(0)
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))


def logged():
    lines = Lines()
    logger = logging.getLogger("pipec.torch")
    logger.handlers, logger.propagate = [lines], False
    logger.setLevel(logging.INFO)
    return lines.lines


def switches(mesh, case):
    """A faster list of unequal stages."""
    lines = logged()
    job = Job(mesh, chunks=2)
    auto = pipec.torch.auto(job.schedule, AFTER, effort=1)
    assert repr(auto) == "<pipec.torch.Auto: measuring>", auto
    first = job.schedule.plan
    states = job.train(auto)
    job.same(auto)
    assert auto.found and states[:3] == ["measuring", "searching", "comparing"], (states, auto)
    assert auto.found.schedule.name == "found" and auto.found.predicted < 0.95 * auto.first.predicted, auto
    if job.rank == 0:
        print(auto, flush=True)
        assert lines == [("INFO" if auto.state == "switched" else "WARNING", repr(auto))], lines
        assert auto.search.backward == "whole" and auto.bound == auto.search.bound
        assert {figure.figure for figure in auto.calibration.figures} >= {"F", "B", "p2p"}, auto.calibration.left_out
        # Each rank keeps at most as much as before.
        peaks = [rank.memory.activations for rank in first.report(profile=auto.calibration).ranks]
        assert min(auto.search.peaks) > 12 * WIDTH, auto.search.peaks  # bytes
        assert all(new <= old for new, old in zip(auto.search.peaks, peaks)), (auto.search.peaks, peaks)
    else:
        assert not lines and auto.search is None
    close = all(abs(timed.measured / timed.predicted - 1) < TOLERANCE for timed in (auto.first, auto.found))
    return job.problems, auto.state == "switched" and auto.schedule is auto.found.schedule and close


for _ in range(TRIES):  # (the machine may have other work)
    (results,) = executors.run(3, [None], function=switches)
    assert not any(problems for problems, _ in results), results
    if all(switched for _, switched in results):
        break
else:
    raise AssertionError("not switched, or not as predicted")


def returns(mesh, folder):
    """A list that is slower than predicted, in the job of an executor without its program."""
    lines = logged()
    path = os.path.join(folder, f"{mesh['pp'].get_local_rank()}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(pipec.compile("interleaved", target="pytorch", ranks=3, microbatches=MICROBATCHES, chunks=2).emit("python"))
    job = Job(mesh, path, [pause / 4 for pause in UNEQUAL])
    first = job.schedule.plan
    auto = pipec.torch.auto(job.schedule, AFTER, effort=1)
    for module in job.modules:
        module.slows = lambda: auto.schedule is not first
    states = job.train(auto)
    job.same(auto)
    assert states == ["measuring", "searching", "comparing", "fell back"] and auto.schedule is first, (states, auto)
    assert auto.found.measured > auto.first.measured > 0 and ": fell back: found instead of interleaved, predicted " in repr(auto)
    assert [level for level, _ in lines] == (["WARNING"] if job.rank == 0 else []), lines
    return job.problems


with tempfile.TemporaryDirectory() as folder:
    (results,) = executors.run(3, [folder], function=returns)
    assert not any(results), results


def replicas(mesh, case):
    """Two pipelines, which average their gradients, switch at the same step."""
    logged()
    job = Job(mesh, pauses=[12, 12, 2, 2], chunks=2,
              wrap=lambda module: DistributedDataParallel(module, process_group=mesh["dp"].get_group()))
    auto = pipec.torch.auto(job.schedule, 2, effort=1, memory_limit=12)
    ran = []
    for _ in range(MOST):
        job.step()
        ran.append(auto.schedule.name)
        if auto.done:
            break
    job.same(auto)
    everyone = [None] * 4
    dist.all_gather_object(everyone, ran)
    assert all(names == ran for names in everyone), everyone
    if dist.get_rank() == 0:
        print(auto, flush=True)
    assert "found" in ran and auto.state in ("switched", "fell back"), (ran, auto)
    return job.problems


(results,) = executors.run(2, [None], replicas=2, function=replicas)
assert not any(results), results


PROGRAM = """
schedule sliced(ranks p = 3, microbatches m = 6) {
  placement loop;
  tie 0, stages - 1;
  warmup { repeat m { F } }
  cooldown { repeat m { B } }
}
"""


def sliced(mesh, path):
    """Slices of different lengths, and stages that share a parameter."""
    logged()
    rank = mesh["pp"].get_local_rank()
    torch.manual_seed(3)
    modules = [Stage(pause / 1000) for pause in (8, 4, 4)]
    modules[2].layer.weight = modules[0].layer.weight
    whole = copy.deepcopy(nn.Sequential(*(module.layer for module in modules)))
    module = copy.deepcopy(modules[rank])
    plan = pipec.compile(path, target="pytorch", slices=2)
    stage = PipelineStage(module, rank, 3, torch.device("cpu"), group=mesh["pp"].get_group())

    def loss_fn(output, target):
        return (output - target).square().sum()

    schedule = pipec.torch.executor(plan, stage, loss_fn, 3, slice_lengths=[1, 4],
                                    tied_parameters={rank: [module.layer.weight]} if rank != 1 else None)
    auto = pipec.torch.auto(schedule, AFTER, effort=1, memory_limit=5)
    ran = set()
    for _ in range(MOST):
        x, target = torch.randn(6, 5, WIDTH), torch.randn(6, 5, WIDTH)
        module.zero_grad()
        whole.zero_grad()
        (loss_fn(whole(x), target) / 3).backward()
        schedule.step(*([x] if rank == 0 else []), **({"target": target} if rank == 2 else {}))
        ran.add(auto.schedule.name)
        for mine, due in zip(module.layer.parameters(), whole[rank].parameters()):
            assert torch.allclose(mine.grad, due.grad, atol=1e-4), (auto, mine.grad, due.grad)
        if auto.done:
            break
    assert auto.state in ("switched", "fell back") and ran == {"sliced", "found"}, (ran, auto)
    assert auto.found.schedule.slices == 2 and auto.found.schedule.ties == [[0, 2]]
    if rank == 0:
        print(auto, flush=True)


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "sliced.pipe"), "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    executors.run(3, [file.name], function=sliced)


def remains(mesh, case):
    """Nothing is found, or something fails: the job continues."""
    lines = logged()
    job = Job(mesh, "one_f_one_b", [2, 2, 2], **({"target": "pytorch"} if case == "kept" else {}))
    auto = pipec.torch.auto(job.schedule, 2, effort=1, memory_limit={"kept": 1, "refused": "x", "small": "1B"}.get(case))
    environment = dict(os.environ)
    if case == "no program":
        os.environ["PIPEC"] = os.devnull
    with torch.profiler.profile() if case == "profiler" and job.rank == 1 else contextlib.nullcontext():
        states = job.train(auto)
    job.same(auto)
    os.environ.clear()
    os.environ.update(environment)
    state, reason = {
        "kept": ("kept", "one_f_one_b is predicted to take "),
        "no program": ("failed", "$PIPEC is '/dev/null', which is not a program"),
        "profiler": ("failed", "the trace of rank 1 is missing: another profiler of PyTorch runs"),
        "small": ("failed", "rank 0 cannot hold one micro-batch"),
        "refused": ("failed", "`x` in `--memory-limit` is not a size"),
    }[case]
    assert states[-1] == auto.state == state and reason in auto.reason, (states, auto)
    assert "comparing" not in states and auto.schedule is job.schedule.plan and auto.found is None
    if job.rank == 0:
        print(auto, flush=True)
        assert [level for level, _ in lines] == ["INFO" if state == "kept" else "WARNING"], lines
    return job.problems


for results in executors.run(3, ["kept", "no program", "profiler", "small", "refused"], function=remains):
    assert not any(results), results


def refuses(mesh, case):
    """Arguments that are wrong, on all ranks at once."""
    job = Job(mesh, "one_f_one_b", [0, 0])
    def refused(text, *args, kind=ValueError, **options):
        executors.refuse(text, lambda: pipec.torch.auto(*args, **options), kind)

    refused("executor is 'gpipe', not one of pipec.torch.executor", "gpipe", kind=TypeError)
    refused("after is 1, which has to be at least 2, since the first step is not measured", job.schedule, 1)
    refused("after is 2.5, not an integer", job.schedule, 2.5, kind=TypeError)
    refused("effort is 'x', not an integer", job.schedule, effort="x", kind=TypeError)
    refused("memory_limit is [], not a number", job.schedule, memory_limit=[], kind=TypeError)
    refused("time is 5, not a text", job.schedule, time=5, kind=TypeError)
    refused("backward is `both`, none of best, split, whole, mixed", job.schedule, backward="both")
    refused("rank 1 gives `--after=3`, rank 0 `--after=2`", job.schedule, 2 + job.rank)
    alone = [dist.new_group([rank]) for rank in range(2)][job.rank]
    refused(f"group is without the ranks {1 - job.rank} of the pipeline", job.schedule, group=alone)
    # An error of one rank is one of all.
    text = "after is 1, " if job.rank else "rank 1: after is 1, "
    refused(text, job.schedule, 1 if job.rank else 5)
    job.step()
    auto = pipec.torch.auto(job.schedule)
    refused("the executor has an `auto` already", job.schedule)
    assert auto.state == "measuring"

    def executor(name, stages=job.stages, loss_fn=nn.functional.mse_loss, **options):
        return pipec.torch.executor(name, stages, loss_fn, MICROBATCHES, **options)

    refused("one_f_one_b has no backwards", executor("one_f_one_b", loss_fn=None))
    both = [PipelineStage(job.modules[stage], stage, 2, torch.device("cpu"), group=job.group) for stage in range(2)]
    refused("chimera is bidirectional, for which no order is searched", executor("chimera", both))
    plan = pipec.compile("one_f_one_b", passes="inject-update,pytorch", ranks=2, microbatches=MICROBATCHES)
    updating = executor(plan, optimizers={job.rank: torch.optim.SGD(job.modules[job.rank].parameters(), lr=0.0)})
    refused("one_f_one_b has steps of the kinds UPDATE; passes names those that add them to a list", updating)
    assert pipec.torch.auto(updating, passes="inject-update,pytorch").state == "measuring"
    return job.problems


(results,) = executors.run(2, [None], function=refuses)
assert not any(results), results
