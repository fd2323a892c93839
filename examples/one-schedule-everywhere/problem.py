"""The training problem, the same for every program of this example.

A stage is `tanh(W x + b)` of WIDTH numbers, in double precision; the loss of a
micro-batch is the mean square of the error, that of a step the mean over its
micro-batches. Weights and data are fixed, and are written to a text file, one number
per line, which all programs read:

    stages microbatches                  (the first line)
    W by rows, then b                    for each stage
    inputs by rows, then targets         for each micro-batch

Gradients are written to one file per stage in the order of its weights.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math
import pathlib
from dataclasses import dataclass

WIDTH, BATCH = 6, 3
WEIGHTS = WIDTH * WIDTH + WIDTH
SAMPLE = BATCH * WIDTH


@dataclass
class Problem:
    stages: list[list[float]]
    inputs: list[list[float]]
    targets: list[list[float]]


def make(stages: int, microbatches: int) -> Problem:
    """A fixed problem of these sizes. Numbers are sines of different integers."""
    wave = lambda start, count: [math.sin(1.7 * (start + i)) for i in range(count)]
    return Problem(stages=[[0.6 * x for x in wave(1000 * s, WEIGHTS)] for s in range(stages)],
                   inputs=[wave(50_000 + 100 * k, SAMPLE) for k in range(microbatches)],
                   targets=[wave(90_000 + 100 * k, SAMPLE) for k in range(microbatches)])


def write(problem: Problem, path: str | pathlib.Path) -> None:
    numbers = [x for weights in problem.stages for x in weights]
    for sample in zip(problem.inputs, problem.targets):
        numbers += [x for part in sample for x in part]
    head = f"{len(problem.stages)} {len(problem.inputs)}"
    pathlib.Path(path).write_text("\n".join([head, *map(repr, numbers)]) + "\n", encoding="utf-8")


def read(path: str | pathlib.Path) -> Problem:
    head, *lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    stages, microbatches = map(int, head.split())
    numbers = iter(map(float, lines))
    take = lambda count: [next(numbers) for _ in range(count)]
    problem = Problem([take(WEIGHTS) for _ in range(stages)], [], [])
    for _ in range(microbatches):
        problem.inputs.append(take(SAMPLE))
        problem.targets.append(take(SAMPLE))
    return problem


def gradients(problem: Problem) -> list[list[float]]:
    """The gradients of each stage, without a pipeline and without a framework."""
    sums = [[0.0] * WEIGHTS for _ in problem.stages]
    for sample, target in zip(problem.inputs, problem.targets):
        for row in range(BATCH):
            part = slice(row * WIDTH, (row + 1) * WIDTH)
            values = [sample[part]]
            for weights in problem.stages:
                values.append([math.tanh(sum(weights[i * WIDTH + j] * values[-1][j] for j in range(WIDTH)) +
                                         weights[WIDTH * WIDTH + i]) for i in range(WIDTH)])
            scale = 2 / (SAMPLE * len(problem.inputs))
            outer = [scale * (y - t) for y, t in zip(values[-1], target[part])]
            for stage in reversed(range(len(problem.stages))):
                x, y, weights = values[stage], values[stage + 1], problem.stages[stage]
                inner = [g * (1 - v * v) for g, v in zip(outer, y)]
                for i in range(WIDTH):
                    for j in range(WIDTH):
                        sums[stage][i * WIDTH + j] += inner[i] * x[j]
                    sums[stage][WIDTH * WIDTH + i] += inner[i]
                outer = [sum(weights[i * WIDTH + j] * inner[i] for i in range(WIDTH)) for j in range(WIDTH)]
    return sums


def write_gradients(folder: str | pathlib.Path, stage: int, numbers: list[float]) -> None:
    (pathlib.Path(folder) / f"stage{stage}.txt").write_text("".join(f"{x!r}\n" for x in numbers), encoding="utf-8")


def read_gradients(folder: str | pathlib.Path, stages: int) -> list[list[float]]:
    return [[float(x) for x in (pathlib.Path(folder) / f"stage{s}.txt").read_text(encoding="utf-8").split()]
            for s in range(stages)]
