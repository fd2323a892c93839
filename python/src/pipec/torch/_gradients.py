"""Parameters that a step leaves without a gradient."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Union

import torch
from torch.distributed.pipelining.schedules import _PipelineSchedule
from torch.distributed.pipelining.stage import _PipelineStageBase

from ._executor import Executor


def check_gradients(schedule_or_module: Union[_PipelineSchedule, Executor, _PipelineStageBase, torch.nn.Module]) -> list[str]:
    """The names of trainable parameters that have no gradient; to be called after
    the first step, before the gradients are cleared. Those of a schedule are the
    parameters of this rank's stages, each after its stage: `stage 3: norm.weight`.

    With split backwards PyTorch leaves some parameters without a gradient and
    says nothing (docs/Torch.md): they are never trained.
    """
    if isinstance(schedule_or_module, torch.nn.Module):
        return [name for name, parameter in schedule_or_module.named_parameters()
                if parameter.requires_grad and parameter.grad is None]
    holder: Any = schedule_or_module
    if isinstance(holder, Executor):
        return [f"stage {index}: {name}" for index, module in holder.modules.items() for name in check_gradients(module)]
    if isinstance(holder, _PipelineStageBase):
        stages = [holder]
    elif isinstance(holder, _PipelineSchedule):
        stages = list(getattr(holder, "_stages", None) or [getattr(holder, "_stage")])
    else:
        raise TypeError(f"{type(holder).__name__} is neither a schedule, nor a stage, nor a module")
    return [f"stage {stage.stage_index}: {name}" for stage in stages for name in check_gradients(stage.submod)]
