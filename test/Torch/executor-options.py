# RUN: %torch-python %s
"""Executors of --emit=python with DistributedDataParallel, FSDP2, uneven stages, every
kind of communicator, split and merged backwards, batches and waits; handlers; traces;
and what is refused."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.pipelining import PipelineStage

import executors
import model
import pipec
import pipec.torch
import train
from pipec.torch._replicas import Distributed
from pipec.torch._source import Source
from pipec.torch._transfers import Ahead

Case = executors.Case
TWO = {"ranks": 2, "microbatches": 4}
FSDP = "strip-bubbles,inject-fsdp,insert-p2p{order=timed},detect-deadlock{model=stream}"


def check(title, results):
    assert not any(results), (title, results)


# Both halves of a split backward, in every wrapping and with tensors of several sizes.
SPLIT = ["one_f_one_b", "zb1p", "zbv"]
cases = [Case(name, TWO, wrap="ddp", replicas=2) for name in [*SPLIT, "chimera"]]
cases += [Case(name, TWO, {"passes": FSDP}, wrap="fsdp", replicas=2) for name in SPLIT]
cases += [Case("interleaved", {**TWO, "chunks": 2}, wrap="fsdp", replicas=2)]  # FSDP2 without steps for it
for case, results in zip(cases, executors.run(2, cases, replicas=2)):
    check(case, results)

cases = [Case(name, TWO, uneven=True) for name in SPLIT]
cases += [Case("zbv", TWO, {"communicators": which}) for which in ("one", "pair", "edge")]
cases += [Case("one_f_one_b", TWO, {"passes": "insert-p2p{order=timed},insert-waits{budget=1}"}),
          Case("one_f_one_b", TWO, {"passes": "split-backward,pytorch"}),
          Case("zbv", TWO, {"passes": "merge-backward{which=all},pytorch"}),
          Case("chimera", TWO, {"communicators": "pair"}),
          Case("dualpipe", {"ranks": 2, "microbatches": 8}),
          *[Case(name, TWO, {"receives_ahead": ahead}) for name in ("zbv", "chimera") for ahead in (0, 1, 100)],
          Case("one_f_one_b", TWO, {"target": "cpp"}),
          *[Case("interleaved", {**TWO, "chunks": 2}, {"passes": "insert-p2p,batch-p2p", "receives_ahead": ahead})
            for ahead in (0, 4)]]
for case, results in zip(cases, executors.run(2, cases)):
    check(case, results)


def make(mesh, name="one_f_one_b", **options):
    rank = mesh["pp"].get_local_rank()
    parts = [PipelineStage(model.make_stage(rank, 2), rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())]
    return rank, parts, pipec.torch.executor(name, parts, model.loss_function, 4, **options)


def data(rank):
    x, target = model.make_data(4, 0)[0]
    return ((x,), {}) if rank == 0 else ((), {"target": target})


def gradients(parts):
    return torch.cat([parameter.grad.flatten() for parameter in parts[0].submod.parameters()])


def means(mesh):
    """Gradients of DistributedDataParallel are averaged while backwards of the other
    stage of the rank are still to come."""
    rank, plan = mesh["pp"].get_local_rank(), pipec.compile("zbv", target="pytorch", **TWO)
    modules = [train.wrapped(model.make_stage(s, 4), "ddp", mesh) for s in plan.stages_of(rank)]
    parts = [PipelineStage(module, s, 4, torch.device("cpu"), group=mesh["pp"].get_group())
             for s, module in zip(plan.stages_of(rank), modules)]
    schedule = pipec.torch.executor(plan, parts, model.loss_function, 4)
    seen = []
    for kind in "IW":
        schedule.handle(kind, lambda step: (seen.append(str(step)), step.proceed()))
    begin = Distributed.begin_end
    with mock.patch.object(Distributed, "begin_end", lambda self: (seen.append("mean"), begin(self))):
        x, target = model.make_data(4, 0)[0]
        schedule.step(*((x,) if rank == 0 else ()), **({"target": target} if rank == 0 else {}))
    assert seen.count("mean") == 2 and seen[-1] == "mean" and seen.index("mean") < len(seen) - 2, seen


def behaviour(mesh, case):
    """Everything else, on two ranks."""
    means(mesh)
    rank, parts, schedule = make(mesh)
    args, keywords = data(rank)
    seen = []

    def handler(step):
        seen.append(str(step))
        step.proceed()

    # The last handler of a kind is the one that is called.
    schedule.handle("F", lambda step: seen.append("replaced"))
    schedule.handle("F", handler)
    schedule.step(*args, **keywords)
    assert seen == [f"F s{rank} m{k}" for k in range(4)], seen
    expected = model.reference(2, 4)[0][1][rank]
    assert all(map(model.close, [p.grad for p in parts[0].submod.parameters()], expected))
    mean = gradients(parts)
    schedule.handle("F", None)
    schedule.step(*args, **keywords)
    assert len(seen) == 4, seen

    # Transfers of a batch are steps, too.
    plan = pipec.compile("zb1p", passes="insert-p2p,batch-p2p", **TWO)
    _, parts, schedule = make(mesh, plan)
    sends = []
    schedule.handle("SEND_F", lambda step: (sends.append(str(step)), step.proceed()))
    schedule.step(*args, **keywords)
    wanted = sum(step["kind"] == pipec.Kind.SEND_F for step in plan.steps[rank])
    assert len(sends) == wanted and torch.allclose(gradients(parts), mean), sends

    # The sum in place of the mean; micro-batches that are split already.
    _, parts, schedule = make(mesh, scale_grads=False)
    x, target = model.make_data(4, 0)[0]
    schedule.step(arg_mbs=[(part,) for part in x.chunk(4)] if rank == 0 else None,
                  target_mbs=list(target.chunk(4)) if rank == 1 else None)
    assert torch.allclose(gradients(parts), 4 * mean)

    # The place of a schedule of PyTorch, with its settings; arguments of the loss function.
    for own, scale_grads in ((torch.distributed.pipelining.Schedule1F1B, True), (torch.distributed.pipelining.ScheduleGPipe, False)):
        stage = PipelineStage(model.make_stage(rank, 2), rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())
        schedule = pipec.torch.replace(
            own(stage, 4, lambda output, target, factor: factor * model.loss_function(output, target), scale_grads=scale_grads), "zb1p")
        schedule.step(*args, **keywords, loss_kwargs={"factor": 3})
        assert schedule.plan.name == "zb1p" and torch.allclose(gradients([stage]), (3 if scale_grads else 12) * mean)

    # A trace has a span per step.
    _, parts, schedule = make(mesh)
    schedule.step(*args, **keywords)
    with pipec.torch.profile(schedule, case) as recorder:
        schedule.step(*args, **keywords)
    assert os.path.getsize(os.path.join(case, f"rank{rank}.json.gz"))
    spans = [event.name for event in recorder.events() if event.name.startswith("PP:")]
    assert f"PP:{rank}F0" in spans and f"PP:{rank}B3" in spans, spans
    kinds = [pipec.Kind(int(step[0])).name for step in schedule.plan.steps[rank]]
    assert sum("WAIT" not in span for span in spans) == sum(not kind.startswith("WAIT") for kind in kinds), spans
    schedule.step(*args, **keywords)

    # An overlap is given to its handler as a whole.
    plan = pipec.compile("one_f_one_b_overlap", target="pytorch", **TWO)
    _, parts, schedule = make(mesh, plan)
    together = []

    def overlap(steps):
        together.append([str(step) for step in steps])
        for step in steps:
            step.wait()
            part = schedule._worker.part(step.stage, step.microbatch)
            for under_way in [edge.outputs for edge in part.sources if step.kind == "F"] + \
                    [edge.gradients for edge in part.targets if step.kind == "B"]:
                assert not under_way[step.microbatch].works
        for step in steps:
            step.proceed()

    schedule.handle("OVERLAP", overlap)
    schedule.step(*args, **keywords)
    assert torch.allclose(gradients(parts), mean)
    assert all(len(steps) == 2 for steps in together) and (together or "overlap" not in schedule.source), together

    # What is refused, on every rank.
    problems = {
        "has 4 micro-batches, the job 3": lambda: pipec.torch.executor(plan, parts, None, 3),
        "receives_ahead=-1 is negative": lambda: pipec.torch.executor(plan, parts, None, 4, receives_ahead=-1),
        "is compiled already": lambda: pipec.torch.executor(plan, parts, None, 4, target="pytorch"),
        "communicators are one, pair, edge": lambda: pipec.torch.executor(plan, parts, None, 4, communicators="two"),
        "not a schedule of PyTorch with stages": lambda: pipec.torch.replace(schedule, "gpipe"),
        "not a kind of step": lambda: schedule.handle("G", print),
        "arg_mbs has 1 micro-batches": lambda: schedule.step(arg_mbs=[()]),
        "gradients are disabled": lambda: torch.no_grad()(schedule.step)(*args, **keywords),
    }
    for text, call in problems.items():
        try:
            call()
        except (ValueError, RuntimeError) as error:
            assert text in str(error), (text, error)
        else:
            raise AssertionError(text)

    # Different schedules on the ranks, and a rank without one.
    for name, text in (("gpipe" if rank else "one_f_one_b", "different schedules"), ("none" if rank else "gpipe", "no schedule|none")):
        try:
            make(mesh, name)
        except (ValueError, RuntimeError, pipec.CompileError) as error:
            assert any(part in str(error) for part in text.split("|")), error
        else:
            raise AssertionError(text)

    # A list that waits for what is never sent: each rank says what it waits for.
    steps = pipec.compile("gpipe", target="pytorch", ranks=2, microbatches=4)
    plan = pipec.Schedule("\n".join(line for line in steps.ir.split("\n") if line.strip() != "SEND_F s0 m3 -> r1"
                                    and "SEND_B s1 m3 -> r0" not in line))
    options = dict(communicators="one", scale_grads=True, args_chunk_spec=None, kwargs_chunk_spec=None,
                   output_merge_spec=None, patience=2, receives_ahead=None, tied_parameters=None)
    source = Source(plan.emit("python", "--passes=", "--verify=none"))
    assert source.communicators is None and source.rank_pairs == [(0, 1)]
    stuck = pipec.torch.Executor(plan, source, parts, model.loss_function, **options)
    try:
        stuck.step(*args, **keywords)
    except RuntimeError as error:
        # (The other rank can find the connection closed.)
        assert "waited for 2 s for" in str(error) and "rank 0 " in str(error) and "rank 1 " in str(error), error
        assert "RECV_F s1 m3 from rank 0" in str(error) or "RECV_B s0 m3 from rank 1" in str(error), error
        return str(error)
    raise AssertionError("it ended")


# Both ranks send and then wait for what the other one sent meanwhile: one queue for both
# directions blocks.
MEET = """\
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0WAIT_SEND_F0,0RECV_B1,0B1,0WAIT_SEND_F1,0REDUCE_GRAD,0WAIT_REDUCE_GRAD
1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1WAIT_SEND_B0,1WAIT_SEND_B1
"""


def run_pipe(mesh, name, make_modules, x, target, steps=1, **options):
    """Gradients after `steps` without clearing them, and those without a pipeline, of
    this rank's modules."""
    plan = name if isinstance(name, pipec.Schedule) else \
        pipec.compile(name, target="pytorch", ranks=mesh["pp"].size(), microbatches=4)
    rank, modules, whole = mesh["pp"].get_local_rank(), make_modules(), make_modules()
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group())
             for s in plan.stages_of(rank)]
    schedule = pipec.torch.executor(plan, parts, torch.nn.functional.mse_loss, plan.microbatches, patience=20, **options)
    for _ in range(steps):
        schedule.step(*((x,) if any(ranks[0] == rank for ranks in plan.maps) else ()), target=target)
        (torch.nn.functional.mse_loss(torch.nn.Sequential(*whole)(x), target)).backward()
    for s in plan.stages_of(rank):
        for mine, expected in zip(modules[s].parameters(), whole[s].parameters(), strict=True):
            assert (mine.grad is None) == (expected.grad is None), (name, s)
            assert mine.grad is None or torch.allclose(mine.grad, expected.grad), (name, s)
    return schedule, rank


