"""Steps for handlers, and the data that they work with."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence

import torch

from ._metas import Tensors, has_gradient, unit_text
from ._source import METHODS
from ._transfers import Posted

if TYPE_CHECKING:
    from ._worker import Worker

COMPUTES = ("F", "B", "I", "W")


class Ends(NamedTuple):
    """The first and the last step of each sort of a stage in a run: its forwards, and
    its backwards."""

    first: dict[tuple[int, bool], tuple[Any, ...]]
    last: dict[tuple[int, bool], tuple[Any, ...]]


def ends_of(steps: Sequence[tuple[Any, ...]]) -> Ends:
    """Those of the list of a rank."""
    computes = [step for step in steps if step[0] in COMPUTES]
    return Ends({(step[1], step[0] == "F"): step for step in reversed(computes)},
                {(step[1], step[0] == "F"): step for step in computes})


class Step:
    """A step, for a handler (`Executor.handle`).

    A handler calls `proceed`, or does the work itself and calls `finish`:

        def backward(step):
            torch.autograd.backward(step.outputs, step.output_gradients)
            step.finish()
    """

    def __init__(self, kind: str, numbers: tuple[int, ...], worker: Worker, do: Callable[..., None]):
        self.kind, self.stage = kind, numbers[0]
        slices = worker.slices
        self.microbatch = numbers[1] // slices if len(numbers) > 1 else None
        self.slice = numbers[1] % slices if len(numbers) > 1 else None
        """0 without slices."""
        self.other = numbers[2] if len(numbers) > 2 else None
        """Of a transfer in a graph of stages: the stage at the other end, if it is not
        the next or the one before."""
        self.ended = False
        """Whether `proceed` or `finish` was called."""
        self._numbers: tuple[int, ...] = numbers
        self._worker, self._do = worker, do

    def wait(self) -> None:
        """Waits until the inputs of a compute step have arrived, as `proceed` does first.
        Other steps have none."""
        self._worker.wait_inputs(self.kind, *self._numbers[:2])

    def proceed(self) -> None:
        """Does what the executor does without a handler."""
        self.ended = True
        self._do(*self._numbers)

    @property
    def first(self) -> bool:
        """Whether it is the first forward of its stage in this run, or the first of its
        backwards (`B`, `I` or `W`)."""
        return self._is(self._worker.ends.first)

    @property
    def last_backward(self) -> bool:
        """Whether it is the last of the backwards of its stage in this run, after which
        the gradients of the stage are complete."""
        return self.kind != "F" and self._is(self._worker.ends.last)

    def _is(self, ends: Mapping[tuple[int, bool], tuple[Any, ...]]) -> bool:
        return ends.get((self.stage, self.kind == "F")) == (self.kind, *self._numbers)

    @property
    def inputs(self) -> Any:
        """Of a compute step, the tensors that its module is called with. It waits for
        those of an `F`."""
        part, unit = self._place()
        if self.kind != "F":
            return _flat(part.kept[unit][0]) if unit in part.kept else ()
        if not part.sources:
            return self._worker.args[unit]
        tensors = _flat([self._worker.arrived(edge.outputs, unit) for edge in part.sources])
        if torch.is_grad_enabled():
            for tensor in tensors:
                if has_gradient(tensor):
                    tensor.requires_grad_()
        return tensors

    @property
    def kwargs(self) -> dict[str, Any]:
        """Of an `F`, the keyword arguments of its module."""
        return self._worker.kwargs[self._place()[1]]

    @property
    def outputs(self) -> Tensors:
        """Of a `B` or an `I`, what the backward begins with: the outputs that have a
        gradient, or the loss. Of an `F` that has ended, all outputs, or the loss. Of a
        send, the tensors that it sends."""
        part, unit = self._place()
        if self.kind.startswith("SEND"):
            edge = self._worker.edge(self.kind, *self._numbers)
            return (edge.outputs if self.kind == "SEND_F" else edge.gradients)[unit].tensors
        if self.kind == "F":
            return part.kept[unit][1] if unit in part.kept else ()
        return tuple(self._roots()[0])

    @property
    def output_gradients(self) -> Tensors:
        """Of a `B` or an `I`, the gradients of `outputs`. It waits for them."""
        outputs, gradients = self._roots()
        return tuple([torch.ones_like(output) if gradient is None else gradient for output, gradient in zip(outputs, gradients)])

    @property
    def input_gradients(self) -> tuple[torch.Tensor | None, ...]:
        """Of a `B` or an `I`, the gradients of `inputs` so far, None where there is none."""
        part, unit = self._place()
        if unit in part.kept:
            return tuple([value.grad for value in self.inputs])
        return _flat([edge.gradients[unit].tensors for edge in part.sources if unit in edge.gradients])

    def finish(self, *results: Any) -> None:
        """Ends a step whose work the handler has done. An `F` is given what the module
        returns; a `B` or an `I` the gradients of `inputs`, or nothing if they are in
        `grad` of each; a receive the tensors."""
        self.ended = True
        part, unit = self._place() if len(self._numbers) > 1 else (None, -1)
        worker = self._worker
        if part is None or self.kind.startswith("WAIT"):
            return
        if self.kind == "F":
            if (part.index, unit) in worker.extras.remade | worker.extras.copied:
                raise ValueError(f"{self}: the executor must run what is recomputed or copied")
            self.inputs  # noqa: B018 (they have arrived)
            inputs = [worker.take(edge.outputs, unit) for edge in part.sources]
            result = results[0] if len(results) == 1 else results
            worker.give(part, unit, result)
            part.kept[unit] = inputs, worker.ends_with(part, unit, result)
        elif self.kind in ("B", "I"):
            self._roots()
            part.roots.pop(unit)
            inputs, _ = part.kept.pop(unit)
            for value, gradient in zip(_flat(inputs), results):
                value.grad = gradient
            if self.kind == "I":
                part.split[unit] = False, []
            worker.leave(part, unit)
            worker.hand_back(part, unit, inputs)
        elif self.kind == "W":
            part.split.pop(unit, None)
        elif self.kind.startswith("SEND"):
            edge = worker.edge(self.kind, *self._numbers)
            (edge.outputs if self.kind == "SEND_F" else edge.gradients).pop(unit)
        elif self.kind.startswith("RECV"):
            edge = worker.edge(self.kind, *self._numbers)
            (edge.outputs if self.kind == "RECV_F" else edge.gradients)[unit] = Posted([], results, str(self))

    def _place(self) -> tuple[Any, int]:
        unit = self._numbers[1]
        return self._worker.part(self.stage, unit), unit

    def _roots(self) -> tuple[list[torch.Tensor], list[Any]]:
        part, unit = self._place()
        roots: dict[int, tuple[list[torch.Tensor], list[Any]]] = part.roots
        if unit not in roots:
            roots[unit] = self._worker.output_gradients(part, unit, part.kept[unit][1])
        return roots[unit]

    def __repr__(self) -> str:
        place = "t" if self.kind == "REDUCE_TIED" else "s"
        text = f"{self.kind} {place}{self.stage}"
        if self.microbatch is not None:
            text += " " + unit_text(self._numbers[1], self._worker.slices)
        arrow = " <- " if self.kind.startswith("RECV") else " -> "
        return text + "".join(f"{arrow}s{other}" for other in self._numbers[2:])


def _flat(tensors: Sequence[Tensors]) -> Tensors:
    return tuple([value for values in tensors for value in values])


def handled(worker: Worker, kind: str, do: Callable[..., None], handler: Callable[[Any], None]) -> Callable[..., None]:
    """What runs the steps of a kind with a handler. Raises RuntimeError when the handler
    of a compute step leaves it undone."""
    def check(step: Step) -> None:
        if not step.ended and step.kind in COMPUTES:
            raise RuntimeError(f"the handler of {step} has called neither `proceed` nor `finish`")

    def run(*numbers: Any) -> None:
        if kind != "OVERLAP":
            step = Step(kind, numbers, worker, do)
            handler(step)
            return check(step)
        steps = [Step(member, tuple(rest), worker, getattr(worker, METHODS[member])) for member, *rest in numbers]
        handler(steps)
        for step in steps:
            check(step)

    return run
