"""Jobs whose traces are calibrated: stages that sleep, or that multiply matrices,
also with parameters that FSDP gathers.

    measured.py FOLDER SCHEDULE RANKS MICROBATCHES sleep|matmul|fsdp [NAME=VALUE]...

Trains the schedule for a few steps in a process for each rank, over gloo, and
records them with `pipec.torch.profile` into FOLDER.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import datetime
import logging
import multiprocessing
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage

import pipec.torch

STEPS = 4
WIDTH = 8


class Sleep(torch.autograd.Function):
    """Sleeps for some seconds forward, and for others backward."""

    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.backward_time = backward
        time.sleep(forward)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(ctx.backward_time)
        return gradient.clone(), None, None


class SleepingBlock(torch.nn.Module):
    """The gradients of its input and of its weights are made by themselves, so
    that split backwards sleep in each. Later stages take longer."""

    def __init__(self, index):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(WIDTH))
        self.unit = 0.020 + 0.002 * index

    def forward(self, x):
        weight = Sleep.apply(self.weight, 0, self.unit * 0.8)
        return torch.nn.functional.linear(Sleep.apply(x, self.unit, self.unit * 1.2), weight)


class MatmulBlock(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(4 + index))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def process(rank, ranks, store, folder, name, microbatches, kind, sizes):
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the noise of the profiler
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks,
                            timeout=datetime.timedelta(seconds=60))
    plan = pipec.compile(name, target=pipec.torch.fitting_target(), ranks=ranks, microbatches=microbatches, **sizes)
    mine = plan.stages_of(rank)
    torch.manual_seed(0)
    block, width, rows = (SleepingBlock, WIDTH, 2) if kind == "sleep" else (MatmulBlock, 512, 256)
    blocks = [block(i) for i in mine]
    if kind == "fsdp":
        mesh = init_device_mesh("cpu", (ranks, 1), mesh_dim_names=("pp", "dp"))
        blocks = [fully_shard(block, mesh=mesh["dp"], reshard_after_forward=False) for block in blocks]
    stages = [PipelineStage(block, i, plan.stages, torch.device("cpu")) for i, block in zip(mine, blocks)]
    schedule = pipec.torch.load_schedule(plan, stages, torch.nn.functional.mse_loss, microbatches)
    x, y = torch.ones(rows * microbatches, width), torch.zeros(rows * microbatches, width)

    def step():
        outputs = {"target": y, "losses": []} if plan.stages - 1 in mine else {}
        schedule.step(*((x,) if 0 in mine else ()), **outputs)
        dist.barrier()

    step()
    with pipec.torch.profile(schedule, folder, memory=kind == "matmul"):
        for _ in range(STEPS):
            step()
    dist.destroy_process_group()


def run(folder, name, ranks, microbatches, kind, **sizes):
    """Trains and writes the traces; returns their paths."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as work:
        workers = [context.Process(target=process, args=(rank, ranks, os.path.join(work, "store"), folder, name, microbatches,
                                                         kind, sizes)) for rank in range(ranks)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(150)
            worker.kill()
    assert [worker.exitcode for worker in workers] == [0] * ranks, [worker.exitcode for worker in workers]
    return [os.path.join(folder, f"rank{rank}.json.gz") for rank in range(ranks)]


if __name__ == "__main__":
    folder, name, ranks, microbatches, kind, *words = sys.argv[1:]
    sizes = {key: int(value) for key, value in (word.split("=") for word in words)}
    print("\n".join(run(folder, name, int(ranks), int(microbatches), kind, **sizes)))
