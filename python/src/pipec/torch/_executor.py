"""Executors of `pipec --emit=python` as schedules of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import hashlib
import os
import types
import warnings
from typing import Any, Callable, ContextManager, Iterator, Mapping, Sequence, TypeVar

import torch
import torch.distributed as dist
import torch.profiler
from torch.distributed.pipelining.microbatch import TensorChunkSpec, merge_chunks, split_args_kwargs_into_chunks
from torch.distributed.pipelining.stage import _PipelineStageBase
from torch.utils import _pytree

from .._compile import compile as _compile
from .._compile import compiled
from .._inputs import Cost, Profile
from .._schedule import Schedule
from ._agree import agree_on, check_agreement
from ._failures import tell
from ._load import check_fits
from ._parts import Part, make_parts
from ._shapes import exchange_shapes
from ._slices import Slicing, stepping
from ._source import METHODS, Extras, Given, Source, load_source
from ._steps import ends_of
from ._ties import TiedParameters, Ties
from ._transfers import LostError, Transfers
from ._worker import Evaluation, Worker

_Value = TypeVar("_Value")


class Executor:
    """A schedule for PyTorch, with the interface of those of
    torch.distributed.pipelining. Made by `executor`."""

    def __init__(self, plan: Schedule | Source, source: Source, stages: Sequence[_PipelineStageBase],
                 loss_fn: Callable[..., Any] | None, *, communicators: str, scale_grads: bool,
                 args_chunk_spec: tuple[TensorChunkSpec, ...] | None, kwargs_chunk_spec: dict[str, TensorChunkSpec] | None,
                 output_merge_spec: Any, patience: float | None, receives_ahead: int | None,
                 tied_parameters: TiedParameters | None, slicing: Slicing | None = None,
                 optimizers: Mapping[int, torch.optim.Optimizer] | None = None, dynamic_shapes: bool = False,
                 broadcast_tied: bool = False, return_outputs: bool = True, transfers: Transfers | None = None,
                 lowering: dict[str, Any] | None = None):
        self.plan = plan
        """The schedule; the source itself where it was not compiled."""
        self.source = source.text
        """The source in Python that runs."""
        self.digest = source.digest
        """The digest of the schedule."""
        self.lowering = lowering
        """The target or the passes that it was compiled with here."""
        self.rank = stages[0].group_rank
        self._source, self._stages = source, stages
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec, self._loss_fn = output_merge_spec, loss_fn
        self.modules = {stage.stage_index: stage.submod for stage in stages}
        """The modules of this rank's stages."""
        self._device = torch.device(stages[0].device)
        self._parts = make_parts(source, stages)
        self._slicing = slicing or Slicing(source.slices, 1, None)
        split = source.units // 2 if len(source.maps) == 2 else source.units
        group: Any = stages[0].group
        with self._on_device():
            self._transfers = transfers or Transfers(group, self._device, communicators, source.rank_pairs, patience,
                                                     receives_ahead)
            scale = 1 / source.microbatches if scale_grads else None
            ties = Ties(source, self._parts[0], self._transfers, tied_parameters, broadcast_tied)
        self._ties = ties
        # The order of the batches of `step`, and what `reorder` has set.
        self._order = source.order
        self._reordered: list[int] | None = None
        self.steered: Callable[[Callable[[Executor], Any]], Any] | None = None
        """What runs a training step, given a function that runs it with an executor."""

        def ends() -> Any:
            return ends_of(source.steps_of(self.rank))

        self._worker = Worker(self._parts, split, self._transfers, loss_fn, scale, ties, source.slices, ends,
                              source.extras_of(self.rank), optimizers)
        self._evaluation = Evaluation(self._parts, split, self._transfers, loss_fn, scale, Ties.none(self._transfers),
                                      source.slices, ends)
        self._worker.most_sends = source.most_sends  # (an evaluation has other lists, so its sends end with it)
        # A header makes a rank wait at a receive, unless posting never waits.
        headers = self._transfers.independent or (source.communicators == "one" and "x.batch(" not in source.text)
        if dynamic_shapes and not headers:
            raise ValueError("dynamic_shapes: ranks wait at receives then, for which these transfers are not placed")
        self._dynamic, self._learns = dynamic_shapes, headers
        # The workers that know what passes between stages, and that.
        self._known: dict[Worker, list[dict[int, Any]]] = {}
        # The other schedules that ran, by the digests of their texts, and what they are made with.
        self._others: dict[str, Executor] = {}
        self._return_outputs = return_outputs
        self._compiled: dict[str, tuple[Schedule, Source]] = {}
        """What `run` was given as schedules, by their step IR."""
        self._handlers: dict[str, Callable[[Any], None] | None] = {}
        self._options: dict[str, Any] = dict(
            communicators=communicators, scale_grads=scale_grads, args_chunk_spec=args_chunk_spec,
            kwargs_chunk_spec=kwargs_chunk_spec, output_merge_spec=output_merge_spec, patience=patience,
            receives_ahead=receives_ahead, tied_parameters=tied_parameters, optimizers=optimizers, dynamic_shapes=dynamic_shapes,
            return_outputs=return_outputs)

    def _on_device(self) -> ContextManager[Any]:
        """Within it, the device is that of the stages, for collectives of objects."""
        return torch.cuda.device(self._device) if self._device.type == "cuda" else contextlib.nullcontext()

    def __repr__(self) -> str:
        return f"<pipec.torch.Executor of {self.plan!r}, rank {self.rank}>"

    @property
    def device(self) -> torch.device:
        return self._device

    @property
    def group(self) -> Any:
        """The group of the ranks of the pipeline."""
        return self._transfers.group

    @property
    def size(self) -> int:
        """The number of these ranks."""
        return self._source.ranks

    def counted_parameters(self) -> set[int]:
        """The parameters that count on this rank where all ranks count each once, as
        numbers of `id`."""
        counted = {id(parameter) for part in self._parts[0].values() for parameter in part.module.parameters()}
        return counted - self._ties.repeated()

    def handle(self, kind: str, handler: Callable[[Any], None] | None) -> None:
        """Calls `handler` in place of each step of a kind (`F`, `SEND_F`, ...), with a
        `Step` whose `proceed` does what the executor would do; a handler that does the work
        itself calls `finish` (`Step`). The handler of
        `OVERLAP` is called with the list of the steps that may run at the same time, each
        of which can `wait` for its inputs; in `eval`, which has no backwards, it is not
        called. A handler replaces an earlier one of its kind, and None removes it.
        """
        if kind != "OVERLAP" and kind not in METHODS:
            raise ValueError(f"`{kind}` is not a kind of step; there are {', '.join(METHODS)} and OVERLAP")
        self._handlers[kind] = handler
        for other in self._others.values():
            other.handle(kind, handler)
        self._worker.handle(kind, handler)
        if kind != "OVERLAP":
            self._evaluation.handle(kind, handler)

    def reorder(self, order: Sequence[int] | None) -> None:
        """Sets the order of further batches, as `pipec.order` finds it: micro-batch k of
        the schedule has the number `order[k]` in the batch. Losses and outputs remain in
        the order of the batch. None stands for the batch as it is. It replaces the order
        of the schedule (`Schedule.order`), if that has one. All ranks call this with the
        same order; raises ValueError on each of them if they differ."""
        own = None if order is None else [int(number) for number in order]
        fits = own is None or sorted(own) == list(range(self._source.microbatches))
        digest = int.from_bytes(hashlib.sha256(repr(own).encode()).digest()[:7], "big") if fits else 0
        seen = torch.tensor([digest, -digest], dtype=torch.int64, device=self._device)
        dist.all_reduce(seen, dist.ReduceOp.MAX, group=self._transfers.group)
        if not fits:
            raise ValueError(f"{own} is not an order of {self._source.microbatches} micro-batches")
        if int(seen[0]) != -int(seen[1]):
            raise ValueError(f"the order {own} of rank {self.rank} differs from that of another rank")
        self._order = self._reordered = own

    def _ordered(self, values: Sequence[_Value]) -> Sequence[_Value]:
        """One value per micro-batch of the schedule, of those of the batch."""
        return values if self._order is None else [values[number] for number in self._order]

    def _in_batch(self, unit: int) -> int:
        """The unit of the batch that is a unit of the schedule."""
        microbatch, part = divmod(unit, self._source.slices)
        return (microbatch if self._order is None else self._order[microbatch]) * self._source.slices + part

    def run(self, schedule: Schedule | Source | Given, *args: Any, **kwargs: Any) -> Any:
        """Runs one training step with another schedule, which is what `executor` takes
        but a name, with the stages of this executor at the same places and any number of
        micro-batches. The other arguments are those of `step`. Every rank calls this with
        the same schedule: the ranks compare its digest before each run, and the first
        time everything that they compare for an executor. The batch is taken in the order
        of the schedule (`Schedule.order`), or else in that of `reorder`.

        Raises ValueError when the schedule is not for the stages, not the same on all
        ranks, or of another number of micro-batches than the order, and CompileError when
        it is not right."""
        runs, order = self._prepare(schedule)
        before, runs._order = runs._order, order
        try:
            return runs._step(args, kwargs)
        finally:
            runs._order = before

    def prepared(self, schedule: Schedule | Source | Given) -> Executor:
        """The executor of another schedule for the same stages, or this one, which `run`
        runs. Every rank calls this with the same schedule. Raises as `run` does."""
        return self._prepare(schedule)[0]

    def _prepare(self, schedule: Schedule | Source | Given) -> tuple[Executor, list[int] | None]:
        """The same, and the order of the batch."""
        source, problem, order = None, None, None
        try:
            source = schedule if isinstance(schedule, Source) else load_source(schedule)
            if source is None and isinstance(schedule, Schedule):
                if schedule.ir not in self._compiled:
                    lists = _with_transfers(schedule)
                    self._compiled[schedule.ir] = lists, Source(lists.emit("python", "--passes="))
                schedule, source = self._compiled[schedule.ir]
            if source is None:
                raise ValueError(f"{schedule!r} is neither a schedule nor an executor of --emit=python")
            order = source.order or self._reordered
            for what in "maps", "edges", "ties", "streams", "slices", "forward_only":
                mine, theirs = getattr(self._source, what), getattr(source, what)
                if mine != theirs:
                    raise ValueError(f"{source.name} has other {what} than {self._source.name}: {theirs} and not {mine}")
            if order and len(order) != source.microbatches:
                raise ValueError(f"{source.name} has {source.microbatches} micro-batches, and `reorder` has set an order "
                                 f"of {len(order)}")
            source.communicators_for(self._options["communicators"])
            _check_optimizers(source, source.extras_of(self.rank), self._options["optimizers"])
        except Exception as error:  # noqa: BLE001 (raised again, when the other ranks know)
            problem = error
        text = f"{source.text_digest} {order}" if source else ""
        agree_on(self._stages[0], hashlib.sha256(text.encode()).hexdigest() if text else "", problem)
        assert source is not None
        digest = source.text_digest
        if digest == self._source.text_digest:
            return self, order
        other = self._others.get(digest)
        if other is None:
            plan = schedule if isinstance(schedule, Schedule) else source
            other = Executor(plan, source, self._stages, self._loss_fn, **self._options, transfers=self._transfers,
                             slicing=self._slicing)
            for kind, handler in self._handlers.items():
                other.handle(kind, handler)
            self._others[digest] = other
        return other, order

    def _step(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`step` with this schedule, whatever steers it."""
        steered, self.steered = self.steered, None
        try:
            return self.step(*args, **kwargs)
        finally:
            self.steered = steered

    # The interface of PyTorch's schedules.

    def step(self, *args: Any, target: Any = None, losses: list[torch.Tensor] | None = None, return_outputs: bool | None = None,
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
        if return_outputs is None:
            return_outputs = self._return_outputs
        if self._source.forward_only or self._loss_fn is None:
            return self.eval(*args, target=target, losses=losses, return_outputs=return_outputs, arg_mbs=arg_mbs,
                             kwarg_mbs=kwarg_mbs, target_mbs=target_mbs, loss_kwargs=loss_kwargs, **kwargs)
        if not torch.is_grad_enabled():
            raise RuntimeError("gradients are disabled: `eval` runs the forwards alone")

        def train(runs: Executor) -> Any:
            result = runs._execute(runs._worker, args, kwargs, target, losses, return_outputs, arg_mbs, kwarg_mbs, target_mbs,
                                   loss_kwargs)
            for part in _once(runs._worker.all_parts()):
                part.replicas.end()
            return result

        return train(self) if self.steered is None else self.steered(train)

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
        worker.keeps_results, worker.keeps_losses = return_outputs, losses is not None
        worker.begin(inputs, keywords, targets)
        self._transfers.round += 1
        try:
            with self._on_device():
                self._run_once(worker, inputs, keywords)
            if losses is not None and worker.losses:
                losses[:] = [worker.losses[k] for k in sorted(worker.losses, key=self._in_batch)]
            results = self._slicing.join([worker.results[k] for k in sorted(worker.results, key=self._in_batch)])
        except Exception as error:
            what = tell(error, self._source, self.rank)
            self._transfers.break_off(None if isinstance(error, LostError) else f"rank {self.rank} failed: {what}")
            raise
        finally:
            worker.forget()
        if not results:
            return None
        if self._output_merge_spec is None:
            results = _pytree.tree_map(_with_dimension, results)
        return merge_chunks(results, self._output_merge_spec)

    def _run_once(self, worker: Worker, inputs: Sequence[tuple[Any, ...]], keywords: Sequence[dict[str, Any]]) -> None:
        edges = [edge for part in worker.all_parts() for edge in part.sources + part.targets]
        known = self._known.get(worker)
        # An evaluation may have other sizes each time.
        worker.headers = self._learns and (known is None or self._dynamic or worker is self._evaluation)
        if worker.headers:
            for edge in edges:
                edge.metas = {}
        elif known is None:
            exchange_shapes(self._source, self._parts, self._transfers, inputs, keywords)
        else:
            for edge, metas in zip(edges, known, strict=True):
                edge.metas = metas
        spans = _spans(worker) if torch.autograd._profiler_enabled() else contextlib.nullcontext()  # type: ignore[attr-defined]
        with spans, stepping(self._source.slices):
            self._source.run(self.rank, worker)
            worker.finish()
        self._known[worker] = [edge.metas for edge in edges]

    def _split_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any], arg_mbs: Any,
                      kwarg_mbs: Any) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
        count = self._source.microbatches
        if arg_mbs is not None or kwarg_mbs is not None:
            if args or kwargs:
                raise ValueError("inputs are given as a whole and in micro-batches")
            for name, given in ("arg_mbs", arg_mbs), ("kwarg_mbs", kwarg_mbs):
                if given is not None and len(given) != count:
                    raise ValueError(f"{name} has {len(given)} micro-batches, the schedule {count}")
            return list(arg_mbs or [()] * count), list(kwarg_mbs or [{}] * count)
        if not args and not kwargs:
            return [()] * count, [{}] * count
        if not (kwargs or self._args_chunk_spec or self._kwargs_chunk_spec) and \
                all([type(arg) is torch.Tensor and arg.dim() > 0 and len(arg) >= count for arg in args]):
            # As below, in a tenth of the time.
            return list(zip(*[torch.tensor_split(arg, count) for arg in args])), [{}] * count
        inputs, keywords = split_args_kwargs_into_chunks(args, kwargs, count, self._args_chunk_spec,
                                                         self._kwargs_chunk_spec)
        if len(inputs) != count:
            raise ValueError(f"the inputs make {len(inputs)} micro-batches, the schedule has {count}")
        return list(inputs), list(keywords)

    def _split_targets(self, target: Any, target_mbs: Any) -> Sequence[Any]:
        count = self._source.microbatches
        if target_mbs is not None:
            if len(target_mbs) != count:
                raise ValueError(f"target_mbs has {len(target_mbs)} micro-batches, the schedule {count}")
            return list(target_mbs)
        if target is None:
            return [None] * count
        if target.shape[0] < count:
            raise ValueError(f"the target has {target.shape[0]} rows, the schedule {count} micro-batches")
        return list(torch.tensor_split(target, count))


def _with_dimension(value: Any) -> Any:
    """A scalar, such as a loss, as a tensor that can be merged with others."""
    return value.unsqueeze(0) if isinstance(value, torch.Tensor) and value.dim() == 0 else value


def executor(plan_or_name: str | os.PathLike[str] | types.ModuleType | Schedule | Source,
             stages: Sequence[_PipelineStageBase] | _PipelineStageBase,
             loss_fn: Callable[..., Any] | None, n_microbatches: int | None = None, *, microbatches: int | None = None,
             target: str | None = None, passes: str | None = None, cost: Cost | None = None, profile: Profile | None = None, args: Sequence[str] = (),
             communicators: str | None = None, scale_grads: bool = True,
             args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
             kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None, output_merge_spec: Any = None,
             patience: float | None = None, receives_ahead: int | None = None,
             tied_parameters: TiedParameters | None = None, broadcast_tied: bool = False, dynamic_shapes: bool = False,
             return_outputs: bool = True, slice_dim: int = 1, slice_lengths: Sequence[int] | None = None,
             optimizers: Mapping[int, torch.optim.Optimizer] | None = None, check_ranks: bool = True,
             **params: int) -> Executor:
    """Compiles a schedule for the ranks of the stages' group to Python, and returns it
    as a schedule of PyTorch, with `step` and `eval`.

    `stages` are those of this rank, `PipelineStage(module, index, stages, device)`, of
    which the module, the index, the device and the group are used; the module may be
    in DistributedDataParallel or FSDP2's `fully_shard`. The first argument is what
    `pipec.compile` takes, or a schedule, which gets the transfers of the target
    `pytorch` if it has none; `params` are further parameters of the program
    (`chunks=2`). The target is `pytorch` unless
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

    `step` returns no outputs, and keeps none, with `return_outputs=False`, here or there.

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
    if n_microbatches is None:
        n_microbatches = microbatches
    elif microbatches is not None:
        raise TypeError("n_microbatches and microbatches are the same")
    if n_microbatches is None:
        raise TypeError("the number of micro-batches is missing")
    mine = [stages] if isinstance(stages, _PipelineStageBase) else sorted(stages, key=lambda stage: stage.stage_index)
    if not mine:
        raise ValueError("no stages: every rank of a pipeline holds one")
    plan: Schedule | Source | None = None
    lowering: dict[str, Any] | None = None
    source, problem, slicing = None, None, None
    try:
        source = plan_or_name if isinstance(plan_or_name, Source) else load_source(plan_or_name)
        if source is not None or isinstance(plan_or_name, Schedule):
            given = {"target": target, "passes": passes, "cost": cost, "profile": profile, "args": args or None, **params}
            plan = source or _with_transfers(plan_or_name)  # type: ignore[arg-type]
            if useless := [name for name, value in given.items() if value is not None]:
                raise ValueError(f"{', '.join(useless)}: {plan.name} is compiled already")
        else:
            path = os.fspath(plan_or_name)  # type: ignore[arg-type]
            if not path.endswith((".csv", ".steps")):
                params = {"ranks": mine[0].group_size, "microbatches": n_microbatches, **params}
            lowering = dict(target=target if passes or target else "pytorch", passes=passes)
            settings: dict[str, Any] = dict(**lowering, cost=cost, profile=profile, args=args, **params)
            plan = _compile(path, source=None, **settings)
            check_fits(plan, mine, n_microbatches, plan.microbatches)
            source = Source(compiled("python", path, source=None, **settings)[0])  # (with the lines of the program)
        assert plan is not None
        check_fits(plan, mine, n_microbatches, plan.microbatches)
        source = source or Source(plan.emit("python", "--passes="))  # type: ignore[union-attr]
        communicators = source.communicators_for(communicators)
        slicing = Slicing(plan.slices, slice_dim, slice_lengths)
        _check_optimizers(source, source.extras_of(mine[0].group_rank), optimizers)
    except Exception as error:  # noqa: BLE001 (raised again, when the other ranks know)
        problem = error
    if check_ranks:
        check_agreement(mine[0], plan, problem, f"{communicators}\n{slicing}\n{dynamic_shapes}\n{source.text}" if source else "")
    elif problem:
        raise problem
    assert plan is not None and source is not None and communicators is not None
    return Executor(plan, source, mine, loss_fn, communicators=communicators, scale_grads=scale_grads,
                    args_chunk_spec=args_chunk_spec, kwargs_chunk_spec=kwargs_chunk_spec,
                    output_merge_spec=output_merge_spec, patience=patience, receives_ahead=receives_ahead,
                    tied_parameters=tied_parameters, slicing=slicing, optimizers=optimizers, dynamic_shapes=dynamic_shapes,
                    broadcast_tied=broadcast_tied, return_outputs=return_outputs, lowering=lowering)


def _with_transfers(schedule: Schedule) -> Schedule:
    """A schedule with the transfers of the target `pytorch`, if it has none, as those of
    `pipec.compile` without a target and of `pipec.search`."""
    if schedule.ranks == 1 or "SEND_" in schedule.ir:
        return schedule
    return Schedule.from_steps(schedule.ir, target="pytorch")


def _check_optimizers(plan: Source, extras: Extras, optimizers: Mapping[int, torch.optim.Optimizer] | None) -> None:
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


@contextlib.contextmanager
def _spans(worker: Any) -> Iterator[None]:
    """Records each step as a span `PP:` and its cell, and waits in computes as
    `PPWAIT:`, for `pipec calibrate`."""
    arrived, current = worker.arrived, [""]

    def span(kind: str, do: Callable[..., None]) -> Callable[..., None]:
        def run(*numbers: int) -> None:
            stage, *microbatch = map(str, numbers[:2])
            edge = f"{'<' if kind.startswith('RECV') else '>'}{numbers[2]}" if len(numbers) > 2 else ""
            cell = f"{'t' * (kind == 'REDUCE_TIED')}{stage}{edge}{kind}{''.join(microbatch)}"
            current[0] = cell
            with torch.profiler.record_function(f"PP:{cell}"):
                do(*numbers)
        return run

    def waiting(values: Any, unit: int) -> Any:
        with torch.profiler.record_function(f"PPWAIT:{current[0]}"):
            return arrived(values, unit)

    before = {name: worker.__dict__.get(name) for name in [*METHODS.values(), "arrived"]}
    for kind, method in METHODS.items():
        setattr(worker, method, span(kind, getattr(worker, method)))
    worker.arrived = waiting
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                delattr(worker, name)
            else:
                setattr(worker, name, value)
