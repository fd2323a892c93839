"""From the layers of a model to a pipelined job."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Mapping

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage

from .._plan import Plan as _Plan
from .._plan import plan as _plan
from .._schedule import Schedule
from ._executor import Executor, executor
from ._measure import measure


class Layers(torch.nn.Sequential):
    """Layers of a stage, one after the other: a tuple that one returns has the arguments
    of the next, as in `measure`."""

    tied_parameters: dict[int, list[torch.nn.Parameter]]
    """Those that other stages have too, by the group of tied stages."""

    def forward(self, *values: Any) -> Any:  # type: ignore[override, unused-ignore]
        value: Any = values[0] if len(values) == 1 else values
        for layer in self:
            value = layer(*value) if isinstance(value, (tuple, list)) else layer(value)
        return value


class Plan:
    """A plan for a model, made by `plan`."""

    def __init__(self, layers: list[torch.nn.Module], profile: dict[str, Any], found: _Plan):
        self.layers = layers
        self.profile = profile
        """The measured costs."""
        self.found = found
        """The answer of `pipec plan`."""
        self.makespan = found.makespan
        self.bound = found.bound
        """Nothing that was searched has a smaller makespan."""
        self.schedule = Schedule.from_steps(found.schedule.ir,
                                            target="pytorch" if found.best.placed is None else "pytorch-search")

    def __repr__(self) -> str:
        return repr(self.found).replace("<pipec.", "<pipec.torch.", 1)

    def stage_modules(self, rank: int) -> dict[int, Layers]:
        """The layers of each stage of a rank."""
        of = _stage_of_layers(self.schedule)
        modules = {stage: Layers(*(layer for layer, place in zip(self.layers, of) if place == stage))
                   for stage in self.schedule.stages_of(rank)}
        shared = self._shared(of)
        for stage, module in modules.items():
            module.tied_parameters = {group: shared[group] for group, stages in enumerate(self.schedule.ties) if stage in stages}
        return modules

    def _shared(self, of: list[int]) -> list[list[torch.nn.Parameter]]:
        """The parameters of each group of tied stages, in the order of the model."""
        users: dict[torch.nn.Parameter, set[int]] = {}
        for layer, stage in zip(self.layers, of):
            for value in layer.parameters():
                users.setdefault(value, set()).add(stage)
        for stages in users.values():
            if len(stages) > 1 and sorted(stages) not in self.schedule.ties:
                raise ValueError(f"{self.schedule.name}: stages {sorted(stages)} share parameters and are not tied")
        return [[value for value, stages in users.items() if stages == set(group)] for group in self.schedule.ties]

    def executor(self, stages: Mapping[int, torch.nn.Module] | None = None, loss_fn: Callable[..., Any] | None = None, *,
                 device: str | torch.device | None = None, group: dist.ProcessGroup | None = None,
                 **options: Any) -> Executor:
        """The executor of this rank. `stages` are the modules of its stages, by default
        those of `stage_modules`; `options` are those of `pipec.torch.executor`."""
        rank = dist.get_rank(group)
        modules = self.stage_modules(rank) if stages is None else dict(stages)
        where = torch.device(device) if device is not None else next(
            (value.device for module in modules.values() for value in module.parameters()), torch.device("cpu"))
        parts = [PipelineStage(module.to(where), stage, self.schedule.stages, where, group=group)
                 for stage, module in modules.items()]
        return executor(self.schedule, parts, loss_fn, self.schedule.microbatches, **options)


def _stage_of_layers(schedule: Schedule) -> list[int]:
    """The stage of each layer."""
    if schedule.layout is None:
        raise ValueError(f"{schedule.name} has no layout")
    text = re.sub(r"\(([^()]*)\)\*(\d+)", lambda found: found[1] * int(found[2]), schedule.layout.replace(",", ""))
    text = re.sub(r"(.)\*(\d+)", lambda found: found[1] * int(found[2]), text)
    return [stage for stage, letters in enumerate(text.split("|")) for _ in letters]


def plan(layers: Iterable[torch.nn.Module], sample: Any, *, ranks: int, microbatches: int, memory: float | str | None = None,
         device: str | torch.device | None = None, repeats: int = 10,
         optimizer: Callable[..., torch.optim.Optimizer] | None = torch.optim.AdamW, **options: Any) -> Plan:
    """Measures the layers of a model and plans its job:

        plan = pipec.torch.plan(layers, sample, ranks=4, microbatches=8)
        schedule = plan.executor(loss_fn=loss_fn)

    `memory` is the limit of a rank, such as `"70GiB"`; `device`, `repeats` and
    `optimizer` are those of `measure`, and `options` those of `pipec.plan`. In a job
    of `torch.distributed`, the first rank measures and plans, and all ranks call this.

    Raises MeasureError if a layer fails, and CompileError if no schedule fits.
    """
    modules = list(layers)
    if dist.is_initialized() and dist.get_world_size() > 1:
        answer: list[Any] = [None]
        if dist.get_rank() == 0:
            answer = [_answer(modules, sample, ranks, microbatches, memory, device, repeats, optimizer, options)]
        dist.broadcast_object_list(answer)
    else:
        answer = [_answer(modules, sample, ranks, microbatches, memory, device, repeats, optimizer, options)]
    if isinstance(answer[0], Exception):
        raise answer[0]
    return Plan(modules, *answer[0])


def _answer(modules: list[torch.nn.Module], sample: Any, ranks: int, microbatches: int, memory: float | str | None,
            device: str | torch.device | None, repeats: int, optimizer: Callable[..., torch.optim.Optimizer] | None,
            options: dict[str, Any]) -> Any:
    """The profile and the plan, or what went wrong, for all ranks."""
    try:
        profile = measure(modules, sample, device=device, repeats=repeats, optimizer=optimizer)
        return profile, _plan(profile, ranks=ranks, microbatches=microbatches, memory_limit=memory,
                              **{"for_": "executor", **options})
    except Exception as error:  # noqa: BLE001 (raised on every rank)
        return error
