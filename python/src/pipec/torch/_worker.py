"""What an executor of `pipec --emit=python` calls: the steps of one rank, done with
the modules and transfers of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

import torch
import torch.distributed as dist
from torch.distributed.pipelining._backward import stage_backward_input, stage_backward_weight

from ._replicas import Replicas, add_gradients, flat_gradients
from ._transfers import Posted, Transfers

Tensors = tuple[torch.Tensor, ...]


def has_gradient(value: torch.Tensor | Meta) -> bool:
    """Whether a tensor of this type can have a gradient."""
    return value.dtype.is_floating_point or value.dtype.is_complex


class Meta(NamedTuple):
    """A tensor that stages exchange."""

    shape: torch.Size
    dtype: torch.dtype

    def empty(self, device: torch.device) -> torch.Tensor:
        return torch.empty(self.shape, dtype=self.dtype, device=device)


def meta_text(metas: Sequence[Meta]) -> str:
    return ", ".join(f"{str(meta.dtype).removeprefix('torch.')}{list(meta.shape)}" for meta in metas) or "no tensor"


class Part:
    """A stage of this rank, in one direction."""

    def __init__(self, index: int, replicas: Replicas, device: torch.device, before: int | None, after: int | None):
        self.index, self.replicas, self.device = index, replicas, device
        self.module = replicas.module
        # The ranks of the neighbouring stages; None where there is no such stage.
        self.before, self.after = before, after
        # The same stages where this rank holds them.
        self.part_before: Part | None = None
        self.part_after: Part | None = None
        # The rank of the same stage in the other direction.
        self.other: int | None = None
        # What passes to and from the neighbours, set before the first run.
        self.inputs_meta: list[Meta] = []
        self.outputs_meta: list[Meta] = []
        self.clear()

    def clear(self) -> None:
        # By micro-batch: what arrived or is under way, what waits to be sent, and
        # what the backward needs.
        self.inputs: dict[int, Posted] = {}
        self.gradients: dict[int, Posted] = {}
        self.outputs: dict[int, Tensors] = {}
        self.input_gradients: dict[int, Tensors] = {}
        self.kept: dict[int, tuple[Tensors, Tensors]] = {}
        self.split: dict[int, Any] = {}


class Step:
    """A step, for a handler (`Executor.handle`)."""

    def __init__(self, kind: str, stage: int, microbatch: int | None, do: Callable[..., None]):
        self.kind, self.stage, self.microbatch = kind, stage, microbatch
        self._do = do

    def proceed(self) -> None:
        """Does what the executor does without a handler."""
        self._do(self.stage) if self.microbatch is None else self._do(self.stage, self.microbatch)

    def __repr__(self) -> str:
        return f"{self.kind} s{self.stage}" + ("" if self.microbatch is None else f" m{self.microbatch}")


METHODS = {"F": "forward", "B": "backward", "I": "backward_input", "W": "backward_weight", "SEND_F": "send_forward",
           "RECV_F": "recv_forward", "SEND_B": "send_backward", "RECV_B": "recv_backward",
           "WAIT_SEND_F": "wait_send_forward", "WAIT_SEND_B": "wait_send_backward", "UNSHARD": "unshard",
           "RESHARD": "reshard", "REDUCE_GRAD": "reduce_grad", "WAIT_REDUCE_GRAD": "wait_reduce_grad"}
"""The methods of a worker by the kinds of steps."""


class Worker:
    """Runs the steps of one rank. The list says the order; data dependencies are
    satisfied by it, as pipec verified."""

    def __init__(self, parts: Sequence[Mapping[int, Part]], split: int, transfers: Transfers,
                 loss_fn: Callable[..., Any] | None, loss_scale: float | None):
        # By direction and stage; micro-batches from `split` on flow in direction 1.
        self._parts, self._split = parts, split
        self._transfers = transfers
        self._loss_fn, self._loss_scale = loss_fn, loss_scale
        self._sends: dict[tuple[str, int, int], Posted] = {}
        # Gradients from before the run, where the copies of a stage are added.
        self._earlier: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        # The inputs of a run and its results, by micro-batch.
        self.args: Sequence[tuple[Any, ...]] = ()
        self.kwargs: Sequence[dict[str, Any]] = ()
        self.targets: Sequence[Any] = ()
        self.results: dict[int, Any] = {}
        self.losses: dict[int, torch.Tensor] = {}
        self.computes_loss = True

    def _part(self, stage: int, microbatch: int) -> Part:
        return self._parts[microbatch >= self._split][stage]

    def all_parts(self) -> list[Part]:
        return [part for parts in self._parts for part in parts.values()]

    def begin(self, args: Sequence[tuple[Any, ...]], kwargs: Sequence[dict[str, Any]], targets: Sequence[Any]) -> None:
        self.args, self.kwargs, self.targets = args, kwargs, targets
        self.results, self.losses = {}, {}
        for part in self.all_parts():
            part.clear()
            part.replicas.begin()
        self._earlier = []
        if len(self._parts) == 2:  # only what this run adds is exchanged
            for parameter in {id(p): p for part in self.all_parts() for p in part.module.parameters()}.values():
                if parameter.grad is not None:
                    self._earlier.append((parameter, parameter.grad))
                    parameter.grad = None

    def finish(self) -> None:
        for posted in self._sends.values():
            self._transfers.wait(posted)
        self._sends.clear()
        for parameter, gradient in self._earlier:
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        self._earlier = []

    # Computes

    def _inputs(self, part: Part, microbatch: int) -> Tensors:
        if part.before is None:
            return self.args[microbatch]
        return self._arrived(part.inputs.pop(microbatch))

    def _arrived(self, posted: Posted) -> Tensors:
        if posted.works:
            self._transfers.wait(posted)
        return posted.tensors

    def forward(self, stage: int, microbatch: int) -> None:
        part = self._part(stage, microbatch)
        inputs = self._inputs(part, microbatch)
        part.replicas.ready()
        with part.replicas.quiet():
            result = part.module(*inputs, **self.kwargs[microbatch])
        outputs = result if isinstance(result, tuple) else (result,)
        if part.after is None:
            self.results[microbatch] = result
            if self._loss_fn is not None and self.computes_loss:
                loss = self._loss_fn(result, self.targets[microbatch])
                self.losses[microbatch] = loss
                outputs = (loss,)
        else:
            self._check(part, microbatch, outputs)
            self._pass_on(part, microbatch, outputs)
        part.kept[microbatch] = inputs, outputs

    def _check(self, part: Part, microbatch: int, outputs: Tensors) -> None:
        """The stage after has room for outputs of the shapes of the first run."""
        found = [Meta(output.shape, output.dtype) for output in outputs]
        if found != part.outputs_meta:
            raise ValueError(f"stage {part.index} gives {meta_text(found)} for micro-batch {microbatch}, and gave "
                             f"{meta_text(part.outputs_meta)} in the first run")

    def _pass_on(self, part: Part, microbatch: int, outputs: Tensors) -> None:
        after = part.part_after
        if after is None:
            part.outputs[microbatch] = outputs
            return
        tensors = tuple(output.detach().requires_grad_(has_gradient(output)) for output in outputs)
        after.inputs[microbatch] = Posted([], tensors, "")

    def _output_gradients(self, part: Part, microbatch: int, outputs: Tensors) -> tuple[list[torch.Tensor], list[Any]]:
        """The outputs that have a gradient, and their gradients."""
        if part.after is None:
            scale = None if self._loss_scale is None else outputs[0].new_full((), self._loss_scale)
            return [outputs[0]], [scale]
        gradients = iter(self._arrived(part.gradients.pop(microbatch)))
        pairs = [(output, next(gradients)) for output in outputs if has_gradient(output)]
        pairs = [(output, gradient) for output, gradient in pairs if output.requires_grad]
        return [output for output, _ in pairs], [gradient for _, gradient in pairs]

    def _hand_back(self, part: Part, microbatch: int, inputs: Tensors) -> None:
        """Passes the gradients of the inputs to the stage before."""
        if part.before is None:
            return
        gradients = tuple(torch.zeros_like(value) if value.grad is None else value.grad
                          for value in inputs if has_gradient(value))
        for value in inputs:
            value.grad = None
        if part.part_before is None:
            part.input_gradients[microbatch] = gradients
        else:
            part.part_before.gradients[microbatch] = Posted([], gradients, "")

    def backward(self, stage: int, microbatch: int) -> None:
        part = self._part(stage, microbatch)
        inputs, outputs = part.kept.pop(microbatch)
        roots, gradients = self._output_gradients(part, microbatch, outputs)
        part.replicas.ready()
        with part.replicas.quiet():
            torch.autograd.backward(roots, gradients)
        self._hand_back(part, microbatch, inputs)

    def backward_input(self, stage: int, microbatch: int) -> None:
        part = self._part(stage, microbatch)
        inputs, outputs = part.kept.pop(microbatch)
        roots, gradients = self._output_gradients(part, microbatch, outputs)
        wanted = [value for value in inputs if value.requires_grad] if part.before is not None else []
        if not wanted:  # no gradient to pass back; the W does the whole backward
            part.split[microbatch] = True, (roots, gradients)
            self._hand_back(part, microbatch, inputs)
            return
        part.replicas.ready()
        with part.replicas.quiet():
            values = [torch.ones_like(root) if gradient is None else gradient for root, gradient in zip(roots, gradients)]
            _, groups = stage_backward_input(roots, values, wanted, part.module.parameters())
        part.split[microbatch] = False, groups
        self._hand_back(part, microbatch, inputs)

    def backward_weight(self, stage: int, microbatch: int) -> None:
        part = self._part(stage, microbatch)
        whole, kept = part.split.pop(microbatch)
        part.replicas.ready()
        with part.replicas.quiet():
            if whole:
                torch.autograd.backward(*kept)
            else:
                stage_backward_weight(part.module.parameters(), kept)

    # Transfers

    def _receive(self, part: Part, kind: str, microbatch: int) -> tuple[int, Tensors, str]:
        """The peer of a receive, tensors for it, and its name for messages."""
        forward = kind == "RECV_F"
        peer = part.before if forward else part.after
        metas = part.inputs_meta if forward else [meta for meta in part.outputs_meta if has_gradient(meta)]
        assert peer is not None
        return peer, tuple(meta.empty(part.device) for meta in metas), f"{kind} s{part.index} m{microbatch} from rank {peer}"

    def _send(self, part: Part, kind: str, microbatch: int) -> tuple[int, Tensors, str]:
        forward = kind == "SEND_F"
        peer = part.after if forward else part.before
        tensors = (part.outputs if forward else part.input_gradients).pop(microbatch)
        assert peer is not None
        return peer, tuple(tensor.detach().contiguous() for tensor in tensors), f"{kind} s{part.index} m{microbatch} to rank {peer}"

    def _received(self, part: Part, kind: str, microbatch: int, posted: Posted) -> None:
        if kind == "RECV_B":
            part.gradients[microbatch] = posted
            return
        for tensor in posted.tensors:
            tensor.requires_grad_(has_gradient(tensor))
        part.inputs[microbatch] = posted

    def _post(self, kind: str, stage: int, microbatch: int) -> None:
        part = self._part(stage, microbatch)
        sends = kind.startswith("SEND")
        peer, tensors, text = (self._send if sends else self._receive)(part, kind, microbatch)
        posted = Posted([self._transfers.one(sends, tensor, peer) for tensor in tensors], tensors, text)
        if sends:
            self._sends[kind, stage, microbatch] = posted
        else:
            self._received(part, kind, microbatch, posted)

    def send_forward(self, stage: int, microbatch: int) -> None:
        self._post("SEND_F", stage, microbatch)

    def recv_forward(self, stage: int, microbatch: int) -> None:
        self._post("RECV_F", stage, microbatch)

    def send_backward(self, stage: int, microbatch: int) -> None:
        self._post("SEND_B", stage, microbatch)

    def recv_backward(self, stage: int, microbatch: int) -> None:
        self._post("RECV_B", stage, microbatch)

    def wait_send_forward(self, stage: int, microbatch: int) -> None:
        self._transfers.wait(self._sends.pop(("SEND_F", stage, microbatch)))

    def wait_send_backward(self, stage: int, microbatch: int) -> None:
        self._transfers.wait(self._sends.pop(("SEND_B", stage, microbatch)))

    def batch(self, *members: tuple[str, int, int]) -> None:
        """Posts transfers together, so that they do not wait for each other."""
        planned = []
        operations = []
        for kind, stage, microbatch in members:
            part = self._part(stage, microbatch)
            sends = kind.startswith("SEND")
            peer, tensors, text = (self._send if sends else self._receive)(part, kind, microbatch)
            operations += [self._transfers.operation(sends, tensor, peer) for tensor in tensors]
            planned.append((sends, part, kind, stage, microbatch, tensors, text))
        works = dist.batch_isend_irecv(operations)
        for sends, part, kind, stage, microbatch, tensors, text in planned:
            posted = Posted(works, tensors, text)
            if sends:
                self._sends[kind, stage, microbatch] = posted
            else:
                self._received(part, kind, microbatch, posted)

    # Everything else

    def overlap(self, *members: tuple[str, int, int]) -> None:
        """Runs computes that may run at the same time: one after the other, unless
        there is a handler."""
        for kind, stage, microbatch in members:
            getattr(self, METHODS[kind])(stage, microbatch)

    def unshard(self, stage: int) -> None:
        self._each(stage, "unshard")

    def reshard(self, stage: int) -> None:
        self._each(stage, "reshard")

    def reduce_grad(self, stage: int) -> None:
        self._each(stage, "reduce_grad")

    def wait_reduce_grad(self, stage: int) -> None:
        """A reduction ends where it starts."""

    def _each(self, stage: int, action: str) -> None:
        for parts in self._parts:
            if stage in parts:
                getattr(parts[stage].replicas, action)()

    def sum_replicas(self) -> None:
        """Adds the gradients of both copies of each stage of a model in two
        directions. A stage whose copies are on one rank has one module."""
        forth, back = self._parts
        exchanged = []
        operations = []
        # In the order of the stages on every rank: two ranks may share two.
        for stage, part in sorted({**forth, **back}.items()):
            peer = part.other
            if peer is None or (stage in forth and stage in back):
                continue
            mine = flat_gradients(part.module.parameters())
            if mine is None:
                continue
            theirs = torch.empty_like(mine)
            operations += [self._transfers.operation(True, mine, peer), self._transfers.operation(False, theirs, peer)]
            exchanged.append((part, peer, theirs))
        if not operations:
            return
        works = dist.batch_isend_irecv(operations)
        for part, peer, theirs in exchanged:
            self._transfers.wait(Posted(works, (theirs,), f"gradients of stage {part.index} from rank {peer}"))
            add_gradients(part.module.parameters(), theirs)


class Evaluation(Worker):
    """Runs the forwards of a list and nothing else."""

    def forward(self, stage: int, microbatch: int) -> None:
        super().forward(stage, microbatch)
        self._part(stage, microbatch).kept.clear()

    no_step: Any = staticmethod(lambda *_: None)
    backward = backward_input = backward_weight = no_step
    send_backward = recv_backward = wait_send_backward = no_step
    reduce_grad = wait_reduce_grad = sum_replicas = no_step

    def batch(self, *members: tuple[str, int, int]) -> None:
        forwards = [member for member in members if member[0].endswith("_F")]
        if forwards:
            super().batch(*forwards)
