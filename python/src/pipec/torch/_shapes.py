"""What passes between stages, where receives cannot wait for headers."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Mapping, Sequence

import torch
import torch.distributed as dist

from ._metas import Meta
from ._parts import Part, check_outputs
from ._slices import Context
from ._source import Source
from ._transfers import Transfers


def exchange_shapes(plan: Source, all_parts: Sequence[Mapping[int, Part]], transfers: Transfers,
                    inputs: Sequence[tuple[Any, ...]], keywords: Sequence[dict[str, Any]]) -> None:
    """Sends the shapes of the outputs of one micro-batch along the stages. A stage that
    was made with `output_args` says what its outputs are; another one computes them from
    zeros, which changes neither its registered buffers nor the state of random numbers."""
    group: Any = transfers.group
    for direction, parts in enumerate(all_parts):
        # A micro-batch, whose slices may have different shapes.
        first = plan.units // 2 * direction
        units = range(first, first + plan.slices)
        edges = {(edge.target, edge.source): edge for part in parts.values() for edge in part.sources + part.targets}
        outputs: dict[int, list[list[Meta]]] = {}
        # Each rank takes part in what it holds in one order of all edges, that of
        # their targets, so that no two ranks wait for each other.
        for stage in range(plan.stages):
            for edge in (edges[key] for key in sorted(edges) if key[0] == stage):
                if edge.source in outputs:
                    metas = outputs[edge.source]
                    if stage not in parts:
                        dist.send_object_list([metas], group=group, group_dst=edge.target_rank, device=transfers.device)
                else:
                    received: list[Any] = [None]
                    dist.recv_object_list(received, group=group, group_src=edge.source_rank, device=transfers.device)
                    metas = received[0]
                edge.metas = {unit: metas[unit % plan.slices] for unit in range(plan.units)}
            if stage in parts and parts[stage].targets:
                part = parts[stage]
                args = [tuple(torch.zeros(meta.shape, dtype=meta.dtype, device=transfers.device) for edge in part.sources
                              for meta in edge.metas[unit]) if part.sources else inputs[unit] for unit in units]
                outputs[stage] = _outputs_of(part, args, [keywords[unit] for unit in units])


def _outputs_of(part: Part, args: Sequence[tuple[Any, ...]], kwargs: Sequence[dict[str, Any]]) -> list[list[Meta]]:
    """What the outputs of a stage look like, for the arguments of each slice."""
    slices = len(args)
    if slices == 1 and (given := getattr(part.replicas.stage, "_outputs_meta", None)):
        return [Meta.of(given)]
    context = Context(slices)
    buffers = [(buffer, buffer.clone()) for buffer in part.module.buffers()]
    devices = [part.device] if part.device.type == "cuda" else []
    metas = []
    with torch.no_grad(), torch.random.fork_rng(devices), part.replicas.quiet():
        for number in range(slices):
            with context.running(number):
                result = part.module(*args[number], **kwargs[number])
            outputs = result if isinstance(result, tuple) else (result,)
            check_outputs(part, outputs)
            metas.append(Meta.of(outputs))
        for buffer, before in buffers:
            buffer.copy_(before)
    return metas
