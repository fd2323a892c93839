"""Functions that run the two halves of an overlap at the same time."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Callable

from torch.distributed.pipelining.schedules import (
    BACKWARD_INPUT,
    FORWARD,
    FULL_BACKWARD,
    OVERLAP_F_B,
    _Action,
    _PipelineContext,
    _PipelineScheduleRuntime,
    _wait_batch_p2p,
)


class Member:
    """One half of an overlap, a forward or a backward, for a function that runs
    both. Calling it runs it, with the bookkeeping of PyTorch's runtime; `wait` first
    waits for its input, which a call does too."""

    def __init__(self, action: _Action, context: _PipelineContext):
        self.action = action
        self._context = context
        runtime: Any = context.schedule_ref
        self._runtime = runtime
        self._stages = {stage.stage_index: stage for stage in runtime._stages}
        self.stage: Any = self._stages[action.stage_index]
        """The stage object."""
        self._ready = False

    def __repr__(self) -> str:
        return f"<pipec.torch.Member {self.action}>"

    @property
    def stage_index(self) -> int:
        return self.action.stage_index

    @property
    def microbatch_index(self) -> int:
        assert self.action.microbatch_index is not None
        return self.action.microbatch_index

    def wait(self) -> None:
        """Waits for the receive of the input and for the parameters, if any."""
        if self._ready:
            return
        self._ready = True
        self._runtime._assert_unsharded(self.stage)
        forward = self.action.computation_type == FORWARD
        end = self.stage.is_first if forward else self.stage.is_last
        if end or self.stage_index + (-1 if forward else 1) in self._stages:
            return
        receives = self._runtime.fwd_recv_ops if forward else self._runtime.bwd_recv_ops
        key = (self.stage_index, self.microbatch_index)
        if key not in receives:
            raise RuntimeError(f"{self.action} comes before the receive of its input")
        _wait_batch_p2p(receives.pop(key))

    def __call__(self) -> None:
        self.wait()
        if self.action.computation_type == FORWARD:
            self._forward()
        else:
            self._backward()

    def _forward(self) -> None:
        context, index = self._context, self.microbatch_index
        assert context.arg_mbs is not None and context.kwarg_mbs is not None
        output = self.stage.forward_one_chunk(index, context.arg_mbs[index], context.kwarg_mbs[index])
        self._runtime._maybe_compute_loss(self.stage, output, context.target_mbs, index, None)
        if following := self._stages.get(self.stage_index + 1):
            following.set_local_fwd_input(output, index)

    def _backward(self) -> None:
        runtime, index = self._runtime, self.microbatch_index
        loss = runtime._maybe_get_loss(self.stage, index)
        full = self.action.computation_type == FULL_BACKWARD
        if full:
            runtime.backward_counter[self.stage_index] += 1
        last = full and runtime.backward_counter[self.stage_index] == runtime._n_microbatches
        self.stage.backward_one_chunk(index, loss=loss, full_backward=full, last_backward=last)
        if previous := self._stages.get(self.stage_index - 1):
            previous.set_local_bwd_input(self.stage.get_local_bwd_output(index), index)


def register_overlap(schedule: _PipelineScheduleRuntime, fn: Callable[[Member, Member], None]) -> int:
    """Lets `fn(forward, backward)` run the overlaps of a schedule; without it
    PyTorch runs one member after the other. Each member is run by calling it:

        def overlapped(forward, backward):
            forward.wait(); backward.wait()
            ...  # start both, on streams or threads
            forward()
            backward()

    `wait` makes the current stream wait; another one must wait for it first
    (docs/Python.md).

    Returns how many overlaps this rank has. Raises ValueError when one of them
    is not a forward and a backward in this order.
    """
    count = 0
    for action in schedule.pipeline_order_with_comms[schedule.rank]:
        if action.computation_type != OVERLAP_F_B:
            continue
        kinds = [member.computation_type for member in action.sub_actions or ()]
        if len(kinds) != 2 or kinds[0] != FORWARD or kinds[1] not in (FULL_BACKWARD, BACKWARD_INPUT):
            raise ValueError(f"the overlap {action} is not a forward and a backward")
        count += 1

    def run(action: _Action, ctx: _PipelineContext) -> None:
        assert action.sub_actions is not None
        forward, backward = action.sub_actions
        fn(Member(forward, ctx), Member(backward, ctx))

    schedule.register_custom_function(OVERLAP_F_B, run)
    return count
