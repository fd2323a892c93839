"""The 96 random problems of benchmarks/search/run.py, and its long and large ones.

66 are mixed: 2 to 16 ranks, one or two chunks, m = p to 8p, stages that differ
by 3, 10 or 25 %, in 70 % an embedding of up to +30 % and a head of +10 to +80 %,
hops of 0 to 0.2 F, memory that I gives back, or W, or both by half, and caps from
the least to none, in 30 % of the problems different per rank. 30 are hard:
balanced work and caps at which work and memory bind together.

The long ones are the random problems that memory slows down most, with two and
four times as many micro-batches. The large ones have 32 to 128 ranks: balanced
stages (3 %), and 100 %, 60 % (V) and 30 % (four chunks) of the memory of 1F1B.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import random


def problem(number, hard):
    rng = random.Random(1000 + number)
    v = rng.choice([1, 2])
    placement = "line" if v == 1 else rng.choice(["V", "loop"])
    p = rng.choice([4, 6, 8, 12, 16] if hard else [2, 3, 4, 6, 8, 12, 16])
    m = rng.choice([p, 2 * p, 3 * p] if hard else [p, 2 * p, 3 * p, 4 * p, 8 * p])
    while p * v * m * 3 > 9000:
        m //= 2
    stages = p * v
    spread = 3 if hard else rng.choice([3, 10, 25])
    F = [round(100 * (1 + rng.uniform(-spread, spread) / 100)) for _ in range(stages)]
    I = [round(110 * (1 + rng.uniform(-spread, spread) / 100)) for _ in range(stages)]
    W = [round(80 * (1 + rng.uniform(-spread, spread) / 100)) for _ in range(stages)]
    if not hard and rng.random() < 0.7:
        first, last = 1 + rng.uniform(0, 0.3), rng.uniform(1.1, 1.8)
        for times in (F, I, W):
            times[0] = round(times[0] * first)
            times[-1] = round(times[-1] * last)
    memory = rng.choice([(0, 2), (1, 1), (2, 0)])
    least = 2 * v
    if hard:
        factor = rng.uniform(0.75, 1.5) if v == 1 else rng.uniform(0.75, 2) if placement == "V" else rng.uniform(1.75, 3)
    else:
        factor = rng.choice([0.8, 1, 1.5, 2, 2.5, 8 * v]) if v == 1 else rng.choice([1, 1.5, 2, 2.5, 3, 8 * v])
    cap = max(least, round(2 * factor * p))
    caps = [cap] * p
    if rng.random() < 0.3:
        caps = [max(least, cap - rng.randrange(0, max(1, cap // 4))) for _ in range(p)]
    return {"name": f"{'h' if hard else 'm'}{number:02d}_p{p}v{v}m{m}{placement[0]}", "p": p, "v": v, "m": m,
            "placement": placement, "F": F, "I": I, "W": W, "hop": round(rng.uniform(0, 20)),
            "memI": [memory[0]] * stages, "memW": [memory[1]] * stages, "cap": caps}


def long_problems():
    for number, hard in (13, False), (53, False), (66, True), (91, True):
        for times in 2, 4:
            case = problem(number, hard)
            case["m"] *= times
            yield {**case, "name": f"{case['name'].split('_')[0]}x{times}_p{case['p']}m{case['m']}"}


def large_problems():
    for p, v, m in (32, 1, 1024), (128, 1, 512), (32, 2, 128), (64, 2, 256), (128, 2, 256), (32, 4, 128):
        rng = random.Random(p * v)
        stages = p * v
        times = {kind: [round(100 * mean * (1 + rng.uniform(-0.03, 0.03))) for _ in range(stages)]
                 for kind, mean in (("F", 1), ("I", 1.1), ("W", 0.8))}
        cap = {1: 2 * p, 2: round(2 * 0.6 * 2 * p), 4: round(2 * 0.3 * 4 * p)}[v]
        yield {"name": f"p{p}v{v}m{m}", "p": p, "v": v, "m": m, "placement": "V" if v == 2 else "loop", **times,
               "hop": 5, "memI": [1] * stages, "memW": [1] * stages, "cap": [cap] * p}


def all_problems():
    for number in range(66):
        yield problem(number, hard=False)
    for number in range(66, 96):
        yield problem(number, hard=True)
