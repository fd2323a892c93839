"""Runs torchtitan's own training program without a GPU, as torch.distributed.run starts
it. What asks for the device gets the CPU, with figures of its memory that are 0.
FlexAttention, which has no backward on the CPU, computes with a dense mask."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import types

import torch
import torch._utils


class Cpu(types.ModuleType):
    """torch.cpu, with what torchtitan takes from torch.cuda."""

    def __getattr__(self, name):
        return getattr(torch.cpu, name)

    @staticmethod
    def get_device_name(_device=None):
        return "CPU"

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def get_device_properties(_device=None):
        return types.SimpleNamespace(total_memory=1)

    @staticmethod
    def memory_stats(_device=None):
        return {}

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def set_device(_device):
        pass

    @staticmethod
    def reset_peak_memory_stats():
        pass

    @staticmethod
    def empty_cache():
        pass


torch._utils._get_available_device_type = lambda: "cpu"
torch._utils._get_device_module = lambda _: Cpu("cpu")

from torch.nn.attention.flex_attention import create_mask
from torchtitan.models.common.attention import FlexAttention
from torchtitan.train import main


def attention(q, k, v, *, block_mask, scale, enable_gqa, **_):
    mask = create_mask(block_mask.mask_mod, q.shape[0], 1, q.shape[2], k.shape[2], device="cpu")
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, enable_gqa=enable_gqa), None


FlexAttention._compiled_flex_attn = staticmethod(attention)
main()
