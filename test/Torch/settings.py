# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s
"""What the note on split backwards says, PyTorch does: under
DistributedDataParallel the replicas of a stage after the first keep gradients
of their own, and schedules with them refuse stages of torch.compile. The whole
backwards that the note advises work, and FSDP takes split ones."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import logging
import multiprocessing
import os
import types

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import ScheduleInterleaved1F1B, ScheduleInterleavedZeroBubble
from torch.nn.parallel import DistributedDataParallel

import pipec.torch

logging.disable(logging.CRITICAL)
MICROBATCHES, WIDTH = 4, 4
SPLIT = pipec.torch.fitting_target()
WHOLE = "merge-backward{which=all}," + SPLIT


def gradients(passes, pp, dp, wrap):
    """The gradients of this process's stage after a step."""
    torch.manual_seed(0)
    rank = pp.get_local_rank()
    blocks = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()) for _ in range(2)]
    stage = PipelineStage(wrap(blocks[rank], dp), rank, 2, torch.device("cpu"), group=pp.get_group())
    schedule = pipec.torch.load_schedule("zb1p", stage, torch.nn.functional.mse_loss, MICROBATCHES, passes=passes)
    data = torch.Generator().manual_seed(1 + dp.get_local_rank())
    x, y = torch.randn((2, 2 * MICROBATCHES, WIDTH), generator=data)
    schedule.step(*([x] if rank == 0 else []), **({"target": y, "losses": []} if rank == 1 else {}))
    found = [p.grad.full_tensor() if hasattr(p.grad, "full_tensor") else p.grad for p in blocks[rank].parameters()]
    return torch.cat([g.flatten() for g in found])


def replicas_agree(passes, pp, dp, wrap):
    """For each stage, whether the gradients of its two replicas are equal."""
    mine = gradients(passes, pp, dp, wrap)
    everyone = [torch.empty_like(mine) for _ in range(2)]
    dist.all_gather(everyone, mine, group=dp.get_group())
    stages = [None, None]
    dist.all_gather_object(stages, torch.allclose(*everyone), group=pp.get_group())
    return stages


def process(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=4)
    mesh = DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("pp", "dp"))
    pp, dp = mesh["pp"], mesh["dp"]

    def ddp(block, dp):
        return DistributedDataParallel(block, process_group=dp.get_group())

    def fsdp(block, dp):
        return fully_shard(block, mesh=dp, reshard_after_forward=False)

    assert replicas_agree(WHOLE, pp, dp, ddp) == [True, True]
    split = replicas_agree(SPLIT, pp, dp, ddp)
    assert split == [True, False], split
    assert replicas_agree(SPLIT, pp, dp, fsdp) == [True, True]

    dist.destroy_process_group()


# PyTorch's schedules with split backwards refuse compiled stages, others do not.
def stub(module):
    return types.SimpleNamespace(num_stages=2, group_size=1, group_rank=0, submod=module, has_backward=True)


compiled = torch.compile(torch.nn.Linear(WIDTH, WIDTH))
ScheduleInterleaved1F1B([stub(compiled), stub(compiled)], MICROBATCHES)
try:
    ScheduleInterleavedZeroBubble([stub(compiled), stub(compiled)], MICROBATCHES)
    raise AssertionError("a compiled stage is taken")
except RuntimeError as error:
    assert "torch.compile" in str(error), error

context = multiprocessing.get_context("fork")
store = os.path.abspath("store")
workers = [context.Process(target=process, args=(rank, store)) for rank in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join(120)
assert [worker.exitcode for worker in workers] == [0] * 4, [worker.exitcode for worker in workers]
