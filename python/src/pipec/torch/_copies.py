"""Recomputation and copies to the host: what is kept for the backward of a unit."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import weakref
from typing import Any, Callable, ContextManager, Iterator, NamedTuple, Sequence

import torch

NOTHING: ContextManager[Any] = contextlib.nullcontext()
"""A context without an effect. (To make one for each use takes longer than to enter it.)"""

# ---------------------------------------------------------------- recomputation

class Stash:
    """What the forward of a unit keeps for its recomputation."""

    def __init__(self, inputs: Any, device: torch.device):
        """`inputs` are those from other stages."""
        self.inputs = inputs
        self._devices = [device] if device.type == "cuda" else []
        self._states = torch.get_rng_state(), [torch.cuda.get_rng_state(device) for device in self._devices]

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Within it, random numbers are those after the stash was made."""
        with torch.random.fork_rng(self._devices):
            cpu, others = self._states
            torch.set_rng_state(cpu)
            for device, state in zip(self._devices, others):
                torch.cuda.set_rng_state(state, device)
            yield


# ---------------------------------------------------------------- copies

def storage_of(tensor: torch.Tensor) -> int | None:
    """A number for the memory of a tensor, while it lives; None for a tensor that has
    none of its own, such as a sparse one or a DTensor."""
    if tensor.layout is not torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    return int(tensor.untyped_storage()._cdata)


class Made(NamedTuple):
    """Where tensors were made."""

    stream: torch.cuda.Stream
    event: torch.cuda.Event | torch.Event | None
    """After that they are there; None for tensors of a transfer, which is waited for."""


class Streams:
    """The streams of a device besides that of the caller; none on the CPU, where a step
    ends before the next one."""

    def __init__(self, device: torch.device, stages: int = 0):
        """`stages` is the number of streams on which stages run."""
        self.device = device
        make: Any = torch.cuda.Stream
        self.stages: list[torch.cuda.Stream] = [make(device) for _ in range(stages)] if device.type == "cuda" else []
        self.sends: torch.cuda.Stream | None = make(device) if self.stages else None
        """For the order of sends after the stages that make what they send."""
        self.out: torch.cuda.Stream | None = make(device) if device.type == "cuda" else None
        """For copies to the host."""
        self.back: torch.cuda.Stream | None = make(device) if device.type == "cuda" else None
        """For those from it."""

    def current(self) -> torch.cuda.Stream:
        return torch.cuda.current_stream(self.device)

    def begin(self) -> None:
        """Before a run: stages wait for what the caller has started."""
        for stream in self.stages:
            stream.wait_stream(self.current())

    def join(self) -> None:
        """What the current stream does from now on waits for the stages."""
        for stream in self.stages:
            self.current().wait_stream(stream)

    def on(self, number: int) -> ContextManager[Any]:
        """Within it, a stage of stream `number` runs; 0 is the stream of the caller."""
        if not self.stages or number == 0:
            return NOTHING
        context: ContextManager[Any] = torch.cuda.stream(self.stages[number - 1])
        return context

    def made(self) -> Made | None:
        """A mark for what the current stream makes before this call."""
        return Made(self.current(), self.current().record_event()) if self.stages else None

    def room(self) -> Made | None:
        """A mark for memory of the current stream that a transfer fills."""
        return Made(self.current(), None) if self.stages else None

    def use(self, tensors: Sequence[torch.Tensor], made: Made) -> None:
        """What the current stream does from now on waits for tensors. They may be freed
        before it has ended."""
        if made.stream == self.current():
            return
        if made.event is not None:
            self.current().wait_event(made.event)
        for tensor in tensors:
            tensor.record_stream(self.current())

    def posting(self, *sent: tuple[Sequence[torch.Tensor], Made | None], receives: bool = False) -> ContextManager[None]:
        """Within it, sends are posted that wait for their tensors, and for nothing else.
        What is received into memory of the current stream waits for it."""
        return NOTHING if self.sends is None else self._posting(self.sends, sent, receives)

    @contextlib.contextmanager
    def _posting(self, sends: torch.cuda.Stream, sent: Sequence[tuple[Sequence[torch.Tensor], Made | None]],
                 receives: bool) -> Iterator[None]:
        if receives:
            sends.wait_stream(self.current())
        with torch.cuda.stream(sends):
            for tensors, made in sent:
                if made is not None:
                    self.use(tensors, made)
            yield

    @contextlib.contextmanager
    def copying(self, side: torch.cuda.Stream | None, copies: Copies) -> Iterator[None]:
        """Within it, copies run on a side stream, after what the device does so far."""
        if side is None:
            yield
            return
        side.wait_stream(torch.cuda.current_stream(self.device))
        if copies.event is not None:
            side.wait_event(copies.event)
        with torch.cuda.stream(side):
            yield
        copies.event = side.record_event()


