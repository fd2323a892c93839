"""A small transformer cut into stages, its data, and what one process without a
pipeline makes of them.

The first stage embeds tokens, each stage has a block of attention and a
feed-forward network, the last one puts out logits for the loss. Everything is
in double precision, so that "equal" can be asked to a relative TOLERANCE
whatever the order of summation.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import functools

import torch
from torch import nn

VOCABULARY = 11
LENGTH = 5  # tokens of a sequence
SEQUENCES = 2  # of a micro-batch
HEADS = 2
STEPS = 2
RATE = 0.5
TOLERANCE = 1e-10


def width(boundary, uneven):
    """Numbers a token has between stage `boundary` - 1 and the next one. Where
    they are uneven, a tensor that is taken for another one has the wrong size."""
    return 8 + 4 * (boundary % 2) if uneven else 8


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.before_attention = nn.LayerNorm(size)
        self.project = nn.Linear(size, 3 * size)
        self.join = nn.Linear(size, size)
        self.before_mlp = nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x):
        heads = self.project(self.before_attention(x)).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        seen = nn.functional.scaled_dot_product_attention(*heads.chunk(3, -1), is_causal=True)
        x = x + self.join(seen.transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class Stage(nn.Module):
    def __init__(self, index, stages, uneven):
        super().__init__()
        size = width(index, uneven)
        following = width(index + 1, uneven)
        self.first = index == 0
        self.last = index == stages - 1
        if self.first:
            self.tokens = nn.Embedding(VOCABULARY, size)
            self.places = nn.Parameter(torch.empty(LENGTH, size))
        self.block = Block(size)
        if self.last:
            self.norm = nn.LayerNorm(size)
            self.logits = nn.Linear(size, VOCABULARY)
        elif following != size:
            self.resize = nn.Linear(size, following)

    def forward(self, x):
        if self.first:
            x = self.tokens(x) + self.places
        x = self.block(x)
        if self.last:
            return self.logits(self.norm(x))
        # Split backwards detach outputs in place, which a view does not allow.
        return self.resize(x).clone() if hasattr(self, "resize") else x


def make_stage(index, stages, uneven=False):
    """A stage of the model of so many stages; always with the same numbers."""
    generator = torch.Generator().manual_seed(1000 * stages + index)
    stage = Stage(index, stages, uneven).double()
    with torch.no_grad():
        for parameter in stage.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise / parameter.shape[-1] ** 0.5)
    return stage


def make_data(microbatches, replica):
    """For each step a batch of tokens, and the tokens to be predicted."""
    generator = torch.Generator().manual_seed(1000 * microbatches + replica)
    shape = (microbatches * SEQUENCES, LENGTH)
    return [(torch.randint(VOCABULARY, shape, generator=generator), torch.randint(VOCABULARY, shape, generator=generator))
            for _ in range(STEPS)]


def loss_function(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, -2), target.flatten())


def update(parameters):
    """A step of SGD; it clears the gradients."""
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter -= RATE * parameter.grad
            parameter.grad = None


@functools.cache
def reference(stages, microbatches, replicas=1, uneven=False):
    """For each step the losses of each replica's micro-batches, and the
    gradients of each stage: the mean over replicas and micro-batches."""
    model = nn.ModuleList(make_stage(index, stages, uneven) for index in range(stages))
    data = [make_data(microbatches, replica) for replica in range(replicas)]
    result = []
    for step in range(STEPS):
        losses = []
        for replica in range(replicas):
            of_replica = []
            for x, target in zip(*(whole.chunk(microbatches) for whole in data[replica][step])):
                for stage in model:
                    x = stage(x)
                loss = loss_function(x, target)
                (loss / (microbatches * replicas)).backward()
                of_replica.append(loss.detach())
            losses.append(torch.stack(of_replica))
        result.append((losses, [[p.grad.clone() for p in stage.parameters()] for stage in model]))
        update(model.parameters())
    return result


def close(ours, theirs):
    """Whether no difference is larger than TOLERANCE, relative to the largest
    number; nothing is close to what is not a number."""
    if ours is None or ours.shape != theirs.shape:
        return False
    return bool((ours - theirs).abs().max() <= TOLERANCE * theirs.abs().max())
