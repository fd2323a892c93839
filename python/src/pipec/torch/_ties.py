"""Stages that share parameters: sums of their gradients."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import functools
from typing import Any, Mapping, NamedTuple, Sequence, Union

import torch
import torch.distributed as dist

from ._parts import Part
from ._replicas import Sharded
from ._source import Source
from ._transfers import Posted, Transfers

Parameters = Sequence[torch.nn.Parameter]
TiedParameters = Mapping[int, Union[Parameters, Mapping[int, Parameters]]]
"""By stage, its parameters that other stages have too, in all groups or by group."""


class Group(NamedTuple):
    """A group of tied stages that has some on this rank."""

    parts: list[Part]
    parameters: list[list[torch.nn.Parameter]]
    """What is shared: for each, the parameters of this rank, each once."""
    communicator: dist.ProcessGroup | None
    """None where this rank has all stages of the group."""


class Ties:
    """The groups of tied stages of one rank. A sum runs beside what follows its step,
    on a communicator of its group, and ends with the run."""

    def __init__(self, plan: Source, parts: Mapping[int, Part], transfers: Transfers, given: TiedParameters | None,
                 broadcast: bool = False):
        self._transfers = transfers
        self._broadcast = broadcast
        self._groups: dict[int, Group] = {}
        self._posted: dict[int, tuple[list[torch.Tensor], Posted]] = {}
        # Gradients from before the run: only what the run adds is summed.
        self._earlier: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        self._ended: set[int] = set()
        """The groups whose sums are gradients already."""
        self._started = not plan.ties
        if not plan.ties:
            if given:
                raise ValueError(f"tied_parameters: {plan.name} has no tied stages")
            return
        ranks = [sorted({plan.maps[0][stage] for stage in stages}) for stages in plan.ties]
        problem = None
        try:
            shared = [_shared(group, [parts[stage] for stage in stages if stage in parts], given)
                      for group, stages in enumerate(plan.ties)]
        except ValueError as error:
            problem = error
            shared = []
        sizes = [[[tuple(same[0].shape), str(same[0].dtype)] for same in one] for one in shared]
        _compare(plan, transfers, ranks, sizes, problem)
        self._holders = ranks
        for group, (stages, holders) in enumerate(zip(plan.ties, ranks)):
            communicator = transfers.communicator_of(holders, f"pipec t{group}") if len(holders) > 1 else None
            if transfers.rank in holders:
                self._groups[group] = Group([parts[stage] for stage in stages if stage in parts], shared[group], communicator)

    @functools.cached_property
    def stages(self) -> set[int]:
        """The tied stages of this rank."""
        return {part.index for group in self._groups.values() for part in group.parts}

    @classmethod
    def none(cls, transfers: Transfers) -> Ties:
        """Of a run without backwards."""
        ties = cls.__new__(cls)
        ties._transfers, ties._groups, ties._posted, ties._earlier, ties._started = transfers, {}, {}, [], True
        ties._ended = set()
        return ties

    def begin(self) -> None:
        if not self._started:  # weights may be loaded until the first step
            if self._broadcast:
                self._copy_values()
            self._compare_values()
            self._started = True
        self._posted, self._earlier, self._ended = {}, [], set()
        for parameter in {id(p): p for group in self._groups.values() for same in group.parameters for p in same}.values():
            if parameter.grad is not None:
                self._earlier.append((parameter, parameter.grad))
                parameter.grad = None

    def repeated(self) -> set[int]:
        """The parameters that a stage before has, too, as numbers of `id`."""
        found: set[int] = set()
        for number, group in self._groups.items():
            first = min(self._holders[number]) == self._transfers.rank
            for same in group.parameters:
                found |= {id(parameter) for parameter in (same[1:] if first else same)}
        return found

    def _copy_values(self) -> None:
        """Gives the copies of each parameter the values of the first."""
        with torch.no_grad():
            for group in self._groups.values():
                for first, *others in group.parameters:
                    if group.communicator is not None:
                        dist.broadcast(_local(first.detach()), group=group.communicator, group_src=0)
                    for other in others:
                        other.copy_(first)

    def _compare_values(self) -> None:
        """Raises ValueError on all ranks when copies of a parameter differ."""
        mine = {number: [[(_name_of(group.parts, parameter), _checksum(parameter)) for parameter in same]
                         for same in group.parameters] for number, group in self._groups.items()}
        ranks = dist.get_world_size(self._transfers.group)
        everyone: list[Any] = [mine] * ranks
        if ranks > 1:
            dist.all_gather_object(everyone, mine, group=self._transfers.group)
        first: dict[tuple[int, int], tuple[str, Any]] = {}
        for rank, groups in enumerate(everyone):
            for number, parameters in groups.items():
                for place, copies in enumerate(parameters):
                    for name, checksum in copies:
                        name = f"{name} of rank {rank}"
                        known, expected = first.setdefault((number, place), (name, checksum))
                        if checksum != expected:
                            raise ValueError(f"tied parameters start with different values: {known} and {name}; "
                                             "copy one to the other before the first step")

    def post(self, number: int) -> None:
        """Starts the sum of a group."""
        group = self._groups[number]
        for part in group.parts:
            if isinstance(part.replicas, Sharded) and not part.replicas.reduced:
                raise ValueError(f"REDUCE_TIED t{number}: stage {part.index} is in FSDP, and the schedule has no REDUCE_GRAD for it")
        sums = []
        with torch.no_grad():
            for same in group.parameters:
                total = torch.zeros_like(_local(same[0]))
                for parameter in same:
                    if parameter.grad is not None:
                        total += _local(parameter.grad)
                sums.append(total)
        text = f"REDUCE_TIED t{number}"
        with self._transfers.named(text):
            works = [] if group.communicator is None else \
                [dist.all_reduce(total, group=group.communicator, async_op=True) for total in sums]
        self._posted[number] = sums, Posted(works, tuple(sums), text)

    def end(self) -> None:
        """Waits for the sums and makes them the gradients. Raises ValueError if the list
        has no sum of a group."""
        for number in self._groups:
            if number not in self._posted and number not in self._ended:
                raise ValueError(f"the run ended without REDUCE_TIED t{number}; the pass `insert-ties` adds it")
        for number in list(self._posted):
            self._end_one(number)

    def end_of(self, stage: int) -> None:
        """The same for the groups of a stage, so that its gradients are final."""
        for number, group in self._groups.items():
            if number not in self._ended and any(part.index == stage for part in group.parts):
                if number not in self._posted:
                    raise ValueError(f"UPDATE s{stage}: REDUCE_TIED t{number} has not run")
                self._end_one(number)

    def _end_one(self, number: int) -> None:
        """Waits for the sum of a group and makes it the gradient, with that from before the run."""
        sums, posted = self._posted.pop(number)
        self._ended.add(number)
        self._transfers.wait(posted)
        changed = set()
        for same, total in zip(self._groups[number].parameters, sums):
            for parameter in same:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                _local(parameter.grad).copy_(total)
                changed.add(id(parameter))
        for parameter, gradient in self._earlier:
            if id(parameter) in changed:
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        self._earlier = [(parameter, gradient) for parameter, gradient in self._earlier if id(parameter) not in changed]


def _local(tensor: Any) -> torch.Tensor:
    """What this process has of a tensor that FSDP shards."""
    result: torch.Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return result


def _name_of(parts: Sequence[Part], parameter: torch.nn.Parameter) -> str:
    for part in parts:
        for name, one in part.replicas.bare.named_parameters():
            if one is parameter:
                return f"`{name}` of stage {part.index}"
    return "a parameter"


def _checksum(parameter: torch.nn.Parameter) -> tuple[int, ...]:
    """Of the bits of the values that this process has."""
    values = _local(parameter.detach()).reshape(-1)
    bits = values.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}.get(values.element_size(), torch.int64))
    return len(bits), *(int(part.sum(dtype=torch.int64)) for part in (bits, bits[::2]))


def _shared(group: int, parts: Sequence[Part], given: TiedParameters | None) -> list[list[torch.nn.Parameter]]:
    """The shared parameters of the stages of a group on this rank."""
    lists = []
    for part in parts:
        module = part.replicas.bare
        found: Any = (given or {}).get(part.index, getattr(module, "tied_parameters", None))
        if isinstance(found, Mapping):
            found = found.get(group)
        if not found:
            raise ValueError(f"stage {part.index} is tied, and neither tied_parameters nor its module says which parameters are")
        own = {id(parameter) for parameter in module.parameters()}
        if any(id(parameter) not in own for parameter in found):
            raise ValueError(f"tied_parameters of stage {part.index} has one that is not among the module's")
        lists.append(list(found))
    if any(len(one) != len(lists[0]) for one in lists):
        raise ValueError(f"the stages {', '.join(str(part.index) for part in parts)} share different numbers of parameters")
    result = []
    for same in zip(*lists):
        if any(parameter.shape != same[0].shape for parameter in same):
            raise ValueError(f"the stages {', '.join(str(part.index) for part in parts)} share parameters of different shapes")
        result.append(list({id(parameter): parameter for parameter in same}.values()))
    return result


def _compare(plan: Source, transfers: Transfers, ranks: Sequence[Sequence[int]], sizes: Sequence[Any],
             problem: ValueError | None) -> None:
    """Raises ValueError on all ranks when one has a problem, or when the ranks of a group
    share different parameters."""
    mine = (str(problem) if problem else None, list(sizes))
    everyone: list[Any] = [mine] * plan.ranks
    if plan.ranks > 1:
        dist.all_gather_object(everyone, mine, group=transfers.group)
    if problem:
        raise problem
    for rank, (text, _) in enumerate(everyone):
        if text is not None:
            raise ValueError(f"rank {rank}: {text}")
    for group, holders in enumerate(ranks):
        first = everyone[holders[0]][1][group]
        for rank in holders[1:]:
            if everyone[rank][1][group] != first:
                raise ValueError(f"ranks {holders[0]} and {rank} share parameters of different shapes or types in group {group} "
                                 f"of tied stages: {first} and {everyone[rank][1][group]}")
