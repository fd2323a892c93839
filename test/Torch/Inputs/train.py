"""Trains a small model with schedules in torch's runtime and compares it with
the same model on one process.

    train.py [--timeout SECONDS] CSV[:compute_only|:compute_comms]...

All files must have the same number of ranks; one process a rank trains them one
after the other, over gloo. For each file two steps of SGD are made; after each
the losses and all gradients must equal those of the unpipelined model. Prints
one line a file: `FILE: equal`, `FILE: DIFFERENT ...` or `FILE: ERROR ...`; the
status is 0 only when all are equal.

The model is one linear layer and a tanh a stage, in double precision, so that
"equal" can be asked to a relative 1e-10 whatever the order of summation.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import datetime
import multiprocessing
import os
import queue
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.distributed.tensor import DTensor

import oracle

WIDTH = 6
ROWS = 3  # of a micro-batch
STEPS = 2
RATE = 0.1


def make_model(stages):
    generator = torch.Generator().manual_seed(stages)
    model = torch.nn.ModuleList()
    for _ in range(stages):
        layer = torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 2)
        model.append(torch.nn.Sequential(layer, torch.nn.Tanh()))
    return model


def make_data(microbatches):
    generator = torch.Generator().manual_seed(microbatches)
    shape = (microbatches * ROWS, WIDTH)
    return [(torch.randn(shape, generator=generator, dtype=torch.float64),
             torch.randn(shape, generator=generator, dtype=torch.float64)) for _ in range(STEPS)]


def loss_function(output, target):
    return torch.nn.functional.mse_loss(output, target)


def update(parameters):
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter -= RATE * parameter.grad
            parameter.grad = None


def reference(stages, microbatches):
    """Losses and gradients of each step, without a pipeline."""
    model = make_model(stages)
    result = []
    for x, y in make_data(microbatches):
        losses = []
        for part, target in zip(x.chunk(microbatches), y.chunk(microbatches)):
            for stage in model:
                part = stage(part)
            loss = loss_function(part, target)
            (loss / microbatches).backward()
            losses.append(loss.detach())
        result.append((torch.stack(losses), [[p.grad.clone() for p in stage.parameters()] for stage in model]))
        update(model.parameters())
    return result


def off(ours, theirs):
    """The largest relative difference."""
    scale = theirs.abs().max().clamp(min=1e-30)
    return ((ours - theirs).abs().max() / scale).item() if ours.shape == theirs.shape else float("inf")


def shard(model, mine, ranks):
    """Puts the stages under FSDP, over one process each."""
    mesh = DeviceMesh("cpu", [[rank] for rank in range(ranks)], mesh_dim_names=("pp", "dp"))["dp"]
    for stage in mine:
        fully_shard(model[stage], mesh=mesh, reshard_after_forward=False)


def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def train_one(rank, path, format, fsdp):
    """What differs on this rank, or None."""
    rows = oracle.read(path)
    _, stages, microbatches = oracle.sizes(rows)
    mine = sorted(s for s, r in oracle.stage_map(rows).items() if r == rank)
    expected = reference(stages, microbatches)
    model = make_model(stages)
    if fsdp:
        shard(model, mine, len(rows))
    parts = [PipelineStage(model[s], s, stages, torch.device("cpu")) for s in mine]
    schedule = _PipelineScheduleRuntime(parts, microbatches, loss_fn=loss_function, scale_grads=True)
    schedule._load_csv(path, format=format)
    problems = []  # the other ranks count on this one to go on
    for step, (x, y) in enumerate(make_data(microbatches)):
        losses = []
        arguments = (x,) if 0 in mine else ()
        keywords = dict(target=y, losses=losses) if stages - 1 in mine else {}
        schedule.step(*arguments, **keywords)
        expected_losses, expected_grads = expected[step]
        if stages - 1 in mine and off(torch.stack(losses).detach(), expected_losses) > 1e-10:
            problems.append(f"losses of step {step}")
        for stage in mine:
            for parameter, grad in zip(model[stage].parameters(), expected_grads[stage]):
                if parameter.grad is None or off(whole(parameter.grad), grad) > 1e-10:
                    problems.append(f"gradients of stage {stage} in step {step}")
                    break
        update(p for stage in mine for p in model[stage].parameters())
    return problems[0] if problems else None


def rank_main(rank, ranks, store, files, timeout, fsdp, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks,
                            timeout=datetime.timedelta(seconds=timeout))
    for path, format in files:
        try:
            results.put((path, rank, "different", train_one(rank, path, format, fsdp)))
        except Exception as error:  # noqa: BLE001 (whatever torch raises is the result)
            text = str(error).strip().splitlines()
            results.put((path, rank, "error", f"{type(error).__name__}: {text[0] if text else ''}"))
            results.close()
            results.join_thread()
            os._exit(1)  # the other ranks find their connection closed
    dist.destroy_process_group()


def train(files, timeout=60, fsdp=False):
    """Outcome of each (path, format): "equal", or what went wrong by rank.
    With `fsdp` each stage is sharded.

    Files after one that ended in an error were not trained and have no outcome.
    """
    ranks = len(oracle.read(files[0][0]))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    outcome = {}
    with tempfile.TemporaryDirectory() as folder:
        workers = [context.Process(target=rank_main, args=(rank, ranks, os.path.join(folder, "store"),
                                                          files, timeout, fsdp, results)) for rank in range(ranks)]
        for worker in workers:
            worker.start()
        alive = True
        while alive:
            alive = any(worker.is_alive() for worker in workers)
            while True:
                try:
                    path, rank, kind, what = results.get(timeout=0.2)
                except queue.Empty:
                    break
                found = outcome.setdefault(path, {})
                if what is not None:
                    found[rank] = (kind, what)
                else:
                    found.setdefault("done", []).append(rank)
        for worker in workers:
            worker.join()
    for path, found in outcome.items():
        done = found.pop("done", [])
        outcome[path] = found if found or len(done) < ranks else "equal"
    return outcome


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--timeout", type=float, default=60)
    options.add_argument("files", nargs="+")
    args = options.parse_args()
    files = []
    for name in args.files:
        path, _, format = name.partition(":")
        files.append((path, format or "compute_comms"))
    outcome = train(files, args.timeout)
    equal = True
    for path, _ in files:
        found = outcome.get(path, {})
        equal &= found == "equal"
        if found == "equal":
            print(f"{path}: equal")
        elif not found:
            print(f"{path}: ERROR not trained")
        for rank, (kind, what) in sorted(found.items()) if found != "equal" else []:
            print(f"{path}: {'ERROR' if kind == 'error' else 'DIFFERENT'} rank {rank}: {what}")
    sys.exit(not equal)


if __name__ == "__main__":
    main()
