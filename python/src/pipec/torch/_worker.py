"""What an executor of `pipec --emit=python` calls: the steps of one rank, done with
the modules and transfers of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import functools
from typing import Any, Callable, ContextManager, Mapping, Sequence

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.distributed.pipelining._backward import stage_backward_input, stage_backward_weight
from torch.utils import _pytree

from ._copies import NOTHING, Copies, Saved, Stash, hollow, instead, storage_of
from ._metas import Meta, Tensors, has_gradient, meta_text, unit_text
from ._moving import Moving
from ._parts import Part, check_outputs
from ._replicas import Sharded, add_gradients, flat_gradients
from ._slices import Context, leave_gradients
from ._source import METHODS, Extras
from ._steps import Ends, handled
from ._ties import Ties
from ._transfers import Ahead, Posted, Transfers


class Worker(Moving):
    """Runs the steps of one rank. The list says the order; data dependencies are
    satisfied by it, as pipec verified."""

    def __init__(self, parts: Sequence[Mapping[int, Part]], split: int, transfers: Transfers,
                 loss_fn: Callable[..., Any] | None, loss_scale: float | None, ties: Ties, slices: int, ends: Callable[[], Ends],
                 extras: Extras = Extras(), optimizers: Mapping[int, torch.optim.Optimizer] | None = None):
        super().__init__(parts, split, transfers, slices)
        self._find_ends = ends
        self._ties = ties
        self._loss_fn, self._loss_scale = loss_fn, loss_scale
        self.extras, self._optimizers = extras, optimizers or {}
        self._keeps_edges = keeps_edges and not self.extras.split
        # Stages of a model in two directions whose optimizers run at the end.
        self._late_updates: list[int] = []
        # Stages whose gradients are final.
        self._updated: set[int] = set()
        # Gradients from before the run, where the copies of a stage are added.
        self._earlier: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        # The inputs of a run and its results, by unit.
        self.args: Sequence[tuple[Any, ...]] = ()
        self.kwargs: Sequence[dict[str, Any]] = ()
        self.targets: Sequence[Any] = ()
        self.results: dict[int, Any] = {}
        self.losses: dict[int, torch.Tensor] = {}
        self.computes_loss = True
        self.keeps_results = True
        """Whether a run keeps the outputs of the last stage."""
        self.keeps_losses = True
        """Whether a run keeps the losses."""
        self.loss_kwargs: dict[str, Any] = {}

    def handle(self, kind: str, handler: Callable[[Any], None] | None) -> None:
        """Makes `handler` run the steps of a kind, or the groups of `OVERLAP`; None ends
        that. See `Executor.handle`."""
        method = "overlap" if kind == "OVERLAP" else METHODS[kind]
        if getattr(type(self), method) is Evaluation.no_step:
            return
        vars(self).pop(method, None)
        self.handled.discard(kind)
        self.forget_order()
        if handler is None:
            return
        setattr(self, method, handled(self, kind, getattr(self, method), handler))
        self.handled.add(kind)

    @functools.cached_property
    def ends(self) -> Ends:
        """The first and the last steps of the stages."""
        return self._find_ends()

    def text(self, unit: int) -> str:
        """The name of a unit for messages."""
        return unit_text(unit, self.slices)

    def begin(self, args: Sequence[tuple[Any, ...]], kwargs: Sequence[dict[str, Any]], targets: Sequence[Any]) -> None:
        self.args, self.kwargs, self.targets = args, kwargs, targets
        self.results, self.losses = {}, {}
        self._streams.begin()
        self._sends.clear()
        self._ahead.begin()
        for part in self.all_parts():
            part.clear()
            part.replicas.begin()
        self._earlier = []
        self._late_updates, self._updated = [], set()
        self._ties.begin()
        if len(self._parts) == 2:  # only what this run adds is exchanged
            for parameter in {id(p): p for part in self.all_parts() for p in part.module.parameters()}.values():
                if parameter.grad is not None:
                    self._earlier.append((parameter, parameter.grad))
                    parameter.grad = None

    def finish(self) -> None:
        self._streams.join()
        for kind, *numbers in list(self._sends):
            getattr(self, METHODS[f"WAIT_{kind}"])(*numbers)
        self._ahead.end()
        self._ties.end()
        for parameter, gradient in self._earlier:
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        self._earlier = []
        for stage in self._late_updates:
            self._update(stage)

    def forget(self) -> None:
        """Lets go of everything that a run has left, also one that failed."""
        self.args, self.kwargs, self.targets = (), (), ()
        self.results, self.losses = {}, {}
        self._sends.clear()
        for part in self.all_parts():
            part.clear()

    def forget_order(self) -> None:
        """The receives of the next run may be others: handlers have changed."""
        self._ahead = Ahead(self._transfers.receives_ahead)

    # Computes

    def wait_inputs(self, kind: str, stage: int, unit: int | None = None) -> None:
        """Waits for the transfers that a step of this kind needs."""
        if unit is None or kind not in ("F", "B", "I"):
            return
        part = self.part(stage, unit)
        under_way = [edge.outputs for edge in part.sources] if kind == "F" else [edge.gradients for edge in part.targets]
        with self._streams.on(part.stream):
            for posted in under_way:
                if unit in posted:
                    self.arrived(posted, unit)

    def _on_stream(self, stage: int, unit: int, do: Callable[[Part, int], None]) -> None:
        """Runs a step of a unit on the stream of its stage."""
        part = self.part(stage, unit)
        if part.stream == 0:
            return do(part, unit)
        with self._streams.on(part.stream):
            do(part, unit)

    def forward(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._first_forward)

    def _first_forward(self, part: Part, unit: int) -> None:
        inputs = [self.take(edge.outputs, unit) for edge in part.sources]
        if (part.index, unit) in self.extras.remade:
            part.stashes[unit] = Stash(inputs, part.device)
            with torch.no_grad():
                self.give(part, unit, self._call_first(part, unit, inputs))
        else:
            self._forward(part, unit, inputs)

    def _forward(self, part: Part, unit: int, inputs: list[Tensors], stash: Stash | None = None) -> None:
        """Runs a forward with gradients, and keeps what the backward needs. With a stash
        it runs for the second time, and its outputs are there already."""
        recorded = NOTHING
        copied = (part.index, unit) in self.extras.copied
        if copied:
            recorded = self._copies(part, unit).recording(self._stays(part, unit))
            # A leaf has no memory, so that nothing but the graph holds on to the inputs.
            leaves = [tuple(map(hollow, tensors)) for tensors in inputs]
        else:
            leaves = inputs
        for tensors in leaves:
            for value in tensors:
                if has_gradient(value):
                    value.requires_grad_()
        with recorded:
            if copied:
                inputs = [tuple([instead(leaf, value.detach()) if has_gradient(value) else value for leaf, value in zip(*pair)])
                          for pair in zip(leaves, inputs)]
            result = self._call(part, unit, inputs, stash)
            del inputs
            if stash is None:
                self.give(part, unit, result)
            outputs: Sequence[Any] = self.ends_with(part, unit, result)
            if part.targets and self._keeps_edges and not self.handled:
                outputs = [edge_of(output) for output in outputs if has_gradient(output)]
            elif part.targets and (copied or stash is not None):
                outputs = tuple([instead(output, hollow(output)) if output.requires_grad else hollow(output)
                                 for output in outputs])
        part.kept[unit] = leaves, outputs

    def ends_with(self, part: Part, unit: int, result: Any) -> Tensors:
        """Where the backward of a unit begins: the outputs of a module, or the loss."""
        if not part.targets and self._loss_fn is not None and self.computes_loss:
            loss = self._loss_fn(result, self.targets[unit], **self.loss_kwargs)
            if self.keeps_losses:  # without the graph, which ends with the backward
                kept = loss.detach()
                # The loss of PyTorch's mse_loss has the memory of an output.
                larger = storage_of(kept) is not None and kept.untyped_storage().nbytes() > kept.nbytes
                self.losses[unit] = kept.clone() if larger else kept
            return (loss,)
        return result if isinstance(result, tuple) else (result,)

    def _call(self, part: Part, unit: int, inputs: list[Tensors], stash: Stash | None = None) -> Any:
        """What the module of a stage gives for a unit."""
        values = [value for tensors in inputs for value in tensors] if inputs else self.args[unit]
        if part.plain and stash is None and self.slices == 1:
            return part.module(*values, **self.kwargs[unit])
        part.replicas.ready()
        random = NOTHING if stash is None else stash.restored()
        with part.replicas.quiet(), random:
            with self._context(part, unit):
                return part.module(*values, **self.kwargs[unit])

    def _call_first(self, part: Part, unit: int, inputs: list[Tensors]) -> Any:
        """The same where an `R` will call the module again, with the same arguments. Raises
        RuntimeError when the module changes these."""
        given = [value for value in _pytree.tree_leaves((inputs or self.args[unit], self.kwargs[unit]))
                 if isinstance(value, torch.Tensor) and not value.is_inference()]
        before = [value._version for value in given]
        result = self._call(part, unit, inputs)
        if before != [value._version for value in given]:
            raise RuntimeError(f"the forward of stage {part.index} changes its arguments, and {self.text(unit)} is recomputed "
                               "from them")
        return result

    def give(self, part: Part, unit: int, result: Any) -> None:
        """Gives what a module gave to the targets of the stage. (Without the graph, which
        ends with the backward.)"""
        if part.targets:
            outputs = result if isinstance(result, tuple) else (result,)
            self._check(part, unit, outputs)
            made = self._streams.made()
            for edge in part.targets:
                if self.headers:
                    edge.metas[unit] = Meta.of(outputs)
                edge.outputs[unit] = Posted([], tuple([output.detach() for output in outputs]), "", made)
        elif self.keeps_results:
            self.results[unit] = _pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, result)

    def _context(self, part: Part, unit: int) -> ContextManager[Any]:
        """What a forward runs in: the context of its micro-batch."""
        if self.slices == 1:
            return NOTHING
        return part.contexts.setdefault(unit // self.slices, Context(self.slices)).running(unit % self.slices)

    def leave(self, part: Part, unit: int) -> None:
        """After the backward of a slice: earlier ones have its gradients."""
        if self.slices == 1:
            return
        part.contexts[unit // self.slices].leave(unit % self.slices)
        if unit % self.slices == 0:
            del part.contexts[unit // self.slices]

    def _check(self, part: Part, unit: int, outputs: Tensors) -> None:
        """The outputs can be sent, to targets that have room for those of the first run."""
        check_outputs(part, outputs)
        if self.headers:
            return
        due = part.targets[0].metas[unit]
        if len(due) != len(outputs) or not all([meta.is_of(output) for meta, output in zip(due, outputs)]):
            found = Meta.of(outputs)
            which = f"micro-batch {unit // self.slices}" + (f", slice {unit % self.slices}" if self.slices > 1 else "")
            raise ValueError(f"stage {part.index} gives {meta_text(found)} for {which}, and gave {meta_text(due)} in the "
                             "first run; with dynamic_shapes=True they may differ")

    def output_gradients(self, part: Part, unit: int, outputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The outputs that have a gradient, or their edges, and their gradients."""
        if unit in part.roots:  # a handler has asked for them
            return part.roots.pop(unit)
        if not part.targets:
            scale = None if self._loss_scale is None else outputs[0].new_full((), self._loss_scale)
            return [outputs[0]], [scale]
        first, *others = [self.take(edge.gradients, unit) for edge in part.targets]
        self.sent(part, unit)
        for other in others:
            first = tuple(mine + theirs for mine, theirs in zip(first, other))
        if len(outputs) > len(first):
            outputs = [output for output in outputs if has_gradient(output)]
        roots, gradients = [], []
        for output, gradient in zip(outputs, first):
            if output is not None and (type(output) is GradientEdge or output.requires_grad):
                roots.append(output)
                gradients.append(gradient)
        return roots, gradients

    def hand_back(self, part: Part, unit: int, inputs: list[Tensors]) -> None:
        """Gives the gradients of the inputs to the sources."""
        if not part.sources:
            return
        made = self._streams.made()
        for edge, tensors in zip(part.sources, inputs):
            gradients = []
            for value in tensors:
                if has_gradient(value):
                    gradients.append(torch.zeros_like(value) if value.grad is None else value.grad)
                    value.grad = None
            edge.gradients[unit] = Posted([], tuple(gradients), "", made)

    def backward(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._backward)

    def _backward(self, part: Part, unit: int) -> None:
        if part.copies:
            self._reloaded(part, unit, last=True)
        inputs, outputs = part.kept.pop(unit)
        roots, gradients = self.output_gradients(part, unit, outputs)
        if part.plain:
            _backward_from(roots, gradients)
        else:
            part.replicas.ready()
            with part.replicas.quiet():
                _backward_from(roots, gradients)
        if self.slices > 1:
            self.leave(part, unit)
        self.hand_back(part, unit, inputs)
        self._end_backward("B", part, unit)

    def backward_input(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._backward_input)

    def _backward_input(self, part: Part, unit: int) -> None:
        self._reloaded(part, unit)
        inputs, outputs = part.kept.pop(unit)
        roots, gradients = self.output_gradients(part, unit, outputs)
        wanted = [value for tensors in inputs for value in tensors if value.requires_grad]
        leaves = part.contexts[unit // self.slices].leaves(unit % self.slices) if self.slices > 1 else []
        values = [torch.ones_like(root) if gradient is None else gradient for root, gradient in zip(roots, gradients)]
        part.replicas.ready()
        if not wanted:  # no gradient to pass back; the W does the whole backward
            if leaves:
                leave_gradients(roots, values, leaves)
            part.split[unit] = True, (roots, values)
            self.leave(part, unit)
            self.hand_back(part, unit, inputs)
            return
        # PyTorch detaches these in place, which views do not allow.
        roots = [instead(root, hollow(root)) if root._is_view() else root for root in roots]
        with part.replicas.quiet():
            _, groups = stage_backward_input(roots, values, wanted + leaves, part.module.parameters())
        part.split[unit] = False, groups
        self.leave(part, unit)
        self.hand_back(part, unit, inputs)

    def backward_weight(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._backward_weight)

    def _backward_weight(self, part: Part, unit: int) -> None:
        self._reloaded(part, unit, last=True)
        whole, kept = _pytree.tree_map_only(Saved, Saved.get, part.split.pop(unit))
        part.replicas.ready()
        with part.replicas.quiet():
            if whole and self.slices > 1:  # the I has left the gradients of earlier slices
                roots, gradients = kept
                if trained := [parameter for parameter in part.module.parameters() if parameter.requires_grad]:
                    torch.autograd.backward(roots, gradients, inputs=trained)
            elif whole:
                _backward_from(*kept)
            else:
                stage_backward_weight(part.module.parameters(), kept)
        self._end_backward("W", part, unit)

    def _end_backward(self, kind: str, part: Part, unit: int) -> None:
        """Begins to average gradients over replicas while other stages run, unless tied
        stages or the other direction add to them later."""
        if part.replicas.begins_early and len(self._parts) == 1 and part.index not in self._ties.stages \
                and self.ends.last.get((part.index, False), ())[:3] == (kind, part.index, unit):
            part.replicas.begin_end()

    # Recomputation, copies to the host and optimizer steps

    def recompute(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._recompute)

    def _recompute(self, part: Part, unit: int) -> None:
        self._reloaded(part, unit)
        stash = part.stashes.pop(unit)
        inputs = _pytree.tree_map_only(Saved, Saved.get, stash.inputs)
        stash.inputs = None
        self._forward(part, unit, inputs, stash)

    def offload(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, self._offload)

    def _offload(self, part: Part, unit: int) -> None:
        copies = self._copies(part, unit)
        if stash := part.stashes.get(unit):
            stash.inputs = _pytree.tree_map_only(torch.Tensor, copies.keep, stash.inputs)
        if unit in part.split:
            whole, kept = part.split[unit]
            if whole:
                roots, values = kept
                part.split[unit] = True, (roots, [copies.keep(value) for value in values])
            else:
                part.split[unit] = False, _pytree.tree_map_only(torch.Tensor, copies.keep, kept)
        copies.leave()

    def wait_offload(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, lambda part, unit: self._copies(part, unit).drop())

    def reload(self, stage: int, unit: int) -> None:
        self._on_stream(stage, unit, lambda part, unit: self._copies(part, unit).enter())

    def _copies(self, part: Part, unit: int) -> Copies:
        return part.copies.setdefault(unit, Copies(self._streams))

    def _reloaded(self, part: Part, unit: int, last: bool = False) -> None:
        """Before a step that uses what is kept for a unit: it is on the device. After the
        `last` step nothing is kept."""
        if copies := part.copies.pop(unit, None) if last else part.copies.get(unit):
            copies.arrived()

    def _stays(self, part: Part, unit: int) -> Callable[[int], bool]:
        """Whether memory, by its number, outlives the unit: that of the parameters and
        buffers of the module, and of the batch."""
        given = (() if part.sources else self.args[unit]), self.kwargs[unit], self.targets[unit]
        batch = {storage_of(value) for value in _pytree.tree_leaves(given) if isinstance(value, torch.Tensor)}

        def model() -> set[int | None]:
            return {storage_of(value) for values in (part.module.parameters(), part.module.buffers()) for value in values}

        known = model()
        if not isinstance(part.replicas, Sharded):
            known |= batch
            return known.__contains__
        # FSDP replaces parameters when it gathers them.
        return lambda number: number in batch or number in known or number in model()

    def update(self, stage: int) -> None:
        """Runs the optimizer of a stage. In a model in two directions it runs when the
        gradients of both copies of the stage have been added, at the end of the run."""
        if len(self._parts) == 2:
            self._late_updates.append(stage)
        else:
            self._update(stage)

    def _update(self, stage: int) -> None:
        self._streams.join()
        self._ties.end_of(stage)
        next(parts[stage] for parts in self._parts if stage in parts).replicas.end()
        self._updated.add(stage)
        optimizer = self._optimizers[stage]
        if all(other in self._updated for other in self.extras.updated if self._optimizers[other] is optimizer):
            optimizer.step()

    # Everything else

    def overlap(self, *members: tuple[str, int, int]) -> None:
        """Runs computes that may run at the same time: one after the other, unless
        there is a handler."""
        for kind, stage, unit in members:
            getattr(self, METHODS[kind])(stage, unit)

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
                with self._streams.on(parts[stage].stream):
                    getattr(parts[stage].replicas, action)()

    def reduce_tied(self, group: int) -> None:
        self._streams.join()
        self._ties.post(group)

    def sum_replicas(self) -> None:
        """Adds the gradients of both copies of each stage of a model in two
        directions. A stage whose copies are on one rank has one module."""
        self._streams.join()
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
            theirs, both = self._transfers.swap(mine, peer)
            operations += both
            exchanged.append((part, peer, theirs))
        if not operations:
            return
        texts = [f"gradients of stage {part.index} from rank {peer}" for part, peer, _ in exchanged]
        works = self._transfers.post_batch(operations, ", ".join(texts))
        for text, (part, _, theirs) in zip(texts, exchanged, strict=True):
            self._transfers.wait(Posted(works, (theirs,), text))
            add_gradients(part.module.parameters(), theirs)


def edge_of(output: torch.Tensor) -> GradientEdge | None:
    """What a backward begins with in place of an output, whose memory can then be freed."""
    return get_gradient_edge(output) if output.requires_grad else None


# Earlier versions do not keep the graph of an edge of a function in Python.
keeps_edges = "ownership_token" in GradientEdge._fields

# Without the checks of `torch.autograd.backward`, which take a third of a small backward.
_run = getattr(torch.autograd.graph, "_engine_run_backward", None)


def _backward_from(roots: Sequence[Any], gradients: Sequence[torch.Tensor | None]) -> None:
    """As `torch.autograd.backward`, which is called where it has something to check. (The
    gradients of edges are those of outputs whose shapes are checked.)"""
    plain = [type(root) is GradientEdge or type(root) is torch.Tensor and gradient is not None and gradient.shape == root.shape
             for root, gradient in zip(roots, gradients)]
    if _run is None or not all(plain):
        torch.autograd.backward(roots, gradients)
    elif roots:
        _run(tuple(roots), tuple(gradients), False, False, (), allow_unreachable=True, accumulate_grad=True)


class Evaluation(Worker):
    """Runs the forwards of a list and nothing else."""

    def forward(self, stage: int, unit: int) -> None:
        super().forward(stage, unit)
        part = self.part(stage, unit)
        part.kept.clear()
        if (unit + 1) % self.slices == 0:
            part.contexts.pop(unit // self.slices, None)

    no_step: Any = staticmethod(lambda *_: None)
    backward = backward_input = backward_weight = no_step
    send_backward = recv_backward = wait_send_backward = no_step
    reduce_grad = wait_reduce_grad = reduce_tied = sum_replicas = no_step
    recompute = offload = wait_offload = reload = update = no_step

    def batch(self, *members: tuple[Any, ...]) -> None:
        forwards = [member for member in members if member[0].endswith("_F")]
        if forwards:
            super().batch(*forwards)
