"""Costs of the layers of a model, as PyTorch runs them in one process."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import resource
import statistics
import time
import weakref
from collections import deque
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

import torch
from torch.distributed.pipelining._backward import stage_backward_input, stage_backward_weight
from torch.utils import _pytree

Tensors = tuple[torch.Tensor, ...]

WARM_UPS = 2
"""The runs of a layer before those that count."""
ALIVE = 2
"""The micro-batches between their forward and their backward."""
NOT_MEASURED = ["p2p and occupancy: one process sends nothing; with gloo, transfers also take time of the processors that compute",
                "memory during steps: only what is kept between them"]
MANY_FAULTS = 1000
"""The page faults of a micro-batch that are worth a word."""


class MeasureError(RuntimeError):
    """A layer that could not be run."""


class _Saved:
    """A tensor that autograd saved for the backward."""

    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor

    def __hash__(self) -> int:
        return id(self)


class _Sizes(NamedTuple):
    """What a layer keeps, in bytes."""

    activations: int
    """From the forward to the backward, without its parameters and without what the
    layer before it keeps."""
    after_input: int
    """From the `I` of a split backward to its `W`."""
    output: int
    """The tensors that it gives to the next layer."""


def _no_times() -> dict[str, list[float]]:
    return {figure: [] for figure in "FBIW"}


@dataclasses.dataclass
class _Kind:
    """Layers of equal structure with inputs of equal shapes."""

    members: list[int]
    letter: str = "?"
    times: dict[str, list[float]] = dataclasses.field(default_factory=_no_times)
    sizes: list[_Sizes] = dataclasses.field(default_factory=list)
    parameters: int = 0
    gradients: int = 0
    optimizer: int = 0


def measure(layers: Iterable[torch.nn.Module], sample: Any, *, device: str | torch.device | None = None, repeats: int = 10,
            optimizer: Callable[..., torch.optim.Optimizer] | None = torch.optim.AdamW) -> dict[str, Any]:
    """Measures the layers of a model for one micro-batch: a cost profile with `layers`,
    in milliseconds and bytes, which every command takes as `--cost-profile`.

    `layers` are run one after the other, a tuple that one returns as the arguments of
    the next; `sample` is the input of the first, a tensor or a tuple. Layers of the same
    structure are one kind, of which up to three are measured. These run as a stage of a
    pipeline does, `repeats` micro-batches with each form of the backward: forward, whole
    backward, and the two halves of a split backward as PyTorch's pipelining runs them.
    `device` is where they run, by default where they are. `optimizer` is made for the
    parameters of a layer to learn the size of its state; None if there is none.

    Raises MeasureError, with the layer, if one fails, ValueError without layers, and
    TypeError for what is not a module.
    """
    if isinstance(layers, torch.nn.Module) and not isinstance(layers, Iterable):
        raise TypeError(f"the layers are a {type(layers).__name__}, not a list of modules")
    modules = list(layers)
    for index, module in enumerate(modules):
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"layer {index} is a {type(module).__name__}, not a torch.nn.Module")
    if not modules:
        raise ValueError("there are no layers")
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}, and not positive")
    run = _Run(modules, torch.device(device) if device is not None else _device_of(modules))
    inputs, kinds = run.kinds(sample if isinstance(sample, tuple) else (sample,))
    chosen = {index: kind for kind in kinds
              for index in (kind.members[0], kind.members[len(kind.members) // 2], kind.members[-1])}
    run.time(sorted(chosen), inputs, repeats, {index: kind.times for index, kind in chosen.items()})
    for kind in kinds:
        _count_parameters(kind, modules[kind.members[0]], optimizer)
    kept = list(run.sizes(inputs))
    for index, sizes in enumerate(kept):
        next(kind for kind in kinds if index in kind.members).sizes.append(sizes)
    _name(kinds, len(modules))
    # What the last layer makes is not sent to another stage.
    sent = max((sizes.output for sizes in kept[:-1]), default=0)
    profile = _profile(kinds, len(modules), run.device, repeats, sent)
    profile["measured"].update(ties=_ties(modules), skips=_skips(inputs))
    if run.device.type == "cpu" and run.faults >= MANY_FAULTS:
        profile["measured"]["left_out"].append(
            f"page faults of the job: these layers had {run.faults} in a micro-batch, since memory went back to the system; "
            "MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ keep it")
    return profile


def _device_of(modules: Sequence[torch.nn.Module]) -> torch.device:
    return next((value.device for module in modules for value in module.parameters()), torch.device("cpu"))


def _signature(module: torch.nn.Module, inputs: Sequence[Any]) -> Any:
    """Equal for layers that do equal work."""
    values = tuple((name, value.shape, value.dtype, getattr(value, "requires_grad", False))
                   for values in (module.named_parameters(), module.named_buffers()) for name, value in values)
    shapes = tuple((value.shape, value.dtype) if isinstance(value, torch.Tensor) else repr(value) for value in inputs)
    return type(module), repr(module), values, shapes


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _roots(outputs: Sequence[Any]) -> list[torch.Tensor]:
    """The outputs that a backward starts from. PyTorch detaches them in place, which
    views do not allow."""
    return [value.clone() if value._is_view() else value for value in outputs
            if isinstance(value, torch.Tensor) and value.requires_grad]


def _storage(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def _bytes(tensors: Iterable[torch.Tensor]) -> dict[int, int]:
    """The storages of tensors, by address, with their sizes."""
    return dict(_storage(tensor) for tensor in tensors)


class _Ran(NamedTuple):
    """A forward of a layer that has run: the inputs whose gradients are wanted, and the
    outputs that the backward starts from."""

    layer: int
    wanted: list[torch.Tensor]
    roots: list[torch.Tensor]


class _Run:
    """The layers on their device."""

    def __init__(self, modules: Sequence[torch.nn.Module], device: torch.device):
        self._modules, self.device = modules, device
        self.faults = 0
        """The page faults of a micro-batch."""
        for module in modules:
            module.to(device)

    def _call(self, index: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return _tuple(self._modules[index](*inputs))
        except Exception as error:
            raise MeasureError(f"layer {index}, {type(self._modules[index]).__name__}: {error}") from error

    def _fresh(self, index: int, inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[torch.Tensor]]:
        """Inputs of their own for one run, and those whose gradients are wanted. As a
        first stage, the first layer passes none back."""
        fresh = tuple(value.detach() if isinstance(value, torch.Tensor) else value for value in inputs)
        wanted = [value for value in fresh if index > 0 and isinstance(value, torch.Tensor)
                  and (value.is_floating_point() or value.is_complex())]
        for value in wanted:
            value.requires_grad_()
        return fresh, wanted

    def kinds(self, sample: tuple[Any, ...]) -> tuple[list[tuple[Any, ...]], list[_Kind]]:
        """Runs all layers once: the inputs of each, and the kinds in the order of their
        first layers."""
        inputs, kinds = [], dict[Any, _Kind]()
        value = tuple(one.to(self.device) if isinstance(one, torch.Tensor) else one for one in sample)
        for index, module in enumerate(self._modules):
            inputs.append(value)
            # The first layer passes no gradient back, and so is a kind of its own.
            kinds.setdefault((_signature(module, value), index == 0), _Kind([])).members.append(index)
            with torch.no_grad():
                value = self._call(index, value)
        return inputs, list(kinds.values())

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _timed(self, times: list[float], work: Callable[[], Any]) -> Any:
        """Runs `work` and records how long it takes, in milliseconds."""
        begin = self._now()
        result = work()
        times.append((self._now() - begin) * 1000)
        return result

    def time(self, chosen: Sequence[int], inputs: Sequence[tuple[Any, ...]], repeats: int,
             times: Mapping[int, dict[str, list[float]]]) -> None:
        """Adds the times of `repeats` micro-batches with either form of the backward, as a
        stage of these layers runs them in 1F1B: forwards in order and backwards in reverse,
        `ALIVE` micro-batches at once, whose gradients are added. A layer that runs on its own
        finds its weights and activations in caches."""
        alive = deque[tuple[bool, Any, list[_Ran]]]()
        faults: list[int] = []
        for turn in range(2 * (repeats + WARM_UPS)):
            into = times if turn >= 2 * WARM_UPS else {index: _no_times() for index in chosen}
            begin = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            alive.append((turn % 2 == 1, into, [self._forward(index, inputs[index], into[index]) for index in chosen]))
            if len(alive) == ALIVE:
                self._backward(*alive.popleft())
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begin)
        while alive:
            self._backward(*alive.popleft())
        self.faults = round(statistics.mean(faults[2 * WARM_UPS:]))
        for index in chosen:
            self._modules[index].zero_grad(set_to_none=True)

    def _forward(self, index: int, inputs: tuple[Any, ...], into: dict[str, list[float]]) -> _Ran:
        # The layer before has just made the inputs.
        inputs = tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs)
        fresh, wanted = self._fresh(index, inputs)
        outputs = self._timed(into["F"], lambda: self._call(index, fresh))
        return _Ran(index, wanted, _roots(outputs))

    def _backward(self, split: bool, into: Mapping[int, dict[str, list[float]]], ran: list[_Ran]) -> None:
        """Whole or split, of what the forwards of a micro-batch have left."""
        halves: list[tuple[_Ran, Any]] = []
        while ran:
            one = ran.pop()
            times = into[one.layer]
            if not one.roots:
                for figure in "IW" if split else "B":
                    times[figure].append(0)
                continue
            gradients = [torch.ones_like(root) for root in one.roots]
            if not split:
                self._timed(times["B"], lambda: torch.autograd.backward(one.roots, gradients))
            elif one.wanted:
                halves.append((one, self._timed(times["I"], lambda: self._input_half(one.layer, one.roots, gradients, one.wanted))))
            else:
                times["I"].append(0)
                halves.append((one, gradients))
            del one, gradients
        while halves:
            one, rest = halves.pop(0)
            if one.wanted:
                trained = [value for value in self._modules[one.layer].parameters() if value.requires_grad]
                self._timed(into[one.layer]["W"], lambda: stage_backward_weight(iter(trained), rest))
            else:
                self._timed(into[one.layer]["W"], lambda: torch.autograd.backward(one.roots, rest))
            del one, rest

    def _input_half(self, index: int, roots: list[torch.Tensor], gradients: list[torch.Tensor],
                    wanted: list[torch.Tensor]) -> Any:
        return stage_backward_input(roots, gradients, wanted, self._modules[index].parameters())[1]  # type: ignore[arg-type, unused-ignore]

    def _forget(self, index: int, wanted: Sequence[torch.Tensor]) -> None:
        for value in wanted:
            value.grad = None
        self._modules[index].zero_grad(set_to_none=True)

    def sizes(self, inputs: Sequence[tuple[Any, ...]]) -> Iterator[_Sizes]:
        """What each layer keeps. A storage that two neighbours save counts once."""
        known = _bytes(value.detach() for module in self._modules
                       for values in (module.parameters(), module.buffers()) for value in values)
        before: dict[int, int] = {}
        alive: Any = None
        for index, given in enumerate(inputs):
            kept = weakref.WeakSet[_Saved]()

            def pack(tensor: torch.Tensor) -> _Saved:
                saved = _Saved(tensor)
                kept.add(saved)
                return saved

            fresh, wanted = self._fresh(index, given)
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
                outputs = self._call(index, fresh)
            tensors = [saved.tensor for saved in kept]
            own = {place: size for place, size in _bytes(tensors).items() if place not in known}
            activations = sum(size for place, size in own.items() if place not in before)
            left = activations
            if wanted and (roots := _roots(outputs)):
                groups = self._input_half(index, roots, [torch.ones_like(root) for root in roots], wanted)
                rest = _bytes(saved.tensor for saved in kept)
                rest |= _bytes(value for value in _pytree.tree_leaves(groups) if isinstance(value, torch.Tensor))
                left = sum(size for place, size in rest.items() if place not in known and place not in before)
                del groups
            output = sum(_bytes(value for value in outputs if isinstance(value, torch.Tensor)).values())
            self._forget(index, wanted)
            # What a layer keeps stays until the next one has run, so that no address is
            # used again.
            before, alive = own, (outputs, fresh, tensors)
            yield _Sizes(activations, left, output)
        del alive


def _count_parameters(kind: _Kind, module: torch.nn.Module, optimizer: Callable[..., torch.optim.Optimizer] | None) -> None:
    parameters = list(module.parameters())
    kind.parameters = sum(value.nbytes for value in parameters)
    trained = [value for value in parameters if value.requires_grad]
    kind.gradients = sum(value.nbytes for value in trained)
    if optimizer is None or not trained:
        return
    copies = [torch.nn.Parameter(torch.zeros_like(value)) for value in trained]
    for value in copies:
        value.grad = torch.zeros_like(value)
    made = optimizer(copies)
    made.step()
    kind.optimizer = sum(value.nbytes for state in made.state.values() for value in state.values()
                         if isinstance(value, torch.Tensor))


def _ties(modules: Sequence[torch.nn.Module]) -> list[list[int]]:
    """The groups of layers that share a parameter."""
    users: dict[int, list[int]] = {}
    for index, module in enumerate(modules):
        for value in module.parameters():
            users.setdefault(id(value), []).append(index)
    return sorted({tuple(group): list(group) for group in users.values() if len(group) > 1}.values())


def _skips(inputs: Sequence[tuple[Any, ...]]) -> list[dict[str, int]]:
    """Outputs that layers in between hand on unchanged: the layer that makes one, the last
    one that gets it, and its size."""
    skips = []
    for index in range(1, len(inputs)):
        for value in inputs[index]:
            if not isinstance(value, torch.Tensor) or any(value is earlier for earlier in inputs[index - 1]):
                continue
            last = index
            while last + 1 < len(inputs) and len(inputs[last + 1]) > 1 and any(value is later for later in inputs[last + 1]):
                last += 1
            if last != index:
                skips.append({"from": index - 1, "to": last, "bytes": _storage(value)[1]})
    return skips


def _name(kinds: list[_Kind], layers: int) -> None:
    """Gives letters: `t` to the most frequent kind, `E` to one that is only the first
    layer, `L` to one that is only the last."""
    free = iter("abcdfghijklnopqrsuvwxyzABCDFGHIJKMNOPQRSTUVWXYZ")
    most = max(kinds, key=lambda kind: len(kind.members))
    for kind in kinds:
        if kind is most:
            kind.letter = "t"
        elif kind.members == [0]:
            kind.letter = "E"
        elif kind.members == [layers - 1]:
            kind.letter = "L"
        elif (letter := next(free, None)) is not None:
            kind.letter = letter
        else:
            raise ValueError(f"there are {len(kinds)} kinds of layers, more than letters")


def _rounded(value: float) -> float:
    """With six digits."""
    return float(f"{value:.6g}")


def _median(values: Sequence[float]) -> float:
    return _rounded(statistics.median(values))


def _mean_size(kind: _Kind, size: str) -> int:
    """Rounded up, so that the sum over the layers is none too small."""
    total: int = sum(getattr(sizes, size) for sizes in kind.sizes)
    return -(-total // len(kind.sizes))


def _sequence(kinds: Sequence[_Kind], layers: int) -> str:
    letters = [next(kind.letter for kind in kinds if index in kind.members) for index in range(layers)]
    runs: list[tuple[str, int]] = []
    for letter in letters:
        if runs and runs[-1][0] == letter:
            runs[-1] = letter, runs[-1][1] + 1
        else:
            runs.append((letter, 1))
    return ",".join(letter if number == 1 else f"{letter}*{number}" for letter, number in runs)


def _profile(kinds: Sequence[_Kind], layers: int, device: torch.device, repeats: int, sent: int) -> dict[str, Any]:
    def spread(times: list[float]) -> list[float]:
        if len(times) == 1:
            return [_rounded(times[0])] * 2
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        return [_rounded(low), _rounded(high)]

    def of_kind(kind: _Kind) -> dict[str, Any]:
        return {**{figure: _median(times) for figure, times in kind.times.items()},
                "activations": _mean_size(kind, "activations"),
                "parameters": kind.parameters + kind.gradients + kind.optimizer}

    decoder = next(kind for kind in kinds if kind.letter == "t")
    kept, left = _mean_size(decoder, "activations"), _mean_size(decoder, "after_input")
    return {
        "per": "layer",
        "sequence": _sequence(kinds, layers),
        "layers": {kind.letter: of_kind(kind) for kind in kinds},
        "memory": {"F": kept, "I": left - kept, "parameters": decoder.parameters + decoder.gradients + decoder.optimizer,
                   # A forward that is run again keeps the input of its stage.
                   "stash": sent, "receive": sent},
        "measured": {
            "unit": "ms and bytes",
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "torch": torch.__version__,
            "repeats": repeats,
            "kinds": {kind.letter: {
                "layers": kind.members,
                "spread": {figure: spread(times) for figure, times in kind.times.items()},
                "parameters": kind.parameters, "gradients": kind.gradients, "optimizer": kind.optimizer,
                "output": _mean_size(kind, "output"),
            } for kind in kinds},
            "left_out": list(NOT_MEASURED),
        },
    }
