"""A small transformer on slices of sequences: its attention takes keys and values of
earlier slices from the context of its stage."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import gc
import weakref

import torch
from torch import nn

import pipec.torch

VOCABULARY, LENGTH, SEQUENCES, SIZE, HEADS = 11, 12, 2, 8, 2


class Held:
    """What autograd saves for the backward of a unit on a stage."""

    live = weakref.WeakSet()
    peak = 0

    def __init__(self, tensor):
        self.tensor = tensor
        Held.live.add(self)
        Held.peak = max(Held.peak, len(Held.live))


class Attention(nn.Module):
    def __init__(self, context=pipec.torch.context):
        super().__init__()
        self.project, self.join, self.context = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE), context

    def forward(self, x):
        q, k, v = self.project(x).unflatten(-1, (HEADS, -1)).transpose(1, 2).chunk(3, -1)
        k, v = self.context().extend(k, v)
        tokens, seen = q.shape[-2], k.shape[-2]
        mask = torch.ones(tokens, seen, dtype=torch.bool).tril(seen - tokens)
        return self.join(nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))


class Stage(nn.Module):
    """One of `stages`, with two layers of attention. The first takes tokens and their
    positions."""

    def __init__(self, index, stages):
        super().__init__()
        self.first, self.last = index == 0, index == stages - 1
        if self.first:
            self.tokens, self.places = nn.Embedding(VOCABULARY, SIZE), nn.Embedding(LENGTH, SIZE)
        self.norms = nn.ModuleList(nn.LayerNorm(SIZE) for _ in range(2))
        self.layers = nn.ModuleList(Attention() for _ in range(2))
        if self.last:
            self.logits = nn.Linear(SIZE, VOCABULARY)

    def forward(self, x, positions=None):
        if self.first:
            x = self.tokens(x) + self.places(positions)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        with torch.autograd.graph.saved_tensors_hooks(Held, lambda held: held.tensor):
            x = x.sin()  # one tensor is saved
        return self.logits(x) if self.last else x.clone()


def make_stages(stages):
    torch.manual_seed(stages)
    return nn.ModuleList(Stage(index, stages).double() for index in range(stages))


def make_batch(microbatches):
    """Tokens, their positions, and the tokens to be predicted."""
    torch.manual_seed(microbatches)
    shape = microbatches * SEQUENCES, LENGTH
    return (torch.randint(VOCABULARY, shape), torch.arange(LENGTH).expand(shape), torch.randint(VOCABULARY, shape))


def loss_function(logits, target):
    """The sum over the tokens of a slice is a part of the mean over those of the sequence."""
    return nn.functional.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="sum") / (SEQUENCES * LENGTH)


def reference(stages, microbatches):
    """The losses of whole sequences by micro-batch, the outputs, and the gradients by stage:
    those of the mean over micro-batches."""
    model = make_stages(stages)
    losses, outputs = [], []
    for x, positions, target in zip(*(whole.chunk(microbatches) for whole in make_batch(microbatches))):
        for stage in model:
            x = stage(x, positions) if stage.first else stage(x)
        losses.append(loss_function(x, target))
        outputs.append(x.detach())
    (sum(losses) / microbatches).backward()
    return torch.stack(losses).detach(), torch.cat(outputs), [[p.grad for p in stage.parameters()] for stage in model]


def difference(ours, theirs):
    """The largest difference relative to the largest number."""
    if ours is None or ours.shape != theirs.shape:
        return float("inf")
    return float((ours - theirs).abs().max() / theirs.abs().max())


def forget():
    """Before a step, whose peak is counted."""
    gc.collect()
    Held.live.clear()
    Held.peak = 0
