"""One rank of a training job over two hosts, started as torchrun does.

    two-hosts.py FOLDER [RANK [SECONDS]]

Trains the model of model.py for two steps with an executor in Python, and
compares losses and gradients with those without a pipeline. After each step every
rank saves its stage to FOLDER as a whole file. In the second step the process of
RANK is killed in the middle; the other one says what it was waiting for. SECONDS is
how long it sleeps in its next forward, so that the loss of its connection
is known before it posts its next transfer.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import datetime
import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python", "src"))

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage

import model
import pipec.torch

STAGES, MICROBATCHES = 2, 4
folder, victim, pause = sys.argv[1], int((sys.argv[2:] or ["-1"])[0]), float((sys.argv[3:] or ["0"])[0])
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
rank = dist.get_rank()
print(f"rank {rank} on {socket.gethostname()}", flush=True)
stage = PipelineStage(model.make_stage(rank, STAGES), rank, STAGES, torch.device("cpu"))
schedule = pipec.torch.executor("one_f_one_b", stage, model.loss_function, MICROBATCHES, patience=20)
expected = model.reference(STAGES, MICROBATCHES)
current = 0


def forward(step):
    if current == 1 and step.microbatch == 2 and rank == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    if current == 1 and step.microbatch == 3 - 2 * rank and pause and rank != victim:
        time.sleep(pause)
    step.proceed()


schedule.handle("F", forward)
try:
    for current, (x, target) in enumerate(model.make_data(MICROBATCHES, 0)):
        losses = []
        schedule.step(x) if rank == 0 else schedule.step(target=target, losses=losses)
        due, gradients = expected[current]
        assert rank == 0 or model.close(torch.stack(losses).detach(), due[0])
        parameters = list(stage.submod.parameters())
        assert all(model.close(p.grad, g) for p, g in zip(parameters, gradients[rank], strict=True))
        model.update(parameters)
        path = os.path.join(folder, f"{rank}.pt")
        torch.save({"step": current, "stage": stage.submod.state_dict()}, path + ".new")
        os.replace(path + ".new", path)
except RuntimeError as error:
    print(f"rank {rank}: {error}", file=sys.stderr, flush=True)
    os._exit(1)  # not through the collective end of the group
print(f"rank {rank} is done: losses and gradients are equal", flush=True)
dist.destroy_process_group()
