"""Trains the transformer of model.py with executors of --emit=python, and compares it
with the same model on one process."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import datetime
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python", "src"))

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.pipelining import PipelineStage

import model
import pipec
import pipec.torch
import train


def refuse(text, call, kind=(ValueError, RuntimeError)):
    """Checks that a call raises an error with this text."""
    try:
        call()
    except kind as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)


@dataclasses.dataclass(frozen=True)
class Case:
    """A schedule to train."""
    name: str
    params: dict
    #: Further arguments of pipec.torch.executor.
    options: dict = dataclasses.field(default_factory=dict)
    wrap: str | None = None
    replicas: int = 1
    uneven: bool = False

    def __str__(self):
        return " ".join([self.name, *(f"{k}={v}" for k, v in self.params.items()), *map(str, self.options.values()),
                         self.wrap or ""])


def train_one(mesh, case):
    """The problems of this process."""
    rank, replica = mesh["pp"].get_local_rank(), mesh["dp"].get_local_rank()
    given = {"target": "pytorch"} if not {"passes", "target"} & case.options.keys() else {}
    plan = pipec.compile(case.name, **case.params, **given,
                         **{key: case.options[key] for key in ("passes", "target", "args") if key in case.options})
    mine, stages, microbatches = plan.stages_of(rank), plan.stages, plan.microbatches
    modules = {s: train.wrapped(model.make_stage(s, stages, case.uneven), case.wrap, mesh) for s in mine}
    parts = [PipelineStage(modules[s], s, stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = pipec.torch.executor(plan, parts, model.loss_function, microbatches, patience=30,
                                    **{key: value for key, value in case.options.items() if key not in ("passes", "target", "args")})
    expected = model.reference(stages, microbatches, case.replicas, case.uneven)
    # Where the batch goes in, and which losses come out.
    firsts, lasts = [ranks[0] for ranks in plan.maps], [ranks[-1] for ranks in plan.maps]
    split = microbatches // 2 if len(plan.maps) == 2 else microbatches
    halves = [slice(0, split), slice(split, microbatches)][:len(plan.maps)]
    problems = []
    for step, (x, target) in enumerate(model.make_data(microbatches, replica)):
        losses = []
        keywords = dict(target=target, losses=losses) if rank in lasts else {}
        inputs = (x,) if rank in firsts else ()
        if step == 0:  # nothing of an evaluation stays
            schedule.eval(*inputs, **keywords)
        outputs = schedule.step(*inputs, **keywords)
        expected_losses, expected_gradients = expected[step]
        if rank in lasts:
            due = torch.cat([expected_losses[replica][half] for half, last in zip(halves, lasts) if last == rank])
            if not model.close(torch.stack(losses).detach(), due):
                problems.append(f"losses of step {step}")
            if outputs.shape[0] != len(due) * model.SEQUENCES:
                problems.append(f"outputs of step {step}: {outputs.shape}")
        elif outputs is not None:
            problems.append("outputs")
        for stage in mine:
            gradients = [train.whole(parameter.grad) for parameter in modules[stage].parameters()]
            if not all(map(model.close, gradients, expected_gradients[stage])):
                problems.append(f"gradients of stage {stage} of step {step}")
        model.update(parameter for stage in mine for parameter in modules[stage].parameters())
    return problems


def process(number, ranks, replicas, store, cases, function, out):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=number, world_size=ranks * replicas,
                            timeout=datetime.timedelta(seconds=180))
    mesh = DeviceMesh("cpu", torch.arange(ranks * replicas).view(ranks, replicas), mesh_dim_names=("pp", "dp"))
    results = [function(mesh, case) for case in cases]
    torch.save(results, f"{out}.{number}")
    try:
        dist.barrier()
    except RuntimeError:
        pass  # a test of failures closes the connections
    os._exit(0)


def run(ranks, cases, replicas=1, function=train_one):
    """What `function(mesh, case)` gives on each process, for each case."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ranks, replicas, os.path.join(folder, "store"), cases, function, os.path.join(folder, "out")
        torch.multiprocessing.start_processes(process, arguments, ranks * replicas, start_method="fork")
        results = [torch.load(os.path.join(folder, f"out.{number}"), weights_only=False) for number in range(ranks * replicas)]
    return list(zip(*results))
