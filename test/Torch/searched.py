# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: env PYTHONPATH=%root/python/src %torch-python %s
"""Transfers placed by search. Files for each form of communicators train as the
model without a pipeline, with transfers that wait for each other in these. Where
the simulation says that the orders of transfers differ by much, steps of PyTorch
take longer in the same order, with layers and transfers that sleep."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import datetime
import json
import logging
import multiprocessing
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import communicators
import measured
import oracle
import torch
import torch.distributed as dist
import train
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

COSTS = "--cost=F=2,I=2,W=2,B=4,p2p=1"
FORMS = {"stream": "shared", "pair": "pair", "edge": "edge"}

# ---------------------------------------------------------------- gradients

report = oracle.Report()
jobs = []
for model, form in FORMS.items():
    by_ranks = {}
    for name, *sizes in (("interleaved", "ranks=3", "microbatches=6"), ("zbv", "ranks=3", "microbatches=6"),
                         ("zb1p", "ranks=3", "microbatches=5"), ("dualpipev", "ranks=2", "microbatches=4"),
                         ("interleaved_zb", "ranks=2", "microbatches=4")):
        path = f"{name}-{form}.csv"
        oracle.write(path, oracle.pipec(name, *sizes, COSTS, f"--target={oracle.SEARCHED}", f"--communicators={form}"))
        by_ranks.setdefault(sizes[0], []).append((path, "compute_comms"))
    jobs += [(files, train.Setting(communicators=model, timeout=30)) for files in by_ranks.values()]
for (files, setting), outcome in zip(jobs, train.train_all(jobs)):
    for file in files:
        found = outcome.get(file, "not trained")
        report.check(f"{file[0]} ({setting.communicators})", None if found == "equal" else str(found))

# ---------------------------------------------------------------- times

RANKS, MICROBATCHES, UNIT, LATENCY, STEPS = 2, 8, 0.02, 0.5, 3


class Block(measured.SleepingBlock):
    """All stages take the same time: F, I and W a unit each."""

    def __init__(self):
        super().__init__(0)
        self.unit = UNIT

    def forward(self, x):
        weight = measured.Sleep.apply(self.weight, 0, self.unit)
        return torch.nn.functional.linear(measured.Sleep.apply(x, self.unit, self.unit), weight)


def process(rank, store, path, model, result):
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=60))
    communicators.install(model, LATENCY * UNIT)
    rows = oracle.read(path)
    stages = oracle.sizes(rows)[1]
    mine = sorted(s for s, r in oracle.stage_map(rows).items() if r == rank)
    torch.manual_seed(0)
    parts = [PipelineStage(Block(), s, stages, torch.device("cpu")) for s in mine]
    schedule = _PipelineScheduleRuntime(parts, MICROBATCHES, loss_fn=torch.nn.functional.mse_loss)
    schedule._load_csv(path, format="compute_comms")
    x, y = torch.ones(2 * MICROBATCHES, measured.WIDTH), torch.zeros(2 * MICROBATCHES, measured.WIDTH)
    times = []
    for _ in range(STEPS + 1):
        dist.barrier()
        start = time.monotonic()
        schedule.step(*((x,) if 0 in mine else ()), **({"target": y, "losses": []} if stages - 1 in mine else {}))
        dist.barrier()
        times.append(time.monotonic() - start)
    if rank == 0:
        result.send(min(times[1:]))
    os._exit(0)


def measure(path, model):
    """The fastest step, in units."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as work:
        workers = [context.Process(target=process, args=(rank, os.path.join(work, "store"), path, model, writer))
                   for rank in range(RANKS)]
        for worker in workers:
            worker.start()
        writer.close()
        seconds = reader.recv()
        for worker in workers:
            worker.join(60)
            worker.kill()
    return seconds / UNIT


with open("up-down.json", "w") as file:
    json.dump({"communicators": [{"edges": [[0, 1]]}, {"edges": [[1, 0]]}]}, file)
job = ["interleaved", f"ranks={RANKS}", f"microbatches={MICROBATCHES}", f"--cost=F=1,I=1,W=1,B=2,p2p={LATENCY}"]
compared = 0
for model, file in ("stream", "stream"), ("up-down", "up-down.json"):
    found = []
    for target in oracle.TARGET, oracle.TIMED, oracle.SEARCHED:
        path = f"{target}-{model}.csv"
        oracle.write(path, oracle.pipec(*job, f"--target={target}"))
        status, out, err = oracle.run("pipec", *job, f"--target={target}", f"--model={file}", "--emit=report", "--format=json",
                                      "-o", "-")
        assert status == 0, err
        found.append((json.loads(out)["makespan"], measure(path, model), target))
        print(model, *found[-1])
    # A fifth more is more than the runtime adds.
    for predicted, taken, target in found:
        for other, less, faster in found:
            if predicted >= 1.2 * other:
                report.check(f"{target} and {faster} under {model}", None if taken > less else f"{taken} and {less} units")
                compared += 1
assert compared, "no order of transfers differs enough"
report.finish(len(FORMS) * 5 + compared)
