"""One training step in DeepSpeed's unmodified pipeline engine, a process per rank
over gloo. LIST is what `pipec --emit=deepspeed` wrote. DeepSpeed reduces no gradients in
double precision, so this is in single precision.

    train_deepspeed.py LIST PROBLEM OUT
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import sys

import torch

import pipec.deepspeed
import problem
import torch_model


def train(rank: int, path: str, data: str, out: str) -> None:
    torch.set_num_threads(1)
    task = problem.read(data)
    ranks = len(task.stages)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_SIZE=str(ranks),
                      MASTER_ADDR="127.0.0.1", DS_ACCELERATOR="cpu")
    import deepspeed
    from deepspeed.pipe import PipelineModule
    from deepspeed.runtime.pipe import schedule

    # Otherwise DeepSpeed compiles an extension that one process per rank does not need.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed(dist_backend="gloo")
    pipec.deepspeed.use(path)

    modules = [torch_model.module(weights, torch.float32) for weights in task.stages]
    net = PipelineModule(layers=modules, num_stages=ranks, loss_fn=torch.nn.functional.mse_loss,
                         partition_method="uniform")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    batch = {"train_batch_size": problem.BATCH * len(task.inputs), "train_micro_batch_size_per_gpu": problem.BATCH,
             "gradient_accumulation_steps": len(task.inputs), "steps_per_print": 10 ** 9}
    engine, *_ = deepspeed.initialize(model=net, optimizer=optimizer, config=batch,
                                      model_parameters=list(net.parameters()))

    # The engine clears the gradients after the step, so they are written before it.
    run = type(engine)._INSTRUCTION_MAP[schedule.ReduceGrads]

    def write(self):
        run(self)
        problem.write_gradients(out, rank, torch_model.gradients(modules[rank]))

    type(engine)._INSTRUCTION_MAP[schedule.ReduceGrads] = write
    samples = zip(torch_model.samples(task.inputs, torch.float32).split(problem.BATCH),
                  torch_model.samples(task.targets, torch.float32).split(problem.BATCH))
    engine.train_batch(iter(list(samples)))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        ranks = json.load(file)["ranks"]
    torch.multiprocessing.spawn(train, tuple(sys.argv[1:]), ranks)
