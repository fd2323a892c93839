"""What the code of a schedule without a list runs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import copy
import types
from typing import Any, NamedTuple, Sequence

from .._lists import group_line, step_ir


class _Transfer(NamedTuple):
    """An operation of P2P communication, as the code posts it."""

    kind: str
    stage: int
    microbatch: int
    peer: int

    def __str__(self) -> str:
        arrow = "->" if self.kind.startswith("SEND") else "<-"
        return f"{self.kind} s{self.stage} m{self.microbatch} {arrow} r{self.peer}"


class _Stage:
    """The stage of a rank, whose steps are lines of step IR and nothing else."""

    def __init__(self, stage: int, stages: int):
        self.stage_index = self.group_rank = stage
        self.num_stages = self.group_size = stages
        self.is_first, self.is_last = stage == 0, stage == stages - 1
        self.has_backward, self.submod = True, None
        self.lines: list[str] = []

    def _transfers(self, kind: str, microbatch: int, peer: int) -> list[_Transfer]:
        """The ends of the pipeline have no neighbour."""
        return [_Transfer(kind, self.stage_index, microbatch, peer)] if 0 <= peer < self.num_stages else []

    def get_fwd_recv_ops(self, microbatch: int) -> list[_Transfer]:
        return self._transfers("RECV_F", microbatch, self.stage_index - 1)

    def get_fwd_send_ops(self, microbatch: int) -> list[_Transfer]:
        return self._transfers("SEND_F", microbatch, self.stage_index + 1)

    def get_bwd_recv_ops(self, microbatch: int) -> list[_Transfer]:
        return self._transfers("RECV_B", microbatch, self.stage_index + 1)

    def get_bwd_send_ops(self, microbatch: int) -> list[_Transfer]:
        return self._transfers("SEND_B", microbatch, self.stage_index - 1)

    def forward_one_chunk(self, microbatch: int, *_: Any, **__: Any) -> None:
        self.lines.append(f"F s{self.stage_index} m{microbatch}")

    def backward_one_chunk(self, microbatch: int, *_: Any, full_backward: bool = True, **__: Any) -> None:
        self.lines.append(f"{'B' if full_backward else 'I'} s{self.stage_index} m{microbatch}")

    def backward_weight_one_chunk(self, microbatch: int, *_: Any, **__: Any) -> None:
        self.lines.append(f"W s{self.stage_index} m{microbatch}")

    def perform_reduce_grad(self, *_: Any) -> None:
        self.lines += [f"REDUCE_GRAD s{self.stage_index}", f"WAIT_REDUCE_GRAD s{self.stage_index}"]

    # What takes the place of functions of torch.distributed.pipelining.schedules.

    def batch_p2p(self, ops: Sequence[_Transfer], desc: str | None = None) -> list[_Transfer]:
        """Operations of one direction are posted one by one, others together."""
        together = len({op.kind[:4] for op in ops}) > 1
        self.lines += [group_line(list(map(str, ops)))] if together else map(str, ops)
        return list(ops)

    def sorted_batch_p2p(self, ops: Sequence[_Transfer], desc: str | None = None) -> dict[int, list[_Transfer]]:
        return {peer: self.batch_p2p([op for op in ops if op.peer == peer]) for peer in sorted({op.peer for op in ops})}

    def wait_batch_p2p(self, works: Sequence[_Transfer]) -> None:
        """A rank waits for a receive at the step that needs it."""
        self.lines += [f"WAIT_{op.kind} s{op.stage} m{op.microbatch}" for op in works if op.kind.startswith("SEND")]

    def wait_and_release(self, stage: Any, microbatch: int, ops: list[_Transfer],
                         works: Sequence[list[_Transfer]]) -> None:
        for batch in works:
            self.wait_batch_p2p(batch)
            batch.clear()
        ops.clear()


def _run(schedule: Any, stage: _Stage) -> None:
    """Runs the schedule's `_step_microbatches` on `stage`. The function is that of
    the class, in a copy of its module's names where transfers are recorded."""
    function = type(schedule)._step_microbatches
    names = {**function.__globals__, "_batch_p2p": stage.batch_p2p, "_sorted_batch_p2p": stage.sorted_batch_p2p,
             "_wait_batch_p2p": stage.wait_batch_p2p, "_wait_and_release_fwd_send": stage.wait_and_release}
    recorded = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    recorded.__kwdefaults__ = function.__kwdefaults__
    runner = copy.copy(schedule)
    # Members of the instance hide the methods of the class.
    runner._stage = stage
    runner._check_inputs = lambda args, kwargs, *_, **__: (args, kwargs)
    runner.__dict__.setdefault("scale_grads", True)
    runner.__dict__.setdefault("_finalize_gradients", True)
    for method in "_initialize_stage", "_maybe_compute_loss", "_maybe_get_loss", "_update_losses":
        setattr(runner, method, lambda *_, **__: None)
    microbatches = schedule._n_microbatches
    recorded(runner, [()] * microbatches, [{}] * microbatches)


def record(schedule: Any, name: str | None = None) -> str:
    """What a schedule without a list runs on each rank, as step IR: its code runs
    on stages that only record. Transfers that it posts together are batches. `name`
    is that of the schedule, by default that of the class.

    Raises TypeError when the code needs more than these stages have.
    """
    kind = type(schedule).__name__
    stages, microbatches = schedule._num_stages, schedule._n_microbatches
    recorded = [_Stage(stage, stages) for stage in range(stages)]
    try:
        for stage in recorded:
            _run(schedule, stage)
    except Exception as error:  # noqa: BLE001 (the code of a class that is not known)
        raise TypeError(f"{kind} holds no order of steps, and its code cannot be recorded: {error}") from error
    lines = [line for stage in recorded for line in stage.lines]
    if not any(line.startswith("F ") for line in lines):
        raise TypeError(f"{kind} holds no order of steps, and its code runs no forward")
    header = [] if any(line.startswith(("B ", "I ")) for line in lines) else ["forward_only"]
    return step_ir(name or kind, [stage.lines for stage in recorded], [list(range(stages))], microbatches, header)
