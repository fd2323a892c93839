"""Overlaps on a second stream."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Callable

import torch


def overlap_streams(device: torch.device | str | None = None) -> Callable[..., None]:
    """A function that runs the steps of an overlap beside each other, the first on a
    stream of its own, for `Executor.handle("OVERLAP", ...)` and for `register_overlap`:

        schedule.handle("OVERLAP", pipec.torch.overlap_streams())

    The streams wait for each other before and after the overlap, and memory that one of
    them allocates is not used again before both have reached its end. Without CUDA the
    steps run in sequence."""
    other: list[Any] = []

    def run(*given: Any) -> None:
        steps = list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)
        begin = [getattr(step, "proceed", step) for step in steps]
        if not torch.cuda.is_available() or len(steps) < 2:
            for do in begin:
                do()
            return
        if not other:
            other.append(torch.cuda.Stream(device))  # type: ignore[no-untyped-call, unused-ignore]
        side, current = other[0], torch.cuda.current_stream(device)
        for step in steps:
            step.wait()  # `current` waits for the inputs,
        side.wait_stream(current)  # and so does `side`, and for weights and outputs
        with torch.cuda.stream(side):
            begin[0]()
        for do in begin[1:]:
            do()
        current.wait_stream(side)
        side.wait_stream(current)  # memory of one may be freed in steps of the other
        for step in steps:
            for tensor in _made_by(step):
                tensor.record_stream(side)
                tensor.record_stream(current)

    return run


def _made_by(step: Any) -> list[torch.Tensor]:
    """What a step of an executor has made for others."""
    kind = getattr(step, "kind", None)
    found = step.outputs if kind == "F" else step.input_gradients if kind in ("B", "I") else ()
    return [tensor for tensor in found if tensor is not None and tensor.is_cuda]
