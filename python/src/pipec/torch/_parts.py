"""The stages of one rank and what passes between stages."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Sequence

import torch
from torch.distributed.pipelining.stage import _PipelineStageBase
from torch.distributed.tensor import DTensor

from ._copies import Copies, Stash
from ._metas import Meta, Tensors, has_gradient
from ._replicas import Replicas, Sharded, replicas_of
from ._slices import Context
from ._source import Source
from ._transfers import Posted

class Edge:
    """Two stages of which the second takes the outputs of the first, as one of their
    ranks sees them: where both are on this rank, they share the edge."""

    def __init__(self, number: int, count: int, source: int, target: int, source_rank: int, target_rank: int):
        self.number, self.count = number, count
        """Its number among all edges, and how many there are."""
        self.source, self.target = source, target
        self.source_rank, self.target_rank = source_rank, target_rank
        self.metas: dict[int, list[Meta]] = {}
        """By unit, the outputs of the source."""
        # By unit, what waits to be sent, or to be used, or is under way.
        self.outputs: dict[int, Posted] = {}
        self.gradients: dict[int, Posted] = {}

    def gradient_metas_of(self, unit: int) -> list[Meta]:
        """What comes back for a unit."""
        return [meta for meta in self.metas[unit] if has_gradient(meta)]


class Part:
    """A stage of this rank, in one direction."""

    def __init__(self, index: int, replicas: Replicas, device: torch.device, sources: Sequence[Edge], targets: Sequence[Edge]):
        self.index, self.replicas, self.device = index, replicas, device
        self.module = replicas.module
        self.plain = type(replicas) is Replicas
        """Whether its steps need nothing of `replicas`."""
        self.sources, self.targets = tuple(sources), tuple(targets)
        """The edges to the stages that this one takes its inputs from, and to those that
        take its outputs, in ascending order. A stage without sources takes the batch, one
        without targets computes the loss."""
        self._source_of = {edge.source: edge for edge in sources}
        self._target_of = {edge.target: edge for edge in targets}
        self.stream = 0
        """The number of the stream of its computes among those of the schedule, from 1; 0
        for that of the caller."""
        self.other: int | None = None
        """The rank of the same stage in the other direction."""
        # By unit: the inputs from each source and the outputs or their edges,
        # for the backward; what the first half of a split backward leaves to the second.
        self.kept: dict[int, tuple[list[Tensors], Sequence[Any]]] = {}
        self.split: dict[int, Any] = {}
        # By unit, what a handler has taken: the outputs with gradients, and these.
        self.roots: dict[int, tuple[list[torch.Tensor], list[Any]]] = {}
        # By unit: what a forward leaves to the recomputation, and what may be on the host.
        self.stashes: dict[int, Stash] = {}
        self.copies: dict[int, Copies] = {}
        # By micro-batch, if it has slices.
        self.contexts: dict[int, Context] = {}

    def source(self, stage: int) -> Edge:
        """The edge that comes from a stage."""
        return self._source_of[stage]

    def target(self, stage: int) -> Edge:
        """The edge that goes to a stage."""
        return self._target_of[stage]

    def clear(self) -> None:
        self.kept.clear()
        self.split.clear()
        self.roots.clear()
        self.stashes.clear()
        self.copies.clear()
        self.contexts.clear()
        for edge in self.sources + self.targets:
            edge.outputs.clear()
            edge.gradients.clear()


def make_parts(plan: Source, stages: Sequence[_PipelineStageBase]) -> list[dict[int, Part]]:
    """The stages of this rank by direction, connected."""
    rank, held = stages[0].group_rank, {stage.stage_index: stage for stage in stages}
    replicas = {index: replicas_of(stage) for index, stage in held.items()}
    if len(plan.maps) == 2 and any(isinstance(one, Sharded) for one in replicas.values()):
        raise ValueError(f"{plan.name} runs in two directions, which FSDP's sharded gradients do not support")
    result = []
    for direction, ranks in enumerate(plan.maps):
        edges = [Edge(number, len(plan.edges), source, target, ranks[source], ranks[target])
                 for number, (source, target) in enumerate(plan.edges) if rank in (ranks[source], ranks[target])]
        parts = {}
        for index in (stage for stage, on in enumerate(ranks) if on == rank):
            parts[index] = Part(index, replicas[index], torch.device(held[index].device),
                                [edge for edge in edges if edge.target == index],
                                [edge for edge in edges if edge.source == index])
            parts[index].stream = next((n for n, of in enumerate(plan.streams.values(), 1) if index in of), 0)
            if len(plan.maps) == 2:
                parts[index].other = plan.maps[1 - direction][index]
        result.append(parts)
    return result


def check_outputs(part: Part, outputs: Sequence[Any]) -> None:
    """Raises TypeError for what stages cannot exchange."""
    for output in outputs:
        if type(output) is torch.Tensor:
            continue
        if not isinstance(output, torch.Tensor):
            raise TypeError(f"stage {part.index} gives {type(output).__name__}; stages exchange tensors and tuples of them")
        if isinstance(output, DTensor):
            raise TypeError(f"stage {part.index} gives a DTensor, whose parts are on several ranks; a module gives its local "
                            "tensor with to_local()")
