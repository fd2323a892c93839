"""Schedules with recomputations, copies to the host and optimizer steps at random
places, and a model that counts what is alive for backwards."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

import pipec.torch
from pipec.torch import _copies

SIZE, LENGTH, SEQUENCES = 4, 8, 2
MARK = 7919
"""How many numbers the tensor has that is saved once for each unit of a stage."""


# ---------------------------------------------------------------- schedules

def with_extras(plan, random, remade=0.5, copied=0.5, updates=True):
    """Step IR of a schedule of computes, in which a unit has an `R` with one
    probability, and copies after each of its steps with another."""
    header, lists = [], []
    for line in plan.ir.splitlines():
        text = line.strip()
        if re.match(r"rank \d+ \{", text):
            lists.append([])
        elif not lists and re.match(r"pipec-steps|schedule|map|tie|graph|connect", text):
            header.append(line.replace("pipec-steps 1", "pipec-steps 2"))
        elif lists and text != "}" and not text.endswith(":"):
            lists[-1].append(text)
    return "\n".join(header + [line for rank, lines in enumerate(lists)
                               for line in (f"  rank {rank} {{", *_placed(lines, random, remade, copied, updates), "  }")] + ["}", ""])


def _placed(lines, random, remade, copied, updates):
    # By unit, the lines of its steps; what is new has a place between two lines, in order.
    units, last, new = {}, {}, []
    for number, line in enumerate(lines):
        for kind, stage, unit in re.findall(r"\b([FBIW]) s(\d+) (m[\d.]+)", line):
            units.setdefault((stage, unit), []).append(number)
            last[stage] = number

    def places(count, low, high):
        """Places after the line `low` and before the line `high`, ascending."""
        return sorted(random.uniform(low + 0.01, high - 0.01) for _ in range(count))

    for (stage, unit), uses in units.items():
        if random.random() < remade:
            place, = places(1, uses[0], uses[1])
            new.append((place, f"R s{stage} {unit}"))
            uses = [uses[0], place, *uses[1:]]
        for low, high in zip(uses, uses[1:]):
            if random.random() < copied:
                for place, kind in zip(places(3, low, high), ("OFFLOAD", "WAIT_OFFLOAD", "RELOAD")):
                    new.append((place, f"{kind} s{stage} {unit}"))
    if updates:
        new += [(*places(1, number, len(lines) + 1), f"UPDATE s{stage}") for stage, number in last.items()]
    return [line for _, line in sorted([*enumerate(lines), *new], key=lambda entry: entry[0])]


# ---------------------------------------------------------------- the model

class Live:
    """The units whose mark is on the device."""

    marks = []
    peak = 0

    @staticmethod
    def now():
        Live.marks = [mark for mark in Live.marks if not mark.expired()]
        return len(Live.marks)

    @staticmethod
    def add(tensor):
        Live.marks.append(StorageWeakRef(tensor.untyped_storage()))
        Live.peak = max(Live.peak, Live.now())


class _Mark(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        mark = value.sum().expand(MARK).clone()
        Live.add(mark)
        ctx.save_for_backward(mark, mark[1:])
        ctx.sum = float(mark[0])
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        mark, part = ctx.saved_tensors
        right = mark.shape == (MARK,) and bool((mark == ctx.sum).all()) and part.data_ptr() == mark.data_ptr() + 8
        return gradient if right else gradient * float("nan")


class Stage(nn.Module):
    """One of `stages`, with dropout. It saves a mark, and a part of it. Its inputs are
    added; with `places`, the places of tokens are a second output of all but the last."""

    def __init__(self, index, stages, places=False):
        super().__init__()
        self.first, self.last, self.places = index == 0, index == stages - 1, places
        self.before, self.after, self.drop = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE), nn.Dropout(0.25)
        self.register_buffer("scale", torch.full((SIZE,), 1.5))
        if index in (0, stages - 1):
            self.tied_parameters = [self.after.weight]

    def forward(self, x, *others):
        places = None
        if self.places:
            places, = others or (torch.arange(x.shape[-2]).expand(x.shape[:-1]),)
            others = places.unsqueeze(-1) * 0.01,
        x = self.before(sum(others, x)).sin() * self.scale
        seen = pipec.torch.context().extend(x)
        x = self.drop(x + seen.mean(-2, keepdim=True))
        if torch.is_grad_enabled():  # or nothing is saved
            x = _Mark.apply(x)
        x = self.after(x).tanh()
        return (x, places) if self.places and not self.last else x


def make_stages(stages, places=False):
    torch.manual_seed(stages)
    made = nn.ModuleList(Stage(index, stages, places).double() for index in range(stages))
    made[-1].after.load_state_dict(made[0].after.state_dict())  # which may be tied
    return made


def make_batch(microbatches):
    torch.manual_seed(microbatches)
    shape = microbatches * SEQUENCES, LENGTH, SIZE
    return torch.randn(shape, dtype=torch.float64), torch.randn(shape, dtype=torch.float64)


def loss_function(result, target):
    return (result - target).square().sum()


# ---------------------------------------------------------------- counting

_allocate = _copies.Memory.allocate


def _counted(memory):
    _allocate(memory)
    if memory.on_device.numel() == MARK * 8:
        Live.add(memory.on_device)


_copies.Memory.allocate = _counted
