# RUN: rm -rf %t && mkdir -p %t && cd %t && %d9d-python %s
"""d9d's own runtime trains with schedules of pipec: two processes, whole and split
backwards, a loop and a V, overlaps; gradients equal to those without a pipeline. Its buffers are made on a GPU,
here on the CPU; nothing else is replaced."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import logging
import multiprocessing
import os
import types
from typing import Literal

import torch
import torch.distributed as dist
from d9d.core.types import TensorSpec
from d9d.pipelining.factory.config import PipelineScheduleGPipeConfig
from d9d.pipelining.factory.factory import build_schedule
from torch.distributed.device_mesh import init_device_mesh

import pipec.d9d

RANKS, MICROBATCHES, ROWS, WIDTH = 2, 4, 3, 4
SCHEDULES = ["one_f_one_b", "zb1p", "interleaved", "zbv", "dualpipev"]


EMPTY = torch.empty
torch.empty = lambda *args, **keywords: EMPTY(*args, **{**keywords, "device": "cpu"})


class Mine(PipelineScheduleGPipeConfig):
    schedule: Literal["mine"] = "mine"


class Stage(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        torch.manual_seed(number)
        self.layer = torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64)

    def forward(self, inputs, shared):
        return torch.tanh(self.layer(inputs)) * shared

    def stage_transfer_spec(self, pipeline_input, boundary):
        return TensorSpec(shape=tuple(pipeline_input.shape), dtype=pipeline_input.dtype, layout=pipeline_input.layout)


def batch():
    torch.manual_seed(77)
    return torch.randn(2, MICROBATCHES, ROWS, WIDTH, dtype=torch.float64)


def expected(stages):
    """The gradients of the stages without a pipeline."""
    modules, (x, y) = [Stage(number) for number in range(stages)], batch()
    for k in range(MICROBATCHES):
        value = x[k]
        for module in modules:
            value = module(value, k + 1)
        torch.nn.functional.mse_loss(value, y[k]).backward()
    return [module.layer.weight.grad for module in modules]


def run(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", RANK=str(rank), WORLD_SIZE=str(RANKS))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/rendezvous", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,), mesh_dim_names=("pp",))
    context = types.SimpleNamespace(mesh_for=lambda domain: mesh, logger=logging.getLogger("d9d"),
                                    mesh_params=types.SimpleNamespace(is_distributed=True))
    x, y = batch()
    for name in SCHEDULES:
        schedule = pipec.compile(name, target="d9d", ranks=RANKS, microbatches=MICROBATCHES,
                                 **({"chunks": 2} if name == "interleaved" else {}))
        pipec.d9d.register(Mine, schedule)
        built, modules = build_schedule(context, Mine(), lambda info: Stage(info.current_stage))
        assert built.has_first_stage == (rank == 0)
        losses = []

        def loss(output, k):
            losses.append(k)
            return torch.nn.functional.mse_loss(output, y[k])

        built.schedule.step(tuple(x), tuple(range(1, MICROBATCHES + 1)), loss)
        assert len(losses) == (MICROBATCHES if built.has_last_stage else 0)
        right = expected(schedule.stages)
        for stage, module in zip(schedule.stages_of(rank), modules):
            torch.testing.assert_close(module.layer.weight.grad, right[stage], msg=f"{name}, stage {stage}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    processes = [multiprocessing.get_context("fork").Process(target=run, args=(rank,)) for rank in range(RANKS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0, process.exitcode
