"""Schedules of pipec in DeepSpeed's pipeline engine, and DeepSpeed's in pipec.

    pipec.deepspeed.use("schedule.json")     # before engine.train_batch()

    text = pipec.deepspeed.dump(TrainSchedule, stages=4, micro_batches=8)    # a CSV

DeepSpeed is imported when a function needs it. The engine takes its schedule from
the name `TrainSchedule` of the module `deepspeed.runtime.pipe.schedule` for every
batch; this module is tested with DeepSpeed 0.19.8.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import collections
import importlib
import json
import os
from typing import Any, Iterator

from ._schedule import Schedule

FORMAT = "pipec-deepspeed 1"


def _module() -> Any:
    return importlib.import_module("deepspeed.runtime.pipe.schedule")


def use(schedule: str | os.PathLike[str] | Schedule) -> type:
    """Makes every pipeline engine of this process train with a schedule: a file of
    `pipec --emit=deepspeed`, or a schedule that DeepSpeed can run (docs/DeepSpeed.md).

    Takes effect at the next `train_batch`. Returns the class that now is DeepSpeed's
    `TrainSchedule`; its constructor raises ValueError if the engine has another
    number of stages or micro-batches. Raises ValueError for another file, and
    CompileError for a schedule that DeepSpeed cannot run.
    """
    if isinstance(schedule, Schedule):
        source, text = f"schedule {schedule.name}", schedule.emit("deepspeed")
    else:
        source = os.fspath(schedule)
        with open(source, encoding="utf-8") as file:
            text = file.read()
    data: Any = None
    try:
        data = json.loads(text)
        form = data["format"]
    except (ValueError, KeyError, TypeError):
        form = None
    if form != FORMAT:
        raise ValueError(f"{source} is not a file of `pipec --emit=deepspeed`")
    module = _module()

    class FromPipec(module.PipeSchedule):  # type: ignore[misc, name-defined]
        """The instructions of a schedule of pipec."""

        def __init__(self, micro_batches: int, stages: int, stage_id: int):
            if (stages, micro_batches) != (data["ranks"], data["microbatches"]):
                raise ValueError(f"{source} is for {data['ranks']} stages and {data['microbatches']} micro-batches, "
                                 f"and the engine has {stages} and {micro_batches}")
            super().__init__(micro_batches, stages, stage_id)

        def steps(self) -> Iterator[list[Any]]:
            for step in data["instructions"][self.stage_id]:
                yield [getattr(module, name)(*buffer) for name, *buffer in step]

        def num_pipe_buffers(self) -> int:
            count: int = data["buffers"][self.stage_id]
            return count

    module.TrainSchedule = FromPipec
    return FromPipec


# The cell of an instruction with a buffer. BackwardOnlyPass is the first half of a
# backward in the schedules of Megatron-DeepSpeed; WeightPass, the other half, has no
# buffer.
_CELLS = {
    "RecvActivation": "RECV_F",
    "ForwardPass": "F",
    "SendActivation": "SEND_F",
    "RecvGrad": "RECV_B",
    "BackwardPass": "B",
    "BackwardOnlyPass": "I",
    "SendGrad": "SEND_B",
}
_END_OF_BATCH = ("ReduceTiedGrads", "ReduceGrads", "OptimizerStep")


class _Rank:
    """The cells of one rank. Buffers have numbers in DeepSpeed, micro-batches do
    not: a buffer gets the next one when it is filled, on the first rank from the
    data and on others from the rank before, and keeps it until its gradient is
    sent."""

    def __init__(self, rank: int, stages: int, buffers: int, name: str):
        self.rank, self.buffers, self.name = rank, buffers, name
        self.first, self.last = rank == 0, rank == stages - 1
        self.held: dict[int, int] = {}
        self.filled = self.loaded = 0
        self.weights: collections.deque[int] = collections.deque()
        self.cells: list[str] = []

    def fail(self, what: str) -> ValueError:
        return ValueError(f"{self.name}, stage {self.rank}: {what}")

    def add(self, kind: str, microbatch: int) -> None:
        self.cells.append(f"{self.rank}{kind}{microbatch}")

    def fill(self, buffer: int, instruction: str) -> None:
        if buffer in self.held:
            raise self.fail(f"{instruction} overwrites buffer {buffer}, which micro-batch {self.held[buffer]} still uses")
        self.held[buffer] = self.filled
        self.filled += 1

    def load(self, buffer: int, microbatch: int | None) -> None:
        if self.first:
            self.fill(buffer, "LoadMicroBatch")
        elif not self.last:
            raise self.fail("LoadMicroBatch is for the first and the last stage")
        elif microbatch != self.loaded:
            held = "no micro-batch" if microbatch is None else f"micro-batch {microbatch}"
            raise self.fail(f"LoadMicroBatch takes the labels of micro-batch {self.loaded}, and buffer {buffer} has {held}")
        self.loaded += 1

    def run(self, instruction: Any) -> None:
        name = type(instruction).__name__
        if name in _END_OF_BATCH:
            return
        if name == "WeightPass":
            if not self.weights:
                raise self.fail("WeightPass has no BackwardOnlyPass before it")
            self.add("W", self.weights.popleft())
            return
        if name not in _CELLS and name != "LoadMicroBatch":
            raise self.fail(f"unknown instruction {name}")
        buffer = instruction.kwargs["buffer_id"]
        if not 0 <= buffer < self.buffers:
            raise self.fail(f"{name} uses buffer {buffer} of {self.buffers}")
        if name == "RecvActivation":
            self.fill(buffer, name)
        microbatch = self.held.get(buffer)
        if name == "LoadMicroBatch":
            self.load(buffer, microbatch)
            return
        if microbatch is None:
            raise self.fail(f"{name} uses buffer {buffer}, which has no micro-batch")
        self.add(_CELLS[name], microbatch)
        if name == "BackwardOnlyPass":
            self.weights.append(microbatch)
        if name == "SendGrad" or (self.first and name in ("BackwardPass", "BackwardOnlyPass")):
            del self.held[buffer]


def dump(schedule: type, stages: int, micro_batches: int) -> str:
    """What a schedule class of DeepSpeed makes, as a CSV with its transfers, which
    every command of pipec reads; `pipec lint --for=deepspeed` checks it.

    The class is constructed for every stage, as the engine does. The instructions at
    the end of a batch (reductions and optimizer) are omitted. Raises ValueError,
    with the instruction, if the class uses buffers that have no micro-batch, that
    another one still uses, or whose labels are those of another one, and for unknown
    instructions.
    """
    rows = []
    for stage in range(stages):
        made = schedule(micro_batches=micro_batches, stages=stages, stage_id=stage)
        rank = _Rank(stage, stages, made.num_pipe_buffers(), schedule.__name__)
        for step in made:
            for instruction in step:
                rank.run(instruction)
        rows.append(",".join(rank.cells) + "\n")
    return "".join(rows)


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python3 -m pipec.dump deepspeed`."""
    parser.add_argument("--class", dest="schedule", default="deepspeed.runtime.pipe.schedule:TrainSchedule",
                        metavar="MODULE:CLASS", help="the schedule (default: %(default)s)")
    parser.add_argument("--stages", type=int, required=True)
    parser.add_argument("--micro-batches", type=int, required=True)


def dump_command(options: argparse.Namespace) -> str:
    """What that command prints."""
    module, _, name = options.schedule.partition(":")
    return dump(getattr(importlib.import_module(module), name), options.stages, options.micro_batches)
