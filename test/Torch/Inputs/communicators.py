"""Lets PyTorch's runtime wait for transfers as it does with NCCL.

Over gloo every send and receive of a rank goes on by itself. With NCCL an
operation starts when those before it in its communicator have ended, and ends
together with its other side; which operations share a communicator is what
docs/Rationale/Waiting.md calls a model:

    stream   one for all that a rank does
    pair     one for each two ranks
    edge     one for each two ranks and direction
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import concurrent.futures

import torch
import torch.distributed as dist
from torch.distributed.pipelining import schedules

DATA, DONE = 0, 1  # tags

KEYS = {
    "stream": lambda operation: None,
    "pair": lambda operation: operation.peer,
    "edge": lambda operation: (operation.peer, operation.op is dist.isend),
}


def _run(operation):
    """A send that ends when it has been received."""
    done = torch.zeros(1)
    if operation.op is dist.isend:
        dist.send(operation.tensor, operation.peer, operation.group, DATA)
        dist.recv(done, operation.peer, operation.group, DONE)
    else:
        dist.recv(operation.tensor, operation.peer, operation.group, DATA)
        dist.send(done, operation.peer, operation.group, DONE)


class _Work:
    def __init__(self, future):
        self.wait = future.result


def install(model):
    """Makes the runtime of this process wait as the model says. Operations of
    one communicator share a thread, which runs one after the other."""
    key = KEYS[model]
    threads = {}

    def batch_p2p(operations, desc=None):
        works = []
        for operation in operations:
            thread = threads.setdefault(key(operation), concurrent.futures.ThreadPoolExecutor(1))
            works.append(_Work(thread.submit(_run, operation)))
        return works

    schedules._batch_p2p = batch_p2p