class Part(torch.nn.Linear):
    """A stage with a parameter that is not used."""

    def __init__(self, after=None):
        super().__init__(4, 4, dtype=torch.float64)
        self.after, self.unused = after, torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return super().forward(x) if self.after is None else self.after(super().forward(x))


class Tokens(torch.nn.Module):
    """Outputs integers, which have no gradient."""

    def forward(self, x):
        return (x.abs() * 3).long().clamp(max=3)


def details(mesh, case):
    """Small models, on the ranks of the mesh."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 4, dtype=torch.float64), torch.randn(8, 4, dtype=torch.float64)
    ranks = mesh["pp"].size()

    def linear():
        torch.manual_seed(1)
        return [Part() for _ in range(ranks)]

    for communicators in "pair", "edge":
        run_pipe(mesh, "one_f_one_b", linear, x, target, communicators=communicators)
    for name in ["zb1p"] + ["chimera"] * (ranks % 2 == 0):
        run_pipe(mesh, name, linear, x, target, steps=2)  # gradients add up
    if ranks != 2:
        return

    def complex_numbers():
        torch.manual_seed(1)
        return [Part(torch.fft.fft), torch.nn.Sequential(*[module for module in (Real(), Part())])]

    def tokens():
        torch.manual_seed(1)
        return [Tokens(), torch.nn.Sequential(torch.nn.Embedding(4, 4, dtype=torch.float64), Mean(), Part())]

    for name in "one_f_one_b", "zb1p":
        run_pipe(mesh, name, complex_numbers, x, target)
        run_pipe(mesh, name, tokens, x, target)

    # The fewest communicators that do, and no fewer.
    meet = pipec.Schedule.from_csv(MEET)
    schedule, _ = run_pipe(mesh, meet, linear, x, target)
    assert 'communicators = "edge"\n' in schedule.source and "rank_pairs = [\n    (0, 1),\n]" in schedule.source, schedule.source
    try:
        run_pipe(mesh, meet, linear, x, target, communicators="pair")
    except ValueError as error:
        assert "deadlocks with communicators `pair`; it needs `edge`" in str(error), error
    else:
        raise AssertionError("fewer communicators")

    # An evaluation may have another size. A step may not.
    schedule, rank = run_pipe(mesh, "gpipe", linear, x, target)
    for size in 4, 4:
        result = schedule.eval(*((x[:size],) if rank == 0 else ()))
        assert result is None if rank == 0 else result.shape == (size, 4), result
    assert pipec.torch.check_gradients(schedule) == [f"stage {rank}: unused"], pipec.torch.check_gradients(schedule)
    try:
        schedule.step(*((x[:4],) if rank == 0 else ()), target=target[:4])
    except (ValueError, RuntimeError) as error:
        assert "stage 0 gives float64[1, 4] for micro-batch 0, and gave float64[2, 4] in the first run" in str(error), error
    else:
        raise AssertionError("another size")


class Real(torch.nn.Module):
    def forward(self, x):
        return x.real + 2 * x.imag


class Mean(torch.nn.Module):
    def forward(self, x):
        return x.mean(1)


def receives():
    """Receives of a second run are posted ahead, in the order of the first."""
    order = [("RECV_F", 1, k) for k in range(5)]
    posted = []

    def run(ahead, order):
        del posted[:]
        ahead.begin()
        for receive in order:
            ahead.take(receive, lambda transfer: posted.append(transfer) or transfer)
            yield len(posted)
        ahead.end()

    ahead = Ahead(2)
    assert list(run(ahead, order)) == [1, 2, 3, 4, 5]
    for _ in range(2):
        assert list(run(ahead, order)) == [3, 4, 5, 5, 5] and posted == order
    for others, text in ((order[:3], "RECV_F s1 m3 was among"), ([("RECV_F", 1, 7)], "RECV_F s1 m7 was not among")):
        try:
            list(run(ahead, others))
        except RuntimeError as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
    assert list(run(Ahead(0), order)) == [1, 2, 3, 4, 5]


def sources():
    """A traceback shows the lines of the source that failed, if another has its name."""
    text = pipec.compile("gpipe", target="pytorch", ranks=1, microbatches=1).emit("python", "--passes=")
    texts = [text + f"\n\ndef run(rank, x):\n    x.step{k}()\n" for k in range(2)]
    for k, source in enumerate([Source(text) for text in texts]):
        try:
            source.run(0, None)
        except AttributeError:
            assert f"x.step{k}()" in traceback.format_exc(), traceback.format_exc()


receives()
sources()
for ranks in 2, 3:
    executors.run(ranks, [None], function=details)
with tempfile.TemporaryDirectory() as folder:
    executors.run(2, [folder], function=behaviour)
    subprocess.run(["pipec", "calibrate", *sorted(str(trace) for trace in pathlib.Path(folder).iterdir()), "--warmup=0",
                    "--for=one_f_one_b", "-o", os.path.join(folder, "costs.json")], check=True)
    costs = json.loads(pathlib.Path(folder, "costs.json").read_text(encoding="utf-8"))
    assert costs["stages"]["1"]["F"] > 0, costs
