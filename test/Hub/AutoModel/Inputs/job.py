"""Runs AutoModel's fine-tuning recipe without a GPU, as torch.distributed.run starts it:

    job.py RECIPE NAME

The recipe is unmodified. What asks for a CUDA device gets the CPU, and the figures of
CUDA's memory are 0. The parameters follow from their names, so that they do not depend
on the number of stages. Each rank writes its parameters to NAME.RANK.pt."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys
import types
import zlib

import torch
from torch.distributed.tensor import DTensor, distribute_tensor

for function in "reset_peak_memory_stats", "empty_cache", "synchronize", "max_memory_allocated":
    setattr(torch.cuda, function, lambda *_, **__: 0)
torch.cuda.current_device = lambda: torch.device("cpu")


class OnCpu(types.ModuleType):
    """PyTorch, except that every device is the CPU."""

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def device(*_):
        return torch.device("cpu")


import nemo_automodel._transformers.auto_model
import nemo_automodel.recipes.llm.train_ft as recipe
from nemo_automodel.components.config._arg_parser import parse_args_and_load_config

recipe.torch = nemo_automodel._transformers.auto_model.torch = OnCpu("torch")

path, name = sys.argv[1:]
del sys.argv[1:]
trainer = recipe.TrainFinetuneRecipeForNextTokenPrediction(parse_args_and_load_config(path))
trainer.setup()
parameters = {key: value for part in trainer.model_parts for key, value in part.named_parameters()}
with torch.no_grad():
    for key, value in parameters.items():
        start = 0.1 * torch.randn(value.shape, generator=torch.Generator().manual_seed(zlib.crc32(key.encode())))
        if isinstance(value, DTensor):
            start = distribute_tensor(start, value.device_mesh, value.placements)
        value.copy_(start)
trainer.run_train_validation_loop()

values = {key: value.full_tensor() if isinstance(value, DTensor) else value for key, value in parameters.items()}
torch.save({key: value.detach().clone() for key, value in values.items()}, f"{name}.{torch.distributed.get_rank()}.pt")
