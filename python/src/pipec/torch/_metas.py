"""The shapes of what stages exchange: what they are, and how ranks tell each other."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import NamedTuple, Sequence

import torch

Tensors = tuple[torch.Tensor, ...]


class Meta(NamedTuple):
    """A tensor that stages exchange."""

    shape: torch.Size
    dtype: torch.dtype

    @staticmethod
    def of(tensors: Sequence[torch.Tensor]) -> list[Meta]:
        return [Meta(tensor.shape, tensor.dtype) for tensor in tensors]

    def is_of(self, tensor: torch.Tensor) -> bool:
        return tensor.shape == self.shape and tensor.dtype == self.dtype

    def empty(self, device: torch.device) -> torch.Tensor:
        return torch.empty(self.shape, dtype=self.dtype, device=device)


def has_gradient(value: torch.Tensor | Meta) -> bool:
    """Whether a tensor of this type can have a gradient."""
    return value.dtype.is_floating_point or value.dtype.is_complex


def unit_text(unit: int, slices: int) -> str:
    """`m3`, or with slices `m3.1`."""
    return f"m{unit}" if slices == 1 else f"m{unit // slices}.{unit % slices}"


def meta_text(metas: Sequence[Meta]) -> str:
    return ", ".join(f"{str(meta.dtype).removeprefix('torch.')}{list(meta.shape)}" for meta in metas) or "no tensor"


# ---------------------------------------------------------------- headers

MOST, DIMENSIONS = 16, 8
"""The most tensors that a header describes, and the most dimensions of each."""
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
          torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2]
SIZE = 1 + MOST * (2 + DIMENSIONS)
"""The numbers of a header: how many tensors there are, and for each its type, the number
of its dimensions, and these."""


HEADER = Meta(torch.Size([SIZE]), torch.int64)


def header_of(metas: Sequence[Meta], device: torch.device) -> torch.Tensor:
    """The header that goes before tensors. Raises ValueError for those that it cannot
    describe."""
    numbers = [len(metas)]
    for meta in metas:
        if len(metas) > MOST or len(meta.shape) > DIMENSIONS or meta.dtype not in DTYPES:
            raise ValueError(f"{meta_text(metas)}: a stage gives at most {MOST} tensors of at most {DIMENSIONS} dimensions, and of a type "
                             "among " + ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES))
        numbers += [DTYPES.index(meta.dtype), len(meta.shape), *meta.shape, *[0] * (DIMENSIONS - len(meta.shape))]
    return torch.tensor(numbers + [0] * (SIZE - len(numbers)), device=device)


def metas_in(header: torch.Tensor) -> list[Meta]:
    """What the header says that follows."""
    count, *numbers = header.tolist()
    width = 2 + DIMENSIONS
    rows = [numbers[at:at + width] for at in range(0, count * width, width)]
    return [Meta(torch.Size(sizes[:dims]), DTYPES[dtype]) for dtype, dims, *sizes in rows]
