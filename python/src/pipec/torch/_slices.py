"""What later slices of a sequence take from earlier ones, and the gradients that they
leave for it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator, Sequence

import torch
from torch.utils import _pytree


class _Piece:
    """A tensor of one slice, for later ones."""

    def __init__(self, own: torch.Tensor, again: bool):
        """`again`: the forward of the slice runs again, and then with gradients."""
        self.leaf = own.detach()
        """A leaf of the graphs of later slices, whose backwards leave gradients here."""
        if own.requires_grad or again and (own.is_floating_point() or own.is_complex()):
            self.leaf.requires_grad_()
        self.users: set[int] = set()
        """The later slices that use it and have not left their gradient."""
        self.done = False
        """Its slice has run its backward."""


class _OfPiece(torch.autograd.Function):
    """A tensor as it is, whose backward knows its piece and the slice that uses it."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, piece: _Piece, number: int) -> torch.Tensor:
        ctx.piece, ctx.number = piece, number
        return tensor.view_as(tensor)


class _Own(_OfPiece):
    """A tensor of a slice. Its backward adds the gradients of later slices."""

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        piece: _Piece = ctx.piece
        if piece.users:
            count = len(piece.users)
            raise RuntimeError(f"slice {ctx.number} runs its backward before {count} use{'s' * (count != 1)} by later slices")
        piece.done = True
        gradient = gradients[0]
        return gradient if piece.leaf.grad is None else gradient + piece.leaf.grad, None, None


class _Earlier(_OfPiece):
    """A leaf of an earlier slice. Its backward notes that the gradient has been left."""

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        ctx.piece.users.discard(ctx.number)
        return gradients[0], None, None


class Context:
    """What a stage keeps of a micro-batch from one slice to the next; `context` gives
    that of the forward that runs."""

    def __init__(self, slices: int):
        self.slices = slices
        """How many slices a micro-batch has."""
        self.slice = 0
        """The slice that runs, from 0."""
        self._next = 0
        # No gradients are recorded: the forward runs for its outputs alone.
        self._outputs_only = False
        # By place in the forward of the module, tensor, and slice.
        self._calls: list[list[list[_Piece]]] = []
        self._place = 0

    def __repr__(self) -> str:
        return f"<pipec.torch.Context: slice {self.slice} of {self.slices}>"

    def extend(self, *tensors: torch.Tensor, dim: int = -2) -> Any:
        """Tensors of this slice, such as keys and values, each joined along `dim` with
        those that earlier slices of the sequence gave at this place of the forward, the
        earliest first. Returns a tuple, or for one tensor that. The gradients of later
        slices are added in the backward of the slice that they belong to. Without slices,
        returns what it is given."""
        if self.slices == 1:
            return tensors if len(tensors) != 1 else tensors[0]
        if self._place == len(self._calls):
            if self.slice:
                raise RuntimeError(f"slice {self.slice} extends more often than slice 0, {self._place + 1} times")
            self._calls.append([[] for _ in tensors])
        call = self._calls[self._place]
        self._place += 1
        if len(tensors) != len(call):
            raise RuntimeError(f"slice {self.slice} extends {len(tensors)} tensors where slice 0 extends {len(call)}")
        joined = tuple([self._join(own, pieces, dim) for own, pieces in zip(tensors, call)])
        return joined if len(joined) != 1 else joined[0]

    def _join(self, own: torch.Tensor, pieces: list[_Piece], dim: int) -> torch.Tensor:
        earlier = []
        for number, piece in enumerate(pieces[:self.slice]):
            if piece.done:
                raise RuntimeError(f"slice {self.slice} runs its forward after the backward of slice {number}")
            if piece.leaf.requires_grad and torch.is_grad_enabled():
                piece.users.add(self.slice)
                earlier.append(_apply(_Earlier, piece.leaf, piece, self.slice))
            else:
                earlier.append(piece.leaf)
        if self.slice + 1 != self.slices:
            if self.slice == len(pieces):
                pieces.append(_Piece(own, self._outputs_only))
            if own.requires_grad and pieces[self.slice].leaf.requires_grad:
                own = _apply(_Own, own, pieces[self.slice], self.slice)
        return torch.cat([*earlier, own], dim) if earlier else own

    # What runs the stages calls the rest.

    @contextlib.contextmanager
    def running(self, number: int) -> Iterator[None]:
        """Within it, the forward of a slice runs on this thread. A forward that runs again
        takes what it took before, and later slices take what it gave the first time."""
        if number > self._next:
            raise RuntimeError(f"slice {number} runs its forward where slice {self._next} is due")
        self._next = max(self._next, number + 1)
        self.slice, self._place = number, 0
        self._outputs_only = not torch.is_grad_enabled()
        before = getattr(_local, "context", None)
        _local.context = self
        try:
            yield
        finally:
            _local.context = before
        if self._place != len(self._calls):
            raise RuntimeError(f"slice {number} extends {self._place} times, slice 0 {len(self._calls)} times")

    def leaves(self, number: int) -> list[torch.Tensor]:
        """The leaves of earlier slices in which the backward of a slice leaves gradients."""
        return [piece.leaf for call in self._calls for pieces in call for piece in pieces[:number] if number in piece.users]

    def leave(self, number: int) -> None:
        """The backward of a slice has run, also for what its outputs do not depend on."""
        for call in self._calls:
            for pieces in call:
                for piece in pieces[:number]:
                    piece.users.discard(number)
                for piece in pieces[number:number + 1]:
                    piece.done = True


