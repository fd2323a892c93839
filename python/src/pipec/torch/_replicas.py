"""Data parallelism of a stage's module: DistributedDataParallel and FSDP2."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, ContextManager, Iterable

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.pipelining.stage import _PipelineStageBase
from torch.nn.parallel import DistributedDataParallel

from ._copies import NOTHING


class Replicas:
    """The module of a stage without data parallelism."""

    def __init__(self, stage: _PipelineStageBase):
        self.stage: Any = stage
        self.module: Any = stage.submod

    @property
    def bare(self) -> Any:
        """The module without a wrapper."""
        return self.module

    _ended = False

    def begin(self) -> None:
        """Before the first step of a run."""
        self._ended = False

    def quiet(self) -> ContextManager[Any]:
        """Within it, gradients are accumulated and not exchanged."""
        return NOTHING

    def unshard(self) -> None: ...

    def ready(self) -> None:
        """Before a compute step: the parameters are whole."""

    def reshard(self) -> None: ...

    def reduce_grad(self) -> None:
        """All gradients of the stage are accumulated, and the list says that they
        are to be reduced."""

    begins_early = False
    """Whether `begin_end` does anything."""

    def begin_end(self) -> None:
        """After the last backward of the stage in a run, whose gradients nothing else
        changes: may begin what `end` ends, beside the steps of other stages."""

    def end(self) -> None:
        """After the last backward of the stage in a run: its gradients become final. Later
        calls in the run do nothing."""
        if not self._ended:
            self._ended = True
            self.finish()

    def finish(self) -> None:
        """Makes the gradients of the stage final."""


class Distributed(Replicas):
    """A module in DistributedDataParallel. Its gradients are averaged once per run,
    after the last backward of the stage. (Its own hooks do not see split
    backwards.)"""

    begins_early = True
    _mean: Mean | None = None

    def begin(self) -> None:
        super().begin()
        self._mean = None

    def quiet(self) -> ContextManager[Any]:
        quiet: ContextManager[Any] = self.module.no_sync()
        return quiet

    @property
    def bare(self) -> Any:
        return self.module.module

    def begin_end(self) -> None:
        self._mean = Mean(self.module.parameters(), self.module.process_group)

    def finish(self) -> None:
        if self._mean is None:
            self.begin_end()
        assert self._mean
        self._mean.end()


class Sharded(Replicas):
    """A module with FSDP2's fully_shard."""

    def __init__(self, stage: _PipelineStageBase):
        super().__init__(stage)
        self.stage.has_backward = True
        self._parts = [module for module in self.module.modules() if isinstance(module, FSDPModule)]
        self._unsharding: list[Any] = []
        self.reduced = False

    def begin(self) -> None:
        super().begin()
        self.reduced = False
        self.module.set_reshard_after_backward(False)
        self.module.set_requires_gradient_sync(False)
        if hasattr(self.module, "set_manual_backward_finalization"):  # PyTorch 2.15
            self.module.set_manual_backward_finalization(True)
        else:
            self.module.set_is_last_backward(False)

    def unshard(self) -> None:
        self._unsharding = [part.unshard(async_op=True) for part in self._parts]

    def ready(self) -> None:
        if self._unsharding:
            for handle in self._unsharding:
                handle.wait()
            self._unsharding = []

    def reshard(self) -> None:
        for part in self._parts:
            part.reshard()

    def reduce_grad(self) -> None:
        self.reduced = True
        self.stage.perform_reduce_grad(1)

    def finish(self) -> None:
        if not self.reduced:
            self.reduce_grad()
            self.reshard()


def flat_gradients(parameters: Iterable[torch.nn.Parameter]) -> torch.Tensor | None:
    """The gradients of trainable parameters in one tensor, then for each parameter
    whether it has one (1 or 0). None without trainable parameters."""
    trainable = [parameter for parameter in parameters if parameter.requires_grad]
    if not trainable:
        return None
    parts = [(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).flatten() for parameter in trainable]
    return torch.cat([*parts, parts[0].new_tensor([parameter.grad is not None for parameter in trainable])])


def add_gradients(parameters: Iterable[torch.nn.Parameter], flat: torch.Tensor) -> None:
    """Adds what `flat_gradients` gave elsewhere."""
    trainable = [parameter for parameter in parameters if parameter.requires_grad]
    at = 0
    for parameter, present in zip(trainable, flat[len(flat) - len(trainable):].tolist()):
        part = flat[at:at + parameter.numel()].view_as(parameter).to(parameter.dtype)
        at += parameter.numel()
        if present:
            parameter.grad = part.clone() if parameter.grad is None else parameter.grad + part


class Mean:
    """Gradients that are replaced by their mean over the ranks of a group, at `end`."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter], group: dist.ProcessGroup):
        self._trainable = [parameter for parameter in parameters if parameter.requires_grad]
        self._size = dist.get_world_size(group)
        self._flat = flat_gradients(self._trainable)
        if self._flat is not None:
            self._work: Any = dist.all_reduce(self._flat, group=group, async_op=True)

    def end(self) -> None:
        if self._flat is None:
            return
        self._work.wait()
        self._flat /= self._size
        for parameter in self._trainable:
            parameter.grad = None
        add_gradients(self._trainable, self._flat)


def replicas_of(stage: _PipelineStageBase) -> Replicas:
    """How the module of a stage is replicated."""
    if isinstance(stage.submod, DistributedDataParallel):
        return Distributed(stage)
    if isinstance(stage.submod, FSDPModule):
        return Sharded(stage)
    return Replicas(stage)
