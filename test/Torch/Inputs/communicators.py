"""Lets PyTorch's runtime wait for transfers as it does with NCCL.

Over gloo every send and receive of a rank goes on by itself. With NCCL an
operation starts when those before it in its communicator have ended, and ends
together with its other side; which operations share a communicator is what
docs/Rationale/Waiting.md calls a model:

    stream   one for all that a rank does
    pair     one for each two ranks
    edge     one for each two ranks and direction
    up-down  one for what goes to higher ranks and one for what goes to lower ones
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import concurrent.futures
import functools
import time

import torch
import torch.distributed as dist
from torch.distributed.pipelining import schedules

DATA, DONE = 0, 1  # tags

KEYS = {
    "stream": lambda operation: None,
    "pair": lambda operation: operation.peer,
    "edge": lambda operation: (operation.peer, operation.op is dist.isend),
    "up-down": lambda operation: (operation.peer > dist.get_rank()) == (operation.op is dist.isend),
}


def _run(operation, latency):
    """A send that ends when it has been received, which takes some seconds."""
    done = torch.zeros(1)
    if operation.op is dist.isend:
        dist.send(operation.tensor, operation.peer, operation.group, DATA)
        dist.recv(done, operation.peer, operation.group, DONE)
    else:
        dist.recv(operation.tensor, operation.peer, operation.group, DATA)
        time.sleep(latency)
        dist.send(done, operation.peer, operation.group, DONE)


class _Work:
    def __init__(self, future):
        self.wait = future.result


def install(model, latency=0):
    """Makes the runtime of this process wait as the model says, for transfers of
    some seconds. Operations of one communicator share a thread, which runs one
    after the other."""
    key, run = KEYS[model], functools.partial(_run, latency=latency)
    threads = {}

    def batch_p2p(operations, desc=None):
        works = []
        for operation in operations:
            thread = threads.setdefault(key(operation), concurrent.futures.ThreadPoolExecutor(1))
            works.append(_Work(thread.submit(run, operation)))
        return works

    schedules._batch_p2p = batch_p2p
