"""One training step in PyTorch's pipeline runtime, a process per rank over gloo:

    train_torch.py PIPE PROBLEM OUT NAME=VALUE...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage

import pipec.torch
import problem
import torch_model


def load(path, stages, loss_fn, sizes):
    return pipec.torch.load_schedule(path, stages, loss_fn, sizes["microbatches"],
                                     **{name: value for name, value in sizes.items() if name not in ("ranks", "microbatches")})


def train(rank, load, path, data, out, sizes):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", pathlib.Path(out, "rendezvous").absolute().as_uri(), rank=rank, world_size=sizes["ranks"])
    task = problem.read(data)
    # One stage per rank, the placement of everywhere.pipe.
    module = torch_model.module(task.stages[rank])
    stage = PipelineStage(module, rank, len(task.stages), torch.device("cpu"))
    schedule = load(path, [stage], torch.nn.functional.mse_loss, sizes)
    inputs = (torch_model.samples(task.inputs),) if stage.is_first else ()
    outputs = {"target": torch_model.samples(task.targets)} if stage.is_last else {}
    schedule.step(*inputs, **outputs)
    problem.write_gradients(out, rank, torch_model.gradients(module))
    dist.destroy_process_group()


def main(load, arguments):
    path, data, out, *words = arguments
    sizes = {name: int(value) for name, value in (word.split("=") for word in words)}
    torch.multiprocessing.spawn(train, (load, path, data, out, sizes), sizes["ranks"])


if __name__ == "__main__":
    main(load, sys.argv[1:])