class Memory:
    """Memory that saved tensors share, on the device or on the host."""

    def __init__(self, storage: torch.UntypedStorage, copies: Copies):
        self.copies = copies
        self.saved: weakref.WeakSet[Saved] = weakref.WeakSet()
        """The tensors in it."""
        self._device, self._size = storage.device, storage.nbytes()
        self.on_device: torch.Tensor | None = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
        """Its bytes; None while they are on the host alone."""
        self._on_host: torch.Tensor | None = None

    def leave(self) -> None:
        """Copies it to the host."""
        assert self.on_device is not None
        for saved in self.saved:
            saved.check()
        pinned = self._device.type == "cuda"
        self._on_host = torch.empty(self._size, dtype=torch.uint8, pin_memory=pinned)
        self._on_host.copy_(self.on_device, non_blocking=pinned)

    def drop(self) -> None:
        """Ends its use on the device."""
        self.on_device = None
        for saved in self.saved:
            saved.tensor = None

    def allocate(self) -> None:
        """Takes memory on the device again."""
        self.on_device = torch.empty(self._size, dtype=torch.uint8, device=self._device)

    def enter(self) -> None:
        """Copies it from the host."""
        assert self.on_device is not None and self._on_host is not None
        self.on_device.copy_(self._on_host, non_blocking=self._device.type == "cuda")
        self._on_host = None  # (Pinned memory is not used again before the copy has ended.)


class Saved:
    """A tensor that is kept, which may be on the host."""

    def __init__(self, tensor: torch.Tensor, memory: Memory | None):
        """Without `memory` it stays where it is."""
        self.tensor: torch.Tensor | None = tensor
        self._version = tensor._version
        self._memory = memory
        if memory is not None:
            self._form = tensor.dtype, tensor.storage_offset(), tensor.shape, tensor.stride()
            self._conjugate, self._negative = tensor.is_conj(), tensor.is_neg()
            memory.saved.add(self)

    def check(self) -> None:
        """Raises RuntimeError when the tensor has changed, as autograd does."""
        if self.tensor is not None and self.tensor._version != self._version:
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                               f"operation: a tensor of shape {list(self.tensor.shape)} is at version {self.tensor._version}, "
                               f"and was kept for the backward at version {self._version}")

    def get(self) -> torch.Tensor:
        """The tensor, on the device."""
        self.check()
        if self._memory is not None:
            self._memory.copies.arrived()
        if self.tensor is not None:
            return self.tensor
        assert self._memory is not None
        if self._memory.on_device is None:
            raise RuntimeError("a tensor that is needed is on the host")
        dtype, offset, shape, stride = self._form
        bytes_on_device = self._memory.on_device
        tensor = torch.empty(0, dtype=dtype, device=bytes_on_device.device)
        tensor.set_(bytes_on_device.untyped_storage(), offset, shape, stride)
        tensor = tensor.conj() if self._conjugate else tensor
        return tensor._neg_view() if self._negative else tensor


class Copies:
    """What is kept for one unit, where any of it is copied to the host."""

    def __init__(self, streams: Streams):
        self._streams = streams
        self._memories: weakref.WeakSet[Memory] = weakref.WeakSet()
        # By the number of its memory on the device.
        self._known: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()
        self.event: torch.cuda.Event | torch.Event | None = None
        """The end of the copies that started last."""

    def recording(self, stays: Callable[[int], bool]) -> ContextManager[Any]:
        """Within it, what autograd saves is kept here, but for memory that stays on the
        device whatever happens to the unit."""
        def pack(tensor: torch.Tensor) -> Saved:
            number = storage_of(tensor)
            return Saved(tensor, None) if number is None or stays(number) else self.keep(tensor)

        return torch.autograd.graph.saved_tensors_hooks(pack, Saved.get)

    def keep(self, tensor: torch.Tensor) -> Saved:
        """Keeps a tensor, with those that share its memory."""
        number = storage_of(tensor)
        if number is None or tensor.device.type != self._streams.device.type:
            return Saved(tensor, None)
        memory = self._known.get(number)
        if memory is None:
            memory = self._known[number] = Memory(tensor.untyped_storage(), self)
            self._memories.add(memory)
        return Saved(tensor, memory)

    def leave(self) -> None:
        """Starts the copies to the host."""
        with self._streams.copying(self._streams.out, self):
            for memory in self._memories:
                memory.leave()

    def drop(self) -> None:
        """Waits for the copies to the host, and ends the use of the memory on the device."""
        self.arrived()
        self._known.clear()
        for memory in self._memories:
            memory.drop()

    def enter(self) -> None:
        """Takes memory on the device, and starts the copies from the host."""
        for memory in self._memories:
            memory.allocate()
        with self._streams.copying(self._streams.back, self):
            for memory in self._memories:
                memory.enter()
        for memory in self._memories:
            assert memory.on_device is not None
            self._known[int(memory.on_device.untyped_storage()._cdata)] = memory

    def arrived(self) -> None:
        """What the device does from now on waits for the copies that started last."""
        if self.event is not None:
            torch.cuda.current_stream(self._streams.device).wait_event(self.event)


# ---------------------------------------------------------------- inputs and outputs

class _Instead(torch.autograd.Function):
    """Another tensor in the place of one, which gets the other's gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, other: Sequence[torch.Tensor]) -> torch.Tensor:
        return other[0]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients[0], None


def instead(tensor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`other`, a tensor of the same shape, as a function of `tensor` whose derivative
    is 1."""
    function: Any = _Instead
    result: torch.Tensor = function.apply(tensor, [other])
    return result


def hollow(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of this type and shape with memory for one element."""
    storage = tensor.new_empty(1).untyped_storage()
    result: torch.Tensor = tensor.new_empty(0).set_(storage, 0, tensor.shape, (0,) * tensor.dim())
    return result
