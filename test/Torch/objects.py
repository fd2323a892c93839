# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s
"""Schedule objects of PyTorch as schedules of pipec: every class, with its list or by
what its code runs, and a `pipeline_order`. The recorded code is what runs: a job of
real processes posts the same operations in the same order."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import multiprocessing
import os
import sys
import types

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, schedules

import pipec
from pipec import Kind

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import oracle

COMPUTES = (Kind.F, Kind.B, Kind.I, Kind.W)


def stubs(ranks, chunks):
    return [types.SimpleNamespace(num_stages=ranks * chunks, group_size=ranks, group_rank=0, submod=None,
                                  has_backward=True) for _ in range(chunks)]


def alone(kind, stages, microbatches):
    """A schedule for one stage per rank, as far as its code needs it."""
    schedule = kind.__new__(kind)
    schedule._num_stages, schedule._n_microbatches = stages, microbatches
    return schedule


def steps(schedule, kinds=tuple(Kind)):
    """By rank: the kind, stage and micro-batch of each step."""
    return [[step[:3] for step in map(pipec.Step._make, rank.tolist()) if step[0] in kinds] for rank in schedule.steps]


def rows(schedule):
    """The cells of a schedule, as torch dumps them."""
    return [line.split(",") for line in schedule.csv.splitlines()]


# ---------------------------------------------------------------- lists

CLASSES = {"LoopedBFS": (2, 3, 4), "Interleaved1F1B": (2, 2, 4), "InterleavedZeroBubble": (2, 2, 4),
           "ZBVZeroBubble": (2, 2, 4), "DualPipeV": (2, 2, 6)}
for name, (ranks, chunks, microbatches) in CLASSES.items():
    theirs = schedules.get_schedule_class(name)(stubs(ranks, chunks), microbatches, loss_fn=None)
    ours = pipec.torch.from_torch(theirs)
    assert ours.name == type(theirs).__name__ and (ours.ranks, ours.stages) == (ranks, ranks * chunks), ours
    assert rows(ours) == oracle.cells(theirs.pipeline_order_with_comms), name
    assert ours.lint() and all(ours.lint().safe.values()), name
    assert ours.emit("svg").startswith("<svg") and "makespan" in ours.emit("report"), name
    # The order before it is lowered, as an object and as a dictionary, also of texts.
    computes = pipec.torch.from_torch(theirs.pipeline_order, name="mine")
    assert computes.name == "mine" and steps(computes, COMPUTES) == steps(ours, COMPUTES)
    texts = {rank: [action and str(action) for action in row] for rank, row in theirs.pipeline_order.items()}
    assert pipec.torch.from_torch(texts).csv == computes.csv
    theirs.pipeline_order_with_comms = None
    assert steps(pipec.torch.from_torch(theirs), COMPUTES) == steps(ours, COMPUTES)

# Whatever is wrong with a list can be looked at; outputs refuse it.
broken = {0: ["0F0", "0B0"], 1: ["1B0", "1F0"]}
found = pipec.torch.from_torch(broken)
assert {finding.kind for finding in found.lint().errors} >= {"StepTooEarly"}
try:
    found.emit("svg")
    raise AssertionError("drawn")
except pipec.CompileError as error:
    assert "precedes" in str(error), error


def refused(kind, text, argument):
    try:
        pipec.torch.from_torch(argument)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {argument}")


refused(TypeError, "object holds no order", object())
refused(TypeError, "no ranks", {})
refused(ValueError, "the ranks 1, 2", {1: ["1F0"], 2: ["2F0"]})
refused(pipec.CompileError, "unknown step `0X0`", {0: ["0X0"]})


# ---------------------------------------------------------------- code

class Backwards(schedules.ScheduleGPipe):
    """An own schedule: the backwards in reverse."""

    def _step_microbatches(self, arg_mbs=None, kwarg_mbs=None, target_mbs=None, losses=None, return_outputs=True,
                           loss_kwargs=None):
        arg_mbs, kwarg_mbs = self._check_inputs(arg_mbs, kwarg_mbs, target_mbs, losses)
        for k in range(self._n_microbatches):
            schedules._wait_batch_p2p(self._stage.get_fwd_recv_ops(k))
            self._stage.forward_one_chunk(k, arg_mbs[k], kwarg_mbs[k])
        for k in reversed(range(self._n_microbatches)):
            self._stage.backward_one_chunk(k, loss=self._maybe_get_loss(self._stage, k), last_backward=k == 0)


class Nothing(schedules.Schedule1F1B):
    def _step_microbatches(self, *args, **keywords):
        pass


class Strange(schedules.Schedule1F1B):
    def _step_microbatches(self, *args, **keywords):
        self._stage.fly()


for name, kind in ("one_f_one_b", schedules.Schedule1F1B), ("gpipe", schedules.ScheduleGPipe):
    for stages, microbatches in (1, 3), (2, 2), (2, 5), (4, 4), (4, 9):
        ours = pipec.torch.from_torch(alone(kind, stages, microbatches))
        assert ours.lint() and not ours.lint().findings, str(ours.lint())
        library = pipec.compile(name, ranks=stages, microbatches=microbatches)
        assert steps(ours, COMPUTES) == steps(library), (name, stages, microbatches)
forwards = pipec.torch.from_torch(alone(schedules._ScheduleForwardOnly, 3, 4), name="evaluation")
assert forwards.forward_only and forwards.name == "evaluation" and {step[0] for step in steps(forwards)[1]} == \
    {Kind.RECV_F, Kind.F, Kind.SEND_F, Kind.WAIT_SEND_F}
own = pipec.torch.from_torch(alone(Backwards, 1, 3))
assert own.csv == "0F0,0F1,0F2,0B2,0B1,0B0\n", own.csv
refused(TypeError, "Nothing holds no order of steps, and its code runs no forward", alone(Nothing, 2, 2))
refused(TypeError, "its code cannot be recorded: '_Stage' object has no attribute 'fly'", alone(Strange, 2, 2))


# ---------------------------------------------------------------- the same code in a job

RANKS, MICROBATCHES = 3, 5


def run(rank, kind, pipe):
    """Trains one step, and sends what was posted and computed, in order."""
    os.environ.update(MASTER_ADDR="127.0.0.1", RANK=str(rank), WORLD_SIZE=str(RANKS))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/{kind.__name__}.rendezvous", rank=rank, world_size=RANKS)
    stage = PipelineStage(torch.nn.Linear(2, 2), rank, RANKS, torch.device("cpu"))
    schedule = kind(stage, MICROBATCHES, loss_fn=torch.nn.functional.mse_loss)
    argument = {0: (torch.zeros(MICROBATCHES, 2),)}.get(rank, ())
    target = {"target": torch.zeros(MICROBATCHES, 2)} if rank == RANKS - 1 else {}
    schedule.step(*argument, **target)  # exchanges shapes
    log = []

    def logged(kind, function):
        def call(microbatch, *args, **keywords):
            log.append((kind, rank, microbatch))
            return function(microbatch, *args, **keywords)
        return call

    stage.forward_one_chunk = logged("F", stage.forward_one_chunk)
    stage.backward_one_chunk = logged("B", stage.backward_one_chunk)
    names = {}
    for name in "get_fwd_recv_ops", "get_fwd_send_ops", "get_bwd_recv_ops", "get_bwd_send_ops":
        _, direction, end, _ = name.split("_")

        def ops(microbatch, function=getattr(stage, name), kind=f"{end}_{direction[0]}".upper()):
            found = function(microbatch)
            names.update({id(op): (kind, rank, microbatch) for op in found})
            kept.extend(found)  # so that no other object takes the number
            return found

        setattr(stage, name, ops)
    kept = []
    post = schedules._batch_p2p

    def posted(ops, desc=None):
        log.extend(names[id(op)] for op in ops)
        return post(ops, desc)

    schedules._batch_p2p = posted
    schedule.step(*argument, **target)
    pipe.send(log)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    for kind in schedules.Schedule1F1B, schedules.ScheduleGPipe:
        context = multiprocessing.get_context("fork")
        pipes = [context.Pipe() for _ in range(RANKS)]
        processes = [context.Process(target=run, args=(rank, kind, pipes[rank][1])) for rank in range(RANKS)]
        for process in processes:
            process.start()
        logs = [pipe[0].recv() for pipe in pipes]
        for process in processes:
            process.join()
            assert process.exitcode == 0
        recorded = steps(pipec.torch.from_torch(alone(kind, RANKS, MICROBATCHES)),
                         (Kind.F, Kind.B, Kind.SEND_F, Kind.RECV_F, Kind.SEND_B, Kind.RECV_B))
        assert [[(str(Kind(k)), s, m) for k, s, m in rank] for rank in recorded] == logs, (recorded, logs)
