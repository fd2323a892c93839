"""Trains a small model with DeepSpeed's pipeline engine, one gloo process per stage,
and compares the gradients with those of the model without a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import logging
import multiprocessing
import multiprocessing.connection
import os
import socket
import traceback

os.environ["DS_ACCELERATOR"] = "cpu"
logging.disable(logging.WARNING)

import deepspeed
import torch
from deepspeed.pipe import PipelineModule
from deepspeed.runtime.pipe import schedule
from deepspeed.runtime.pipe.engine import PipelineEngine

import pipec

# Else DeepSpeed compiles an extension on machines without a GPU.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
torch.set_num_threads(1)

WIDTH, ROWS = 8, 2
SECONDS = 90


@dataclasses.dataclass
class Result:
    """What one rank found."""

    error: float
    """The largest difference of a gradient."""
    loss: float
    """The difference of the loss."""


def layers(stages):
    torch.manual_seed(0)
    return [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()) for _ in range(stages)]


def reference(stages, data):
    """The loss, and the gradients of each stage."""
    blocks = layers(stages)
    model, total = torch.nn.Sequential(*blocks), 0.0
    for x, y in data:
        loss = torch.nn.functional.mse_loss(model(x), y) / len(data)
        loss.backward()
        total += loss.item()
    return total, [[p.grad for p in block.parameters()] for block in blocks]


def train(rank, stages, micro_batches, files):
    """One process: trains a batch with each file, or with DeepSpeed's own schedule
    for None."""
    deepspeed.init_distributed(dist_backend="gloo")
    model = PipelineModule(layers=layers(stages), num_stages=stages, loss_fn=torch.nn.functional.mse_loss,
                           partition_method="uniform")
    settings = {"train_micro_batch_size_per_gpu": ROWS, "gradient_accumulation_steps": micro_batches,
                "steps_per_print": 10**9}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings,
                                      model_parameters=list(model.parameters()))
    torch.manual_seed(1)
    data = [(torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH)) for _ in range(micro_batches)]
    loss, gradients = reference(stages, data)
    reduce = PipelineEngine._INSTRUCTION_MAP[schedule.ReduceGrads]
    found = []

    def keep(self):
        reduce(self)
        found[:] = [p.grad.clone() for p in self.module.parameters()]

    PipelineEngine._INSTRUCTION_MAP[schedule.ReduceGrads] = keep
    results = []
    for file in files:
        if file is not None:
            pipec.deepspeed.use(file)
        measured = engine.train_batch(iter(data)).item()
        pairs = list(zip(found, gradients[rank], strict=True))
        results.append(Result(max((a - b).abs().max().item() for a, b in pairs), abs(measured - loss)))
    return results


def process(rank, stages, micro_batches, files, port, out):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(stages), LOCAL_SIZE=str(stages),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    try:
        out.send(train(rank, stages, micro_batches, files))
    except BaseException:
        out.send(traceback.format_exc())
    os._exit(0)  # threads of gloo may wait for other ranks


def run(stages, micro_batches, files):
    """For each file the results of all ranks. Raises RuntimeError with what the
    first rank that fails reports."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("fork")
    processes, pipes = [], []
    for rank in range(stages):
        here, there = context.Pipe(duplex=False)
        processes.append(context.Process(target=process, args=(rank, stages, micro_batches, files, port, there)))
        processes[-1].start()
        there.close()
        pipes.append(here)
    results = {}
    try:
        while len(results) != stages:
            ready = multiprocessing.connection.wait([p for i, p in enumerate(pipes) if i not in results], SECONDS)
            if not ready:
                raise RuntimeError("time-out")
            for pipe in ready:
                result = pipe.recv()
                if isinstance(result, str):
                    raise RuntimeError(result)
                results[pipes.index(pipe)] = result
    finally:
        for one in processes:
            one.kill()
            one.join()
    return [[results[rank][i] for rank in range(stages)] for i in range(len(files))]
