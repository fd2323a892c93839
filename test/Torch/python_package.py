# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s %root/python/README.md
"""The Python package with PyTorch: steps as arrays; schedules loaded, linted and
trained by two processes with gradients equal to the model's without a pipeline;
functions for overlaps; and the script of its README."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import multiprocessing
import os
import re
import subprocess
import sys
import threading
import types

import numpy
import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import (
    Schedule1F1B,
    ScheduleGPipe,
    ScheduleInterleaved1F1B,
    ScheduleZBVZeroBubble,
    _PipelineScheduleRuntime,
)

import pipec
from pipec import Kind

# The module for PyTorch comes when it is first used.
assert "pipec.torch" not in sys.modules
TARGET = pipec.torch.fitting_target()

RANKS, MICROBATCHES, WIDTH, ROWS = 2, 5, 4, 3


def model(stages):
    torch.manual_seed(stages)
    return torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64), torch.nn.Tanh())
                               for _ in range(stages))


def batch(step):
    return torch.randn((2, MICROBATCHES * ROWS, WIDTH), generator=torch.Generator().manual_seed(step), dtype=torch.float64)


def expected(stages, step):
    """The gradients of the model without a pipeline, by stage."""
    blocks, (x, y) = model(stages), batch(step)
    for block in blocks:
        x = block(x)
    # Micro-batches have equal sizes, so their mean is the mean of all.
    torch.nn.functional.mse_loss(x, y).backward()
    return [[p.grad for p in block.parameters()] for block in blocks]


def threaded(forward, backward):
    """Both halves at the same time."""
    forward.wait()
    backward.wait()
    threads = [threading.Thread(target=half) for half in (forward, backward)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def train(source, options, overlap=None):
    """Two steps on this rank; the number of overlaps that `overlap` ran."""
    plan = pipec.compile(source, **{"target": TARGET, **options})
    mine = plan.stages_of(dist.get_rank())
    blocks = model(plan.stages)
    stages = [PipelineStage(blocks[i], i, plan.stages, torch.device("cpu")) for i in mine]
    given = plan if "passes" in options else source
    options = {} if given is plan else {k: v for k, v in options.items() if k not in ("ranks", "stages", "microbatches")}
    # In any order.
    schedule = pipec.torch.load_schedule(given, stages[::-1], torch.nn.functional.mse_loss, MICROBATCHES, **options)
    ran = []
    if overlap:
        def counted(forward, backward):
            ran.append((forward.stage_index, backward.microbatch_index))
            assert repr(forward) == f"<pipec.torch.Member {forward.stage_index}F{forward.microbatch_index}>"
            overlap(forward, backward)
        count = pipec.torch.register_overlap(schedule, counted)
    for step in range(2):
        x, y = batch(step)
        ran.clear()
        losses = []
        last = plan.stages - 1 in mine
        schedule.step(*([x] if 0 in mine else []), **({"target": y, "losses": losses} if last else {}))
        assert len(losses) == (MICROBATCHES if last else 0)
        for i, gradients in enumerate(expected(plan.stages, step)):
            for parameter, gradient in zip(blocks[i].parameters(), gradients) if i in mine else ():
                torch.testing.assert_close(parameter.grad, gradient, rtol=1e-10, atol=1e-12)
        assert pipec.torch.check_gradients(schedule) == []
        for block in blocks:
            block.zero_grad()
    if overlap:
        assert len(ran) == count > 0, (ran, count)
    return schedule


def refused(error, text, call, *args, **keywords):
    try:
        call(*args, **keywords)
    except error as problem:
        assert text in str(problem), problem
        return
    raise AssertionError(f"{text}: not refused")


def process(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    sizes = {"ranks": RANKS, "microbatches": MICROBATCHES}
    train("zb1p", sizes)
    train("interleaved_any", {**sizes, "chunks": 2, "target": f"{TARGET}-timed"})
    # The user's own orders, and a lowered file.
    train("zb1p", {**sizes, "target": None, "passes": "merge-backward{which=all}," + TARGET})
    if rank == 0:
        pipec.compile("zbv", target=TARGET, **sizes).write_csv("zbv.csv")
    dist.barrier()
    v = train("zbv.csv", {"stages": 4, "microbatches": MICROBATCHES})
    assert pipec.torch.lint(v)
    # Overlaps: one half after the other, both at once, and torch's own way.
    for overlap in (lambda f, b: (f(), b())), threaded, None:
        train("dualpipev", sizes, overlap)

    # What does not fit is said before anything waits.
    stage = PipelineStage(model(2)[rank], rank, 2, torch.device("cpu"))
    load = pipec.torch.load_schedule
    refused(ValueError, "has 4 stages, the job 2", load, "zbv", [stage], None, MICROBATCHES)
    refused(ValueError, "has 3 ranks, the job 2", load, "zb1p", [stage], None, MICROBATCHES, ranks=3)
    other = PipelineStage(model(2)[rank], 1 - rank, 2, torch.device("cpu"))
    refused(ValueError, f"puts stages [{rank}] on rank {rank}", load, "zb1p", [other], None, MICROBATCHES)
    refused(ValueError, "no stages", load, "zb1p", [], None, MICROBATCHES)
    refused(pipec.CompileError, "bidirectional", load, "chimera", [stage], None, 4)

    # Costs reach the compiler: the order of time follows them.
    orders = []
    for costs in ({}, {"cost": {"F": 1, "p2p": 3}}, {"args": ["--cost=F=1,p2p=3"]},
                  {"profile": "costs.json"}, {"profile": pipec.CostProfile(open("costs.json").read())}):
        loaded = load("zb1p", [stage], None, MICROBATCHES, target=f"{TARGET}-timed", **costs)
        orders.append({r: list(map(str, row)) for r, row in loaded.pipeline_order_with_comms.items()})
    assert orders[0] != orders[1] and all(order == orders[1] for order in orders[2:]), orders

    # What is not for PyTorch, or not for this PyTorch.
    lowered = pipec.compile("one_f_one_b", target=TARGET, **sizes)
    refused(ValueError, "target `hyperparallel` is not for PyTorch", load, "zb1p", [stage], None, MICROBATCHES,
            target="hyperparallel")
    idle = pipec.Schedule(lowered.ir.replace("      F s1 m1\n", "      bubble\n      F s1 m1\n"))
    refused(ValueError, "idle slots", load, idle, [stage], None, MICROBATCHES)
    refused(ValueError, "target, chunks: one_f_one_b is compiled already", load, idle, [stage], None, MICROBATCHES,
            target="torch", chunks=2)
    refused(ValueError, "profile: one_f_one_b is compiled already", load, lowered, [stage], None, MICROBATCHES,
            profile="costs.json")

    # An old file on one of the ranks, and a rank that has none.
    folder = os.path.abspath(f"node{rank}")
    os.makedirs(folder)
    orders = [pipec.compile(name, target=TARGET, **sizes) for name in ("one_f_one_b", "gpipe")]
    orders[rank].write_csv(f"{folder}/schedule.csv")
    refused(ValueError, "the ranks have different schedules: rank 0 <pipec.Schedule schedule: 2 ranks, 2 stages, 5 "
            "micro-batches> with digest ", load, f"{folder}/schedule.csv", [stage], None, MICROBATCHES)
    load(f"{folder}/schedule.csv", [stage], None, MICROBATCHES, check_ranks=False)
    if rank == 0:
        refused(RuntimeError, "rank 1 has no schedule: ", load, f"{folder}/schedule.csv", [stage], None, MICROBATCHES)
    else:
        refused(pipec.CompileError, "no file `none.csv`", load, "none.csv", [stage], None, MICROBATCHES)
    dist.destroy_process_group()


# ---------------------------------------------------------------- without processes

steps = pipec.compile("zb1p", target=TARGET, ranks=2, microbatches=4).steps
assert all(isinstance(rank, numpy.ndarray) for rank in steps)
assert (steps[0]["kind"] == Kind.F).sum() == 4
sends = steps[0][steps[0]["kind"] == Kind.SEND_F]
assert (sends["peer"] == 1).all() and sends["microbatch"].tolist() == [0, 1, 2, 3]
assert steps[0]["group"].tolist() == list(range(len(steps[0])))


def stub():
    return types.SimpleNamespace(num_stages=4, group_size=2, group_rank=0, submod=None, has_backward=True)


# Schedules of torch's own are clean; one with a fault is not.
theirs = ScheduleInterleaved1F1B([stub(), stub()], 4, loss_fn=None)
assert pipec.torch.lint(theirs) and all(pipec.torch.lint(theirs).safe.values())
order = theirs.pipeline_order_with_comms[1]
del order[[str(a) for a in order].index("1REDUCE_GRAD")]
finding = {finding.kind: finding for finding in pipec.torch.lint(theirs).errors}["ReduceGradMissing"]
assert "rank 1 has no" in finding.message and finding.file == "ScheduleInterleaved1F1B", finding
assert any("wrong gradients" in note.message for note in finding.notes)
theirs._n_microbatches = 3
found = pipec.torch.lint(theirs)
assert not found and str(found).startswith("ScheduleInterleaved1F1B:1:"), found
# torch's deferred receives train on the wrong tensors for this one.
deferred = ScheduleZBVZeroBubble([stub(), stub()], 4, loss_fn=None, defer_pp_recv=True)
assert "TransferCrossed" in {f.kind for f in pipec.torch.lint(deferred).errors}
refused(TypeError, "no order", pipec.torch.lint, object())

def alone(kind, stages, microbatches, **members):
    schedule = kind.__new__(kind)
    schedule._num_stages, schedule._n_microbatches = stages, microbatches
    schedule.__dict__.update(members)
    return schedule


# Schedules without a list: what their code runs (test/Torch/objects.py).
for kind in Schedule1F1B, ScheduleGPipe:
    found = pipec.torch.lint(alone(kind, 4, 9))
    assert not found.findings and all(found.safe.values()), (kind, str(found))


class Own(Schedule1F1B):
    def _step_microbatches(self, *args, **keywords):
        pass


refused(TypeError, "Own holds no order of steps, and its code runs no forward", pipec.torch.lint, alone(Own, 2, 2))

# Parameters without a gradient.
module = torch.nn.ModuleDict({"used": torch.nn.Linear(2, 2), "left": torch.nn.Linear(2, 2), "fixed": torch.nn.Linear(2, 2)})
module["fixed"].requires_grad_(False)
module["used"](torch.ones(2)).sum().backward()
assert pipec.torch.check_gradients(module) == ["left.weight", "left.bias"]
stage = types.SimpleNamespace(stage_index=3, submod=module)
assert pipec.torch.check_gradients(alone(Schedule1F1B, 4, 4, _stage=stage)) == ["stage 3: left.weight", "stage 3: left.bias"]
assert pipec.torch.check_gradients(alone(ScheduleInterleaved1F1B, 4, 4, _stages=[stage])) == \
    ["stage 3: left.weight", "stage 3: left.bias"]
refused(TypeError, "neither a schedule", pipec.torch.check_gradients, 3)

# An overlap that is no (F;B).
with open("pairs.csv", "w") as file:
    file.write("0F0,0F1,(0B0;0F2)OVERLAP_F_B,0B1,0B2\n")
pairs = _PipelineScheduleRuntime([types.SimpleNamespace(num_stages=1, group_size=1, group_rank=0, submod=None,
                                           has_backward=True)], 3)
pairs._load_csv("pairs.csv")
refused(ValueError, "(0B0;0F2)OVERLAP_F_B", pipec.torch.register_overlap, pairs, print)

# ---------------------------------------------------------------- two processes

with open("costs.json", "w") as file:
    file.write('{"F": 1, "p2p": 3}\n')
context = multiprocessing.get_context("fork")
store = os.path.abspath("store")
workers = [context.Process(target=process, args=(rank, store)) for rank in range(RANKS)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join(120)
assert [worker.exitcode for worker in workers] == [0] * RANKS, [worker.exitcode for worker in workers]

# ---------------------------------------------------------------- the README's script

with open(sys.argv[1], encoding="utf-8") as file:
    script = re.search(r"^```python train.py\n(.*?)^```", file.read(), re.M | re.S)[1]
assert len(script.splitlines()) <= 42
with open("train.py", "w", encoding="utf-8") as file:
    file.write(script)
for words in ["zb1p"], ["interleaved", "chunks=2"]:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                               "train.py", *words], env=dict(os.environ, OMP_NUM_THREADS="1"), capture_output=True,
                              text=True, timeout=120)
        # On a busy machine oneMKL now and then fails to load a library that is there.
        if "oneMKL FATAL ERROR: Cannot load" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    losses = [float(text) for text in re.findall(r"loss ([\d.]+)", done.stdout)]
    assert len(losses) == 20 and losses[-1] < 0.8 * losses[0], done.stdout