def _apply(function: Any, *values: Any) -> torch.Tensor:
    result: torch.Tensor = function.apply(*values)
    return result


def leave_gradients(roots: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], leaves: Sequence[torch.Tensor]) -> None:
    """Leaves the gradients of earlier slices, and keeps the graph."""
    found = torch.autograd.grad(roots, leaves, gradients, retain_graph=True, allow_unused=True)
    for leaf, gradient in zip(leaves, found):
        if gradient is not None:
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


class _Local(threading.local):
    context: Context | None = None


_local = _Local()
_running = 0
"""How many steps with slices run in this process."""
_whole = Context(1)


def context() -> Context:
    """The context of the forward that runs: its `slice`, the number of `slices`, and
    `extend`. Where no slices run, it is that of whole sequences, so that a module also
    runs without an executor. Raises RuntimeError outside of the forward of a stage while
    a step with slices runs, such as in a forward that a checkpoint repeats."""
    if _local.context is not None:
        return _local.context
    if _running:
        raise RuntimeError("pipec.torch.context() is called outside of the forward of a stage")
    return _whole


@contextlib.contextmanager
def stepping(slices: int) -> Iterator[None]:
    """Within it, a step with so many slices runs."""
    global _running
    _running += slices > 1
    try:
        yield
    finally:
        _running -= slices > 1


class Slicing:
    """How the tensors of a micro-batch are cut into slices."""

    def __init__(self, slices: int, dim: int, lengths: Sequence[int] | None):
        self.slices, self.dim = slices, dim
        if lengths is not None and slices == 1:
            raise ValueError("slice_lengths has no effect on a schedule without slices")
        if lengths is not None and len(lengths) != slices:
            raise ValueError(f"slice_lengths has {len(lengths)} lengths, the schedule {slices} slices")
        if lengths is not None and min(lengths) < 1:
            raise ValueError(f"slice_lengths has a slice of length {min(lengths)}")
        self.lengths = None if lengths is None else list(lengths)

    def __repr__(self) -> str:
        return f"<{self.slices} slices of {self.lengths or 'equal'} lengths along dimension {self.dim}>"

    def cut(self, values: Sequence[Any], what: str) -> list[Any]:
        """By unit, the parts of values of micro-batches: each tensor in them is cut along
        the dimension, and everything else is given to each slice."""
        if self.slices == 1:
            return list(values)
        units = []
        for value in values:
            leaves, form = _pytree.tree_flatten(value)
            parts = [self._cut_one(leaf, what) if isinstance(leaf, torch.Tensor) else [leaf] * self.slices for leaf in leaves]
            units += [_pytree.tree_unflatten([part[k] for part in parts], form) for k in range(self.slices)]
        return units

    def _cut_one(self, tensor: torch.Tensor, what: str) -> Sequence[torch.Tensor]:
        if not -tensor.dim() <= self.dim < tensor.dim():
            raise ValueError(f"{what}: a tensor of shape {list(tensor.shape)} has no dimension {self.dim} to be cut into slices")
        length = tensor.shape[self.dim]
        if self.lengths is None:
            if length < self.slices:
                raise ValueError(f"{what}: a sequence of length {length} has fewer than {self.slices} slices")
            return torch.tensor_split(tensor, self.slices, self.dim)
        if sum(self.lengths) != length:
            raise ValueError(f"{what}: slice_lengths adds up to {sum(self.lengths)}, and the sequence has length {length}")
        return torch.split(tensor, self.lengths, self.dim)

    def join(self, results: Sequence[Any]) -> list[Any]:
        """By micro-batch, what the outputs of its slices are together."""
        if self.slices == 1:
            return list(results)
        return [_pytree.tree_map(self._join, *results[k:k + self.slices])
                for k in range(0, len(results), self.slices)]

    def _join(self, *parts: Any) -> Any:
        if not isinstance(parts[0], torch.Tensor):
            return parts[0]
        if parts[0].dim() == 0:
            return torch.stack(parts)
        return torch.cat(parts, self.dim if -parts[0].dim() <= self.dim < parts[0].dim() else 0)
