"""Clipping of gradients over the ranks of a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import math
from typing import Any

import torch
import torch.distributed as dist

from ._executor import Executor


def clip_grad_norm_(executor: Executor, max_norm: float, norm_type: float = 2.0, *,
                    error_if_nonfinite: bool = False) -> torch.Tensor:
    """Scales the gradients of all stages so that the norm of all of them together is at
    most `max_norm`, and returns the norm before, as `torch.nn.utils.clip_grad_norm_`
    does for one model. Every rank of the pipeline calls it after a step.

    A parameter that tied stages share counts once, and so does a stage of which a
    schedule in two directions has two copies. Gradients of FSDP count as a whole.

    Raises RuntimeError with `error_if_nonfinite` on all ranks when the norm is not
    finite."""
    parameters = [p for module in executor.modules.values() for p in module.parameters() if p.grad is not None]
    parameters = list({id(p): p for p in parameters}.values())
    counted = executor.counted_parameters()
    total = torch.zeros((), dtype=torch.float64, device=executor.device)
    if gradients := [p.grad for p in parameters if p.grad is not None and id(p) in counted]:
        norm: Any = torch.nn.utils.get_total_norm(gradients, norm_type)
        norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
        total = norm.to(executor.device, torch.float64)
    if not math.isinf(norm_type):
        total = total ** norm_type
    if executor.size > 1:
        dist.all_reduce(total, dist.ReduceOp.MAX if math.isinf(norm_type) else dist.ReduceOp.SUM, group=executor.group)
    if not math.isinf(norm_type):
        total = total ** (1 / norm_type)
    if error_if_nonfinite and not bool(torch.isfinite(total)):
        raise RuntimeError(f"the norm of the gradients of all stages is {total.item()}")
    torch.nn.utils.clip_grads_with_norm_(parameters, max_norm, total.float() if total.device.type == "mps" else total)
    return total.to(torch.float32)
