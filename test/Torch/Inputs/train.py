"""Trains a small transformer with schedules in PyTorch's runtime and compares it
with the same model on one process.

    train.py [--timeout SECONDS] [--replicas N] [--wrap fsdp|ddp|compile] CSV[:compute_only|:compute_comms]...

For each file two steps of SGD are made, by a process for each of its ranks (and
replicas) over gloo; after each the losses and all gradients must equal those of
the model without a pipeline. Prints `FILE: equal`, or what is wrong with it, a
line a process; the status is 0 only when all are equal.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import collections
import dataclasses
import datetime
import logging
import multiprocessing
import multiprocessing.connection
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch
import torch._functorch.config
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.distributed.tensor import DTensor

import communicators
import model
import oracle


@dataclasses.dataclass(frozen=True)
class Setting:
    """How files are trained."""
    #: Replicas of the pipeline, each with data of its own.
    replicas: int = 1
    #: What the stages of the replicas are wrapped in: None (one replica), fsdp
    #: (FSDP2's fully_shard), ddp (DistributedDataParallel), compile
    #: (torch.compile without a compiler of code and without donated buffers).
    wrap: str | None = None
    #: Whether neighbouring stages exchange tensors of different sizes.
    uneven: bool = False
    #: A model of communicators (communicators.py); None is gloo as it is.
    communicators: str | None = None
    #: A file that says which stages and micro-batches the job has, on which
    #: ranks; without one each file says so itself.
    like: str | None = None
    #: Seconds after which a transfer without an answer is an error.
    timeout: float = 60


@dataclasses.dataclass(frozen=True)
class Problem:
    """What went wrong with a file on a process."""
    #: refused (when loaded), different (from the model without a pipeline),
    #: error, time-out, ended (without a word), or lost (another process was).
    kind: str
    text: str
    #: The step of training, from 0.
    step: int = 0

    def __str__(self):
        return f"{self.kind}: {self.text}" + (f" (step {self.step})" if self.kind != "refused" else "")


# ---------------------------------------------------------------- a process

def wrapped(stage, wrap, mesh):
    if wrap == "fsdp":
        fully_shard(stage.block, mesh=mesh["dp"], reshard_after_forward=False)
        return fully_shard(stage, mesh=mesh["dp"], reshard_after_forward=False)
    if wrap == "ddp":
        return torch.nn.parallel.DistributedDataParallel(stage, process_group=mesh["dp"].get_group(), find_unused_parameters=True)
    if wrap == "compile":
        torch._functorch.config.donated_buffer = False
        return torch.compile(stage, backend="aot_eager")
    return stage


def whole(gradient):
    return gradient.full_tensor() if isinstance(gradient, DTensor) else gradient


def problem_of(error, step):
    """The Problem that an exception of the runtime is; step is None while a file
    is loaded."""
    while error.__cause__:
        error = error.__cause__
    text = " ".join(next(iter(str(error).strip().splitlines()), "").split())
    if step is None:
        return Problem("refused", text)
    kind = "time-out" if "Timed out" in text else "lost" if re.search(r"closed by peer|reset by peer|Broken pipe", text) \
        else "error"
    return Problem(kind, f"{type(error).__name__}: {text}", step)


def train_one(mesh, path, format, setting):
    """The Problems of this process."""
    rank, replica = mesh["pp"].get_local_rank(), mesh["dp"].get_local_rank()
    rows = oracle.read(setting.like or path)
    _, stages, microbatches = oracle.sizes(rows)
    mine = sorted(s for s, r in oracle.stage_map(rows).items() if r == rank)
    expected = model.reference(stages, microbatches, setting.replicas, setting.uneven)
    modules = {s: wrapped(model.make_stage(s, stages, setting.uneven), setting.wrap, mesh) for s in mine}
    parts = [PipelineStage(modules[s], s, stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = _PipelineScheduleRuntime(parts, microbatches, loss_fn=model.loss_function, scale_grads=True)
    try:
        schedule._load_csv(path, format=format)
    except Exception as error:
        return [problem_of(error, None)]
    problems = []
    for step, (x, target) in enumerate(model.make_data(microbatches, replica)):
        losses = []
        keywords = dict(target=target, losses=losses) if stages - 1 in mine else {}
        try:
            schedule.step(*((x,) if 0 in mine else ()), **keywords)
        except Exception as error:
            return [*problems, problem_of(error, step)]
        expected_losses, expected_gradients = expected[step]
        if stages - 1 in mine and not model.close(torch.stack(losses).detach(), expected_losses[replica]):
            problems.append(Problem("different", "losses", step))
        for stage in mine:
            gradients = [whole(parameter.grad) for parameter in modules[stage].parameters()]
            if not all(map(model.close, gradients, expected_gradients[stage])):
                problems.append(Problem("different", f"gradients of stage {stage}", step))
        model.update(parameter for stage in mine for parameter in modules[stage].parameters())
    return problems


def process(number, ranks, store, files, setting, results):
    """Trains the files in turn; sends (index of the file, Problems) for each. The
    others count on this process to go on, but after an error it cannot."""
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the noise of connections that end
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=number, world_size=ranks * setting.replicas,
                            timeout=datetime.timedelta(seconds=setting.timeout))
    mesh = DeviceMesh("cpu", torch.arange(ranks * setting.replicas).view(ranks, setting.replicas),
                      mesh_dim_names=("pp", "dp"))
    if setting.communicators:
        communicators.install(setting.communicators)
    for index, (path, format) in enumerate(files):
        dist.barrier()
        problems = train_one(mesh, path, format, setting)
        results.send((index, problems))
        if any(problem.kind != "different" for problem in problems):
            break
    os._exit(0)  # whatever still waits; the other processes find their connection closed


# ---------------------------------------------------------------- all processes

class Group:
    """The processes that train a list of files of one number of ranks."""

    def __init__(self, files, setting):
        self.files = files
        self.setting = setting
        # What is computed here need not be computed by each process.
        for path, _ in files:
            ranks, stages, microbatches = oracle.sizes(oracle.read(setting.like or path))
            model.reference(stages, microbatches, setting.replicas, setting.uneven)
        self.size = ranks * setting.replicas
        self.store = tempfile.TemporaryDirectory()
        context = multiprocessing.get_context("fork")
        self.pipes, self.workers = {}, []
        for number in range(self.size):
            reader, writer = context.Pipe(duplex=False)
            worker = context.Process(target=process, args=(number, ranks, os.path.join(self.store.name, "store"), files,
                                                           setting, writer))
            worker.start()
            writer.close()
            self.pipes[reader] = number
            self.workers.append(worker)
        self.reports = collections.defaultdict(dict)
        self.last = time.monotonic()

    def read(self, pipe):
        """Takes a report; a process that has ended has no more."""
        self.last = time.monotonic()
        try:
            index, problems = pipe.recv()
            self.reports[index][self.pipes[pipe]] = problems
        except EOFError:
            del self.pipes[pipe]

    def stop_when_stuck(self):
        """No time-out of torch's ends this."""
        if time.monotonic() - self.last > 3 * self.setting.timeout + 30:
            for worker in self.workers:
                worker.kill()

    def finish(self):
        """Outcomes of the files that were begun, and the files that were not."""
        for worker in self.workers:
            worker.join()
        self.store.cleanup()
        begun = max(self.reports, default=0) + 1
        ended = [Problem("ended", "the process ended without a word")]
        done = {}
        for index, file in enumerate(self.files[:begun]):
            reports = {number: self.reports[index].get(number, ended) for number in range(self.size)}
            done[file] = {number: problems for number, problems in reports.items() if problems} or "equal"
        return done, self.files[begun:]


