"""The model of the problem as PyTorch modules, for PyTorch's runtime and DeepSpeed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import torch

import problem


def module(weights: list[float], dtype: torch.dtype = torch.float64) -> torch.nn.Sequential:
    """One stage."""
    layer = torch.nn.Linear(problem.WIDTH, problem.WIDTH, dtype=dtype)
    numbers = torch.tensor(weights, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(numbers[:problem.WIDTH ** 2].view(problem.WIDTH, problem.WIDTH))
        layer.bias.copy_(numbers[problem.WIDTH ** 2:])
    return torch.nn.Sequential(layer, torch.nn.Tanh())


def samples(rows: list[list[float]], dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """One row per sample, all micro-batches in their order."""
    return torch.tensor(rows, dtype=dtype).view(-1, problem.WIDTH)


def gradients(stage: torch.nn.Module) -> list[float]:
    return [x for parameter in stage.parameters() for x in parameter.grad.flatten().tolist()]
