"""Executors of `pipec --emit=python` as schedules of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import hashlib
import os
import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeVar

import torch
import torch.distributed as dist
import torch.profiler
from torch.distributed.pipelining.microbatch import TensorChunkSpec, merge_chunks, split_args_kwargs_into_chunks
from torch.distributed.pipelining.stage import _PipelineStageBase

from .._compile import compile as _compile
from .._inputs import Cost, Profile
from .._schedule import Schedule
from ._agree import check_agreement
from ._copies import Extras, extras_of
from ._load import check_fits
from ._parts import Edge, Meta, Part, make_parts
from ._slices import Context, Slicing, stepping
from ._source import Source
from ._ties import TiedParameters, Ties
from ._transfers import Transfers
from ._worker import METHODS, Evaluation, Worker

_Value = TypeVar("_Value")


class Executor:
    """A schedule for PyTorch, with the interface of those of
    torch.distributed.pipelining. Made by `executor`."""

    def __init__(self, plan: Schedule, source: Source, stages: Sequence[_PipelineStageBase], loss_fn: Callable[..., Any] | None,
                 *, communicators: str, scale_grads: bool, args_chunk_spec: tuple[TensorChunkSpec, ...] | None,
                 kwargs_chunk_spec: dict[str, TensorChunkSpec] | None, output_merge_spec: Any, patience: float | None,
                 receives_ahead: int | None, tied_parameters: TiedParameters | None, slicing: Slicing | None = None,
                 extras: Extras = Extras(),
                 optimizers: Mapping[int, torch.optim.Optimizer] | None = None):
        self.plan = plan
        """The schedule."""
        self.source = source.text
        """The source in Python that runs."""
        self.rank = stages[0].group_rank
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec, self._loss_fn = output_merge_spec, loss_fn
        self.modules = {stage.stage_index: stage.submod for stage in stages}
        """The modules of this rank's stages."""
        self._device = torch.device(stages[0].device)
        self._run = source.run
        self._parts = make_parts(plan, stages)
        self._slicing = slicing or Slicing(plan.slices, 1, None)
        self._split = plan.microbatches // 2 * plan.slices if len(plan.maps) == 2 else plan.units
        group: Any = stages[0].group
        transfers = Transfers(group, self._device, communicators, source.rank_pairs, patience, receives_ahead)
        scale = 1 / plan.microbatches if scale_grads else None
        ties = Ties(plan, self._parts[0], transfers, tied_parameters)
        self._worker = Worker(self._parts, self._split, transfers, loss_fn, scale, ties, plan.slices, extras, optimizers)
        self._evaluation = Evaluation(self._parts, self._split, transfers, loss_fn, scale, Ties.none(transfers), plan.slices)
        self._transfers = transfers
        self._order: list[int] | None = None
        # What passes between stages, by worker: an evaluation may have other sizes.
        self._metas: dict[Worker, list[tuple[Edge, list[list[Meta]]]]] = {}

    def __repr__(self) -> str:
        return f"<pipec.torch.Executor of {self.plan!r}, rank {self.rank}>"

    def handle(self, kind: str, handler: Callable[[Any], None] | None) -> None:
        """Calls `handler` in place of each step of a kind (`F`, `SEND_F`, ...), with a
        `Step` whose `proceed` does what the executor would do. The handler of
        `OVERLAP` is called with the list of the steps that may run at the same time, each
        of which can `wait` for its inputs; in `eval`, which has no backwards, it is not
        called. A handler replaces an earlier one of its kind, and None removes it.
        """
        if kind != "OVERLAP" and kind not in METHODS:
            raise ValueError(f"`{kind}` is not a kind of step; there are {', '.join(METHODS)} and OVERLAP")
        self._worker.handle(kind, handler)
        if kind != "OVERLAP":
            self._evaluation.handle(kind, handler)

    def reorder(self, order: Sequence[int] | None) -> None:
        """Sets the order of further batches, as `pipec.order` finds it: micro-batch k of
        the schedule has the number `order[k]` in the batch. Losses and outputs remain in
        the order of the batch. None stands for the batch as it is. All ranks call this
        with the same order; raises ValueError on each of them if they differ."""
        own = None if order is None else [int(number) for number in order]
        fits = own is None or sorted(own) == list(range(self.plan.microbatches))
        digest = int.from_bytes(hashlib.sha256(repr(own).encode()).digest()[:7], "big") if fits else 0
        seen = torch.tensor([digest, -digest], dtype=torch.int64, device=self._device)
        dist.all_reduce(seen, dist.ReduceOp.MAX, group=self._transfers.group)
        if not fits:
            raise ValueError(f"{own} is not an order of {self.plan.microbatches} micro-batches")
        if int(seen[0]) != -int(seen[1]):
            raise ValueError(f"the order {own} of rank {self.rank} differs from that of another rank")
        self._order = own

    def _ordered(self, values: Sequence[_Value]) -> Sequence[_Value]:
        """One value per micro-batch of the schedule, of those of the batch."""
        return values if self._order is None else [values[number] for number in self._order]

    def _in_batch(self, unit: int) -> int:
        """The unit of the batch that is a unit of the schedule."""
        microbatch, part = divmod(unit, self.plan.slices)
        return (microbatch if self._order is None else self._order[microbatch]) * self.plan.slices + part

    # The interface of PyTorch's schedules.

    def step(self, *args: Any, target: Any = None, losses: list[torch.Tensor] | None = None, return_outputs: bool = True,
             arg_mbs: Sequence[tuple[Any, ...]] | None = None, kwarg_mbs: Sequence[dict[str, Any]] | None = None,
             target_mbs: Sequence[Any] | None = None, loss_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """Runs one training step. Ranks with a first stage give the inputs, ranks with
        a last stage the targets: whole batches, or micro-batches in `arg_mbs`,
        `kwarg_mbs` and `target_mbs`. `loss_kwargs` are further arguments of the loss
        function. Returns the outputs, merged, on ranks with a last stage. A schedule of
        two directions has two such ranks of each kind; all of them give the whole batch,
        and get the losses and outputs of their half. With slices, all of these are whole
        sequences, and `losses` gets an element for each slice of each micro-batch. Without a
        loss function only the forwards run, as in `eval`."""
        if self.plan.forward_only or self._loss_fn is None:
            return self.eval(*args, target=target, losses=losses, return_outputs=return_outputs, arg_mbs=arg_mbs,
                             kwarg_mbs=kwarg_mbs, target_mbs=target_mbs, loss_kwargs=loss_kwargs, **kwargs)
        if not torch.is_grad_enabled():
            raise RuntimeError("gradients are disabled: `eval` runs the forwards alone")
        result = self._execute(self._worker, args, kwargs, target, losses, return_outputs, arg_mbs, kwarg_mbs, target_mbs,
                               loss_kwargs)
        for part in _once(self._worker.all_parts()):
            part.replicas.end()
        return result

    def eval(self, *args: Any, target: Any = None, losses: list[torch.Tensor] | None = None, return_outputs: bool = True,
             arg_mbs: Sequence[tuple[Any, ...]] | None = None, kwarg_mbs: Sequence[dict[str, Any]] | None = None,
             target_mbs: Sequence[Any] | None = None, loss_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """Runs the forwards alone, without gradients; otherwise as `step`."""
        with torch.no_grad():
            return self._execute(self._evaluation, args, kwargs, target, losses, return_outputs, arg_mbs, kwarg_mbs,
                                 target_mbs, loss_kwargs)

    def _execute(self, worker: Worker, args: tuple[Any, ...], kwargs: dict[str, Any], target: Any,
                 losses: list[torch.Tensor] | None, return_outputs: bool, arg_mbs: Any, kwarg_mbs: Any, target_mbs: Any,
                 loss_kwargs: dict[str, Any] | None) -> Any:
        whole_inputs, whole_keywords = self._split_inputs(args, kwargs, arg_mbs, kwarg_mbs)
        inputs = self._slicing.cut(self._ordered(whole_inputs), "arguments")
        keywords = self._slicing.cut(self._ordered(whole_keywords), "keyword arguments")
        targets = self._slicing.cut(self._ordered(self._split_targets(target, target_mbs)), "target")
        given = target is not None or target_mbs is not None
        if worker is self._worker and not given and not all(part.targets for part in worker.all_parts()):
            raise ValueError(f"rank {self.rank} has a last stage, and no target")
        worker.computes_loss, worker.loss_kwargs = given, loss_kwargs or {}
        worker.begin(inputs, keywords, targets)
        self._transfers.round += 1
        try:
            self._run_once(worker, inputs, keywords)
        except Exception as error:
            self._transfers.say(f"rank {self.rank} failed: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
            raise
        if losses is not None and worker.losses:
            losses[:] = [worker.losses[k] for k in sorted(worker.losses, key=self._in_batch)]
        results = self._slicing.join([worker.results[k] for k in sorted(worker.results, key=self._in_batch)])
        worker.forget()
        if not results or not return_outputs:
            return None
        if self._output_merge_spec is None:
            results = torch.utils._pytree.tree_map(_with_dimension, results)
        return merge_chunks(results, self._output_merge_spec)

    def _run_once(self, worker: Worker, inputs: Sequence[tuple[Any, ...]], keywords: Sequence[dict[str, Any]]) -> None:
        if worker not in self._metas:
            self._exchange_shapes(inputs, keywords)
            self._metas[worker] = [(edge, edge.metas) for part in worker.all_parts() for edge in part.sources + part.targets]
        for edge, metas in self._metas[worker]:
            edge.metas = metas
        spans = _spans(worker) if torch.autograd._profiler_enabled() else contextlib.nullcontext()  # type: ignore[attr-defined]
        with spans, stepping(self.plan.slices):
            self._run(self.rank, worker)
            worker.finish()

    def _split_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any], arg_mbs: Any,
                      kwarg_mbs: Any) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
        count = self.plan.microbatches
        if arg_mbs is not None or kwarg_mbs is not None:
            if args or kwargs:
                raise ValueError("inputs are given as a whole and in micro-batches")
            for name, given in ("arg_mbs", arg_mbs), ("kwarg_mbs", kwarg_mbs):
                if given is not None and len(given) != count:
                    raise ValueError(f"{name} has {len(given)} micro-batches, the schedule {count}")
            return list(arg_mbs or [()] * count), list(kwarg_mbs or [{}] * count)
        if not args and not kwargs:
            return [()] * count, [{}] * count
        inputs, keywords = split_args_kwargs_into_chunks(args, kwargs, count, self._args_chunk_spec,
                                                         self._kwargs_chunk_spec)
        if len(inputs) != count:
            raise ValueError(f"the inputs make {len(inputs)} micro-batches, the schedule has {count}")
        return list(inputs), list(keywords)

    def _split_targets(self, target: Any, target_mbs: Any) -> Sequence[Any]:
        count = self.plan.microbatches
        if target_mbs is not None:
            if len(target_mbs) != count:
                raise ValueError(f"target_mbs has {len(target_mbs)} micro-batches, the schedule {count}")
            return list(target_mbs)
        if target is None:
            return [None] * count
        if target.shape[0] < count:
            raise ValueError(f"the target has {target.shape[0]} rows, the schedule {count} micro-batches")
        return list(torch.tensor_split(target, count))

    def _exchange_shapes(self, inputs: Sequence[tuple[Any, ...]], keywords: Sequence[dict[str, Any]]) -> None:
        """Sends the shapes of the outputs along the stages, once. Each stage computes
        its outputs from zeros; that changes neither its registered buffers nor the
        state of random numbers."""
        group: Any = self._transfers.group
        for direction, parts in enumerate(self._parts):
            # A micro-batch, whose slices may have different shapes.
            first = self._split if direction else 0
            units = range(first, first + self.plan.slices)
            edges = {(edge.target, edge.source): edge for part in parts.values() for edge in part.sources + part.targets}
            outputs: dict[int, list[list[Meta]]] = {}
            # Each rank takes part in what it holds in one order of all edges, that of
            # their targets, so that no two ranks wait for each other.
            for stage in range(self.plan.stages):
                for edge in (edges[key] for key in sorted(edges) if key[0] == stage):
                    if edge.source in outputs:
                        edge.metas = outputs[edge.source]
                        if stage not in parts:
                            dist.send_object_list([edge.metas], group=group, group_dst=edge.target_rank, device=self._device)
                    else:
                        received: list[Any] = [None]
                        dist.recv_object_list(received, group=group, group_src=edge.source_rank, device=self._device)
                        edge.metas = received[0]
                if stage in parts and parts[stage].targets:
                    part = parts[stage]
                    args = [tuple(torch.zeros(meta.shape, dtype=meta.dtype, device=self._device) for edge in part.sources
                                  for meta in edge.metas_of(unit)) if part.sources else inputs[unit] for unit in units]
                    outputs[stage] = _outputs_of(part, args, [keywords[unit] for unit in units])


def _with_dimension(value: Any) -> Any:
    """A scalar, such as a loss, as a tensor that can be merged with others."""
    return value.unsqueeze(0) if isinstance(value, torch.Tensor) and value.dim() == 0 else value


def executor(plan_or_name: str | os.PathLike[str] | Schedule, stages: Sequence[_PipelineStageBase] | _PipelineStageBase,
             loss_fn: Callable[..., Any] | None, n_microbatches: int, *, target: str | None = None, passes: str | None = None,
             cost: Cost | None = None, profile: Profile | None = None, args: Sequence[str] = (),
             communicators: str | None = None, scale_grads: bool = True,
             args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
             kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None, output_merge_spec: Any = None,
             patience: float | None = None, receives_ahead: int | None = None,
             tied_parameters: TiedParameters | None = None, slice_dim: int = 1, slice_lengths: Sequence[int] | None = None,
             optimizers: Mapping[int, torch.optim.Optimizer] | None = None, check_ranks: bool = True,
             **params: int) -> Executor:
    """Compiles a schedule for the ranks of the stages' group to Python, and returns it
    as a schedule of PyTorch, with `step` and `eval`.

    `stages` are those of this rank, `PipelineStage(module, index, stages, device)`, of
    which the module, the index, the device and the group are used; the module may be
    in DistributedDataParallel or FSDP2's `fully_shard`. The first argument is what
    `pipec.compile` takes, or a schedule that it made with transfers; `params` are
    further parameters of the program (`chunks=2`). The target is `pytorch` unless
    `target` or `passes` says otherwise; `cost`, `profile` and `args` are those
    of `pipec.compile`.

    `communicators` is `one` for the communicator of the group, `pair` for one per pair
    of ranks, or `edge` for one per directed pair; by default the first of these under
    which the schedule does not deadlock. Gradients are those of the mean over all
    micro-batches, and with `scale_grads=False` those of the sum. The chunk specs and
    `output_merge_spec` are those of PyTorch's schedules. A transfer that takes longer
    than `patience` seconds is an error that says which rank waits for what; without
    it, the time-out of the group ends the job. With gloo, receives are posted ahead of
    the list, by default four; each takes the memory of its tensors.

    In a schedule with tied stages (`tie 0, stages - 1;`), the gradients of the
    parameters that a group shares are summed over its ranks. `tied_parameters` gives,
    for each stage of this rank that is in a group, the list of these parameters, in
    one order on all stages of the group, or a dictionary of such lists by the number
    of the group; without it, the module's attribute `tied_parameters` does. The
    parameters must start with the same values and get the same updates.

    In a schedule with slices, the tensors in the arguments and the target of each
    micro-batch are cut along `slice_dim`, into parts as equal as possible or into those
    of `slice_lengths`. The loss function is called for each slice, and the loss of a
    micro-batch is the sum over its slices. Modules take what earlier slices have left
    from `context`.

    A forward whose unit has an `R` runs without gradients, and the `R` runs it again with
    the same random numbers, as `torch.utils.checkpoint` does. For a unit with an
    `OFFLOAD`, what autograd saves is copied to the host, but for parameters, buffers and
    the batch. `optimizers` gives the optimizer of each stage of this rank that has an
    `UPDATE`, which calls its `step`; the caller calls `zero_grad`.

    Every rank of the group calls this, and the ranks compare what they have;
    `check_ranks=False` leaves that out.

    Raises CompileError when the schedule does not compile, and ValueError when it is
    not for these stages or not the same on all ranks, or when an optimizer is missing.
    """
    mine = [stages] if isinstance(stages, _PipelineStageBase) else sorted(stages, key=lambda stage: stage.stage_index)
    if not mine:
        raise ValueError("no stages: every rank of a pipeline holds one")
    plan, source, problem, slicing, extras = None, None, None, None, Extras()
    try:
        if isinstance(plan_or_name, Schedule):
            given = {"target": target, "passes": passes, "cost": cost, "profile": profile, "args": args or None, **params}
            if useless := [name for name, value in given.items() if value is not None]:
                raise ValueError(f"{', '.join(useless)}: {plan_or_name.name} is compiled already")
            plan = plan_or_name
        else:
            path = os.fspath(plan_or_name)
            if not path.endswith((".csv", ".steps")):
                params = {"ranks": mine[0].group_size, "microbatches": n_microbatches, **params}
            plan = _compile(path, source=None, target=target if passes or target else "pytorch", passes=passes, cost=cost,
                            profile=profile, args=args, **params)
        check_fits(plan, mine, n_microbatches, plan.microbatches)
        source = Source(plan.emit("python", "--passes="), plan.name)
        communicators = source.communicators_for(communicators)
        slicing = Slicing(plan.slices, slice_dim, slice_lengths)
        extras = extras_of(plan, mine[0].group_rank)
        _check_optimizers(plan, extras, optimizers)
    except Exception as error:  # noqa: BLE001 (raised again, when the other ranks know)
        problem = error
    if check_ranks:
        check_agreement(mine[0], plan, problem, f"{communicators}\n{slicing}\n{source.text}" if source else "")
    elif problem:
        raise problem
    assert plan is not None and source is not None and communicators is not None
    return Executor(plan, source, mine, loss_fn, communicators=communicators, scale_grads=scale_grads,
                    args_chunk_spec=args_chunk_spec, kwargs_chunk_spec=kwargs_chunk_spec,
                    output_merge_spec=output_merge_spec, patience=patience, receives_ahead=receives_ahead,
                    tied_parameters=tied_parameters, slicing=slicing, extras=extras, optimizers=optimizers)


def _check_optimizers(plan: Schedule, extras: Extras, optimizers: Mapping[int, torch.optim.Optimizer] | None) -> None:
    """Raises ValueError when a stage with an `UPDATE` has no optimizer."""
    if missing := [str(stage) for stage in extras.updated if stage not in (optimizers or {})]:
        which = f"stage {missing[0]}" if len(missing) == 1 else f"each of the stages {', '.join(missing)}"
        raise ValueError(f"optimizers: {plan.name} has an UPDATE of {which}, and no optimizer for it is given")
    if optimizers and not extras.updated:
        warnings.warn(f"{plan.name} has no UPDATE, so the executor does not run the optimizers; the pass `inject-update` adds it",
                      stacklevel=3)


def _once(parts: Sequence[Part]) -> list[Part]:
    """Parts without those that share their module with an earlier one."""
    return list({id(part.replicas): part for part in reversed(parts)}.values())[::-1]


def _outputs_of(part: Part, args: Sequence[tuple[Any, ...]], kwargs: Sequence[dict[str, Any]]) -> list[list[Meta]]:
    """What the outputs of a stage look like, for the arguments of each slice."""
    slices = len(args)
    context = Context(slices)
    buffers = [(buffer, buffer.clone()) for buffer in part.module.buffers()]
    devices = [part.device] if part.device.type == "cuda" else []
    metas = []
    with torch.no_grad(), torch.random.fork_rng(devices), part.replicas.quiet():
        for number in range(slices):
            with context.running(number):
                result = part.module(*args[number], **kwargs[number])
            outputs = result if isinstance(result, tuple) else (result,)
            for output in outputs:
                if not isinstance(output, torch.Tensor):
                    raise TypeError(f"stage {part.index} gives {type(output).__name__}; stages exchange tensors and tuples of "
                                    "them")
            metas.append([Meta(output.shape, output.dtype) for output in outputs])
        for buffer, before in buffers:
            buffer.copy_(before)
    return metas


@contextlib.contextmanager
def _spans(worker: Any) -> Iterator[None]:
    """Records each step as a span `PP:` and its cell, and waits in computes as
    `PPWAIT:`, for `pipec calibrate`."""
    arrived, current = worker._arrived, [""]

    def span(kind: str, do: Callable[..., None]) -> Callable[..., None]:
        def run(*numbers: int) -> None:
            stage, *microbatch = map(str, numbers[:2])
            edge = f"{'<' if kind.startswith('RECV') else '>'}{numbers[2]}" if len(numbers) > 2 else ""
            cell = f"{'t' * (kind == 'REDUCE_TIED')}{stage}{edge}{kind}{''.join(microbatch)}"
            current[0] = cell
            with torch.profiler.record_function(f"PP:{cell}"):
                do(*numbers)
        return run

    def waiting(posted: Any) -> Any:
        with torch.profiler.record_function(f"PPWAIT:{current[0]}"):
            return arrived(posted)

    before = {name: worker.__dict__.get(name) for name in [*METHODS.values(), "_arrived"]}
    for kind, method in METHODS.items():
        setattr(worker, method, span(kind, getattr(worker, method)))
    worker._arrived = waiting
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                delattr(worker, name)
            else:
                setattr(worker, name, value)