def train_all(jobs, at_once=1):
    """Trains lists of files, each [(path, format)] with a Setting; all files of
    a list have the same number of ranks. Gives a dictionary for each: (path,
    format) -> "equal", or Problems by process. Files after one that ended in an
    error are trained by new processes.

    `at_once` groups of processes run side by side, which is of use when they
    wait more than they work.
    """
    outcomes = [{} for _ in jobs]
    waiting = collections.deque((number, files, setting) for number, (files, setting) in enumerate(jobs))
    running = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            number, files, setting = waiting.popleft()
            running[number] = Group(files, setting)
        owner = {pipe: group for group in running.values() for pipe in group.pipes}
        for pipe in multiprocessing.connection.wait(list(owner), timeout=1):
            owner[pipe].read(pipe)
        for number, group in list(running.items()):
            group.stop_when_stuck()
            if group.pipes:
                continue
            done, rest = group.finish()
            del running[number]
            outcomes[number].update(done)
            if rest:
                waiting.append((number, rest, group.setting))
    return outcomes


def train(files, setting=Setting()):
    """The outcomes of one list of files."""
    return train_all([(files, setting)])[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--wrap", choices=["fsdp", "ddp", "compile"])
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    groups = collections.defaultdict(list)
    for name in options.files:
        path, _, format = name.partition(":")
        groups[len(oracle.read(path))].append((path, format or "compute_comms"))
    setting = Setting(options.replicas, options.wrap, timeout=options.timeout)
    equal = True
    for files in groups.values():
        for (path, format), found in train(files, setting).items():
            equal &= found == "equal"
            if found == "equal":
                print(f"{path}: equal")
                continue
            for number, problems in found.items():
                print(f"{path}: process {number}: {'; '.join(map(str, problems))}")
    sys.exit(not equal)


if __name__ == "__main__":
    main()
