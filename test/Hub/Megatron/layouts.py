# RUN: env PIPEC=%build/bin/pipec %megatron-python %s %if all %{ 3000 %} %else %{ 300 %}
"""Layouts that are accepted, and the stages that they give, are those of
megatron-core's own parser; what --emit=megatron-layout writes it reads as the same."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import random
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")

from megatron.core.transformer.pipeline_parallel_layer_layout import PipelineParallelLayerLayout

LETTERS = {"embedding": "E", "decoder": "t", "mtp": "m", "loss": "L"}
SIZES = [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (3, 2), (4, 2)]


def megatron(text, ranks):
    """The stages of a layout, and whether a model with it is built; None if it is refused."""
    try:
        layout = PipelineParallelLayerLayout(text, ranks)
    except (AssertionError, KeyError, ValueError):
        return None
    chunks = layout.virtual_pipeline_model_parallel_size
    stages = ["".join(LETTERS[layer.name] for layer in layout.layout[stage % ranks][stage // ranks])
              for stage in range(ranks * chunks)]
    flat = "".join(stages)
    try:
        layout.validate_layer_layout(flat.count("t"), flat.count("m"))
        return stages, True
    except (AssertionError, IndexError):
        return stages, False


def pipec(text, ranks, chunks):
    done = subprocess.run([os.environ["PIPEC"], "interleaved", f"ranks={ranks}", f"chunks={chunks}", f"microbatches={ranks}",
                           f"--layout={text}", "--emit=megatron-layout", "--show-kinds"],
                          capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout.strip(), done.stderr


random.seed(1)


def stage():
    return "".join(random.choice(["t", "t", "t*2", "t*3", "tt", ",", ""]) for _ in range(random.randint(0, 3)))


def layout(stages):
    parts = [stage() for _ in range(stages)]
    text = random.choice(["E", "E", "E,", ""]) + "|".join(parts) + random.choice(["L", "L", "mL", "m*2L", "|L", ""])
    if random.random() < 0.3:
        text = f"E({random.choice(['t', 'tt', 't*2'])}|)*{stages - 1}tL"
    if random.random() < 0.35:
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice("Etm L|*()2,0x") + text[at + random.randint(0, 1):]
    return text


accepted = refused = models = 0
for _ in range(int(sys.argv[1])):
    ranks, chunks = random.choice(SIZES)
    text = layout(ranks * chunks)
    expected = megatron(text, ranks)
    status, printed, messages = pipec(text, ranks, chunks)
    if expected is None or len(expected[0]) != ranks * chunks:
        # The schedule has as many stages as the layout.
        assert status != 0 and printed == "", (text, ranks, chunks, printed)
        refused += 1
        continue
    assert status == 0, (text, ranks, chunks, messages)
    assert ("LayoutEnds" in messages or "LayoutMtp" in messages) != expected[1], (text, ranks, chunks, messages)
    assert megatron(printed, ranks) == expected, (text, printed, ranks)
    assert pipec(printed, ranks, chunks)[1] == printed
    accepted += 1
    models += expected[1]
print(accepted, "accepted,", refused, "refused,", models, "models")
assert accepted > 60 and refused > 60 and models > 20
