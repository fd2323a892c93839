#!/usr/bin/env python3
"""Training steps of HyperParallel, picotron and nanotron, with their own orders and with
those of pipec, beside pipec's executor in Python:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PIPEC_HYPERPARALLEL=TREE \\
        PIPEC_PICOTRON=TREE PIPEC_NANOTRON=TREE PYTHON benchmarks/torch/engines.py

The ranks are processes with gloo. Stages sleep in place of work, so that the ranks need
no cores of their own. Prints the largest difference of a gradient from the model without
a pipeline, the median time of a step, and the makespan of the same list in pipec.
Engines whose tree is not named are left out.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

import pipec
import pipec.torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: Milliseconds per stage and micro-batch; a whole backward takes I + W.
COST = {"F": 5, "B": 10, "I": 5, "W": 5}
ROWS, LENGTH, WIDTH = 2, 4, 8
TARGET = torch.arange(ROWS * LENGTH) % WIDTH
TIMED = "insert-p2p{order=timed,model=blocking-sends},detect-deadlock"


class Sleep(torch.autograd.Function):
    @staticmethod
    def forward(context, x, forward, backward):
        context.backward_time = backward
        time.sleep(forward / 1e3)
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        time.sleep(context.backward_time / 1e3)
        return gradient, None, None


def loss_fn(y, target):
    return F.cross_entropy(y.flatten(0, 1), target.flatten())


class Stage(torch.nn.Module):
    """A linear layer. `loss_of` is the number of the stage that returns the loss."""

    def __init__(self, number, loss_of=None, scale=1):
        super().__init__()
        weight = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(number), dtype=torch.float64)
        self.weight, self.returns_loss, self.scale = torch.nn.Parameter(weight / WIDTH**.5), number == loss_of, scale

    def forward(self, input, *_, **__):
        y = torch.tanh(input @ Sleep.apply(self.weight, 0, COST["W"]))
        y = Sleep.apply(y, COST["F"], COST["I"])
        return loss_fn(y, TARGET) / self.scale if self.returns_loss else y


def test_of(engine):
    """A test of the engine, as a module."""
    spec = importlib.util.spec_from_file_location("engine_test", os.path.join(ROOT, "test", "Hub", engine))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predicted(*args, source=None):
    """The makespan in pipec."""
    cost = ",".join(f"{kind}={value}" for kind, value in COST.items())
    run = subprocess.run([os.environ.get("PIPEC", "pipec"), *args, "--cost=" + cost, "--emit=report"],
                         input=source, capture_output=True, text=True)
    return next((line.split()[1].lstrip("~") for line in run.stdout.splitlines() if line.startswith("makespan ")), "-")


# Each engine yields rows: who ordered, the schedule, the stages of this rank by number, a
# function that runs a step and returns nothing, the factor of its gradients, the makespan.


def hyperparallel(rank, ranks, m, x):
    sys.path.insert(0, os.environ["PIPEC_HYPERPARALLEL"])
    os.environ.update(HYPER_PARALLEL_PLATFORM="torch", RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks))
    from hyper_parallel import PipelineStage
    from hyper_parallel.core.pipeline_parallel import scheduler

    from_file = test_of("HyperParallel/training.py").loader(os.path.join(ROOT, "docs", "HyperParallel.md"))
    for own, chunks, name in ("Schedule1F1B", 1, "one_f_one_b"), ("ScheduleInterleaved1F1B", 2, "interleaved_any"):
        sizes = [name, f"ranks={ranks}", f"microbatches={m}"] + ([f"chunks={chunks}"] if chunks > 1 else [])
        count = chunks * ranks
        for order in "its own", "pipec":
            layers = {s: Stage(s, count - 1, m) for s in range(rank, count, ranks)}
            stages = [PipelineStage(layer, s, count, torch.device("cpu")) for s, layer in layers.items()]
            if order == "its own":
                runner = getattr(scheduler, own)(stages, m)
                expected = predicted("-", "--input=hyperparallel", "--passes=", "--model=blocking-sends",
                                     source=str(runner.exec_order))
            else:
                path = f"{rank}-{chunks}.json"
                subprocess.run([os.environ.get("PIPEC", "pipec"), *sizes, "--emit=hyperparallel", "-o", path], check=True)
                runner = from_file(path, stages, m)
                expected = predicted(*sizes, "--target=hyperparallel", "--model=blocking-sends")

            def step():
                for stage in stages:
                    stage.clear_states()  # without it the second step of a runner reads an unset variable
                runner.run(*((x.flatten(0, 1),) if rank == 0 else ()))

            yield order, name, layers, step, 1, expected


def picotron(rank, ranks, m, x):
    test = test_of("Picotron/engine.py")
    engine = test.start(rank, ranks, os.path.join(ROOT, "docs", "OtherEngines.md"))
    from picotron.pipeline_parallel.pipeline_parallel import PipelineParallel, train_step_pipeline_1f1b

    class Its(Stage):
        backward = PipelineParallel.backward

        def forward(self, input_ids, position_ids, hidden_states):
            return super().forward(input_ids if hidden_states is None else hidden_states)

    rest = (ROWS, LENGTH, WIDTH), torch.device("cpu"), torch.float64
    sizes = dict(ranks=ranks, microbatches=m)
    own = predicted("one_f_one_b", f"ranks={ranks}", f"microbatches={m}", "--passes=insert-p2p,batch-p2p",
                    "--model=blocking-sends")
    stage = Its(rank)
    yield ("its own", "one_f_one_b", {rank: stage},
           lambda: train_step_pipeline_1f1b(stage, test.Loader(x, [TARGET] * m), *rest), m, own)
    for name, source in ("one_f_one_b", {"path_or_name": "one_f_one_b"}), ("eager 1F1B", {"source": test.EAGER}):
        plan = pipec.compile(**source, **sizes, cost=COST, passes=TIMED)
        yield ("pipec", name, {rank: stage}, lambda: engine["train_step_pipeline"](
            plan, stage, test.Loader(x, [TARGET] * m), *rest), m, makespan_of(plan, "blocking-sends"))


def makespan_of(plan, model):
    return predicted("-", "--input=steps", "--passes=", "--model=" + model, source=plan.emit("ir"))


def nanotron(rank, ranks, m, x):
    engine, model_of = test_of("Nanotron/engine.py").start(rank, ranks, os.path.join(ROOT, "docs", "OtherEngines.md"))
    from nanotron.parallel.pipeline_parallel.engine import OneForwardOneBackwardPipelineEngine
    from nanotron.parallel.pipeline_parallel.tensor_pointer import TensorPointer

    model = model_of(lambda number: Stage(number, ranks - 1))
    stage = model.blocks[rank].pp_block
    batch = [{"rows": one if rank == 0 else TensorPointer(group_rank=0)} for one in x]
    plan = pipec.compile("one_f_one_b", ranks=ranks, microbatches=m)
    expected = predicted("one_f_one_b", f"ranks={ranks}", f"microbatches={m}", "--passes=insert-p2p,batch-p2p",
                         "--model=blocking-sends")
    for order, runner in ("its own", OneForwardOneBackwardPipelineEngine()), ("pipec", engine["ScheduleEngine"](plan)):
        yield (order, "one_f_one_b", {rank: stage},
               lambda: runner.train_batch_iter(model, dist.group.WORLD, batch, m, None), 1, expected)


def executor(rank, ranks, m, x):
    from torch.distributed.pipelining import PipelineStage

    for name, chunks in ("one_f_one_b", 1), ("zb1p", 1), ("interleaved_any", 2):
        sizes = {"ranks": ranks, "microbatches": m} | ({"chunks": chunks} if chunks > 1 else {})
        plan = pipec.compile(name, target="pytorch", cost=COST, **sizes)
        layers = {s: Stage(s) for s in plan.stages_of(rank)}
        stages = [PipelineStage(layer, s, plan.stages, torch.device("cpu")) for s, layer in layers.items()]
        runner = pipec.torch.executor(plan, stages, loss_fn, m)
        target = {"target": TARGET.view(ROWS, LENGTH).repeat(m, 1)} if plan.stages - 1 in layers else {}
        arguments = [f"{key}={value}" for key, value in sizes.items()]
        yield ("pipec", name, layers, lambda: runner.step(*((x.flatten(0, 1),) if rank == 0 else ()), **target), 1,
               predicted(name, *arguments, "--target=pytorch"))


ENGINES = {"HyperParallel": hyperparallel, "picotron": picotron, "nanotron": nanotron, "pipec's executor": executor}


def largest(value):
    value = torch.tensor(value, dtype=torch.float64)
    dist.all_reduce(value, dist.ReduceOp.MAX)
    return value.item()


def process(rank, engine, ranks, options, folder):
    torch.set_num_threads(1)
    os.chdir(folder)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    x = torch.randn(options.microbatches, ROWS, LENGTH, WIDTH, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    for order, name, stages, step, factor, expected in ENGINES[engine](rank, ranks, options.microbatches, x):
        count = (max(stages) // ranks + 1) * ranks
        whole = torch.nn.Sequential(*(Stage(s, count - 1, options.microbatches) for s in range(count)))
        for one in x:
            whole(one).backward()
        error, times = 0, []
        for _ in range(options.steps + 1):
            for stage in stages.values():
                stage.weight.grad = None
            dist.barrier()
            start = time.perf_counter()
            step()
            times.append(largest(1e3 * (time.perf_counter() - start)))
            error = max([error] + [(stage.weight.grad / factor - whole[s].weight.grad).abs().max().item()
                                   for s, stage in stages.items()])
        error = largest(error)
        if rank == 0:
            print(f"| {engine} | {ranks} | {order} | `{name}` | {error:.0e} | {statistics.median(times[1:]):.1f} | {expected} |",
                  flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may abort while they are destroyed


def main():
    parser = argparse.ArgumentParser(description="Times training steps of other engines.")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--steps", type=int, default=9)
    options = parser.parse_args()
    print("| engine | ranks | order by | schedule | largest error | ms per step | predicted |\n| --- | --- | --- | --- | --- | --- | --- |")
    for engine in options.engines.split(","):
        if "PIPEC_" + engine.upper() in os.environ or ENGINES[engine] is executor:
            for ranks in map(int, options.ranks.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    torch.multiprocessing.spawn(process, (engine, ranks, options, folder), ranks)


if __name__ == "__main__":
    main()
