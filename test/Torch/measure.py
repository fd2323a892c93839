# RUN: rm -rf %t && mkdir -p %t && cd %t && env PYTHONPATH=%root/python/src %torch-python %s
"""The costs of layers, measured in one process: kinds, sizes in bytes, ties, and the
profile in the compiler. Times are not compared: only that each is measured."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import subprocess
import sys

import torch
from torch import nn

import pipec
import pipec.torch
from pipec.torch import _measure

WIDTH, VOCABULARY, BATCH, LENGTH, BLOCKS = 16, 50, 2, 8, 4
FLOAT = 4
MODEL = '''
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))

class Head(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.out = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        self.out.weight = weight

    def forward(self, x):
        return self.out(x)

def layers():
    embedding = nn.Embedding(%d, %d)
    blocks = [Block(%d) for _ in range(%d)]
    return nn.ModuleList([embedding, *blocks, Head(embedding.weight)]), torch.zeros(%d, %d, dtype=torch.long)

def broken():
    return [nn.Linear(4, 4), nn.Linear(5, 4)], torch.zeros(2, 4)

def alone():
    return nn.Linear(4, 4)

def bare():
    return nn.Linear(4, 4), torch.zeros(2, 4)

def functions():
    return [nn.Linear(4, 4), torch.relu], torch.zeros(2, 4)

number = 5
''' % (VOCABULARY, WIDTH, WIDTH, BLOCKS, BATCH, LENGTH)


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "pipec.torch.measure", *arguments], capture_output=True, text=True)


def check_model():
    pathlib.Path("model.py").write_text(MODEL)
    run = command("model:layers", "-o", "model.json", "--repeats=2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"layers E,t*{BLOCKS},L; ms and bytes, on cpu\n"), run.stdout
    profile = json.loads(pathlib.Path("model.json").read_text())
    assert profile["sequence"] == f"E,t*{BLOCKS},L" and profile["per"] == "layer"
    for letter, kind in profile["layers"].items():
        assert all(kind[figure] > 0 for figure in "FBW"), (letter, kind)
        assert (kind["I"] == 0) == (letter == "E"), (letter, kind)
    tokens = BATCH * LENGTH
    # The input of the norm and its two statistics, its output, and two of four times the width.
    kept = FLOAT * tokens * (WIDTH + 2 + WIDTH + 2 * 4 * WIDTH)
    assert profile["layers"]["t"]["activations"] == kept == profile["memory"]["F"], profile
    assert profile["layers"]["E"]["activations"] == 8 * tokens
    assert profile["layers"]["L"]["activations"] == FLOAT * tokens * WIDTH
    weights = FLOAT * (2 * WIDTH + 2 * 4 * WIDTH * WIDTH + 5 * WIDTH)
    kinds = profile["measured"]["kinds"]
    assert kinds["t"]["parameters"] == kinds["t"]["gradients"] == weights
    assert kinds["t"]["optimizer"] >= 2 * weights, "AdamW has two moments"
    assert profile["layers"]["t"]["parameters"] == 2 * weights + kinds["t"]["optimizer"]
    assert kinds["t"]["layers"] == list(range(1, BLOCKS + 1))
    # Between stages; what the last layer makes is not sent.
    assert profile["memory"]["receive"] == FLOAT * tokens * WIDTH, profile["memory"]
    assert pipec.torch.measure([nn.Linear(4, 4)], torch.zeros(2, 4), repeats=1)["memory"]["receive"] == 0
    assert profile["measured"]["ties"] == [[0, BLOCKS + 1]]
    # Every command reads the profile: half of the layers on each of two stages.
    report = pipec.compile("one_f_one_b", ranks=2, microbatches=4, profile="model.json").report()
    work = [sum(profile["layers"][letter]["F"] + profile["layers"][letter]["B"] for letter in stage) * 4
            for stage in ("E" + "t" * (BLOCKS // 2), "t" * (BLOCKS // 2) + "L")]
    # (Costs of very different sizes are rounded together.)
    assert [abs(rank.work / due - 1) < 1e-3 for rank, due in zip(report.ranks, work)] == [True, True], report


def check_skips():
    """A value that two layers hand on, and one that the next layer takes."""
    class Part(nn.Linear):
        def __init__(self, makes, takes):
            super().__init__(8, 8)
            self.makes, self.takes = makes, takes

        def forward(self, x, *others):
            y = nn.functional.linear(x + others[0] if self.takes else x, self.weight, self.bias)
            others = others[1:] if self.takes else others
            return (y, *others, y * 2) if self.makes else (y, *others)

    parts = [Part(0, 0), Part(1, 0), Part(0, 0), Part(0, 0), Part(1, 1), Part(0, 1), nn.Identity(), nn.Linear(8, 8)]
    profile = pipec.torch.measure(parts, torch.zeros(3, 8), repeats=1)
    assert profile["measured"]["skips"] == [{"from": 1, "to": 4, "bytes": 3 * 8 * FLOAT}], profile["measured"]


def check_kinds():
    """Layers of other structure, other letters; a frozen one, one without parameters."""
    frozen = nn.Linear(8, 8).requires_grad_(False)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.ReLU(), frozen, nn.Linear(8, 8))
    profile = pipec.torch.measure(model, torch.zeros(3, 8), repeats=1, optimizer=None)
    assert profile["sequence"] == "E,t*2,a,b,t", profile["sequence"]
    kinds = profile["measured"]["kinds"]
    assert kinds["a"]["parameters"] == 0 and profile["layers"]["a"]["W"] >= 0
    assert kinds["b"]["gradients"] == 0 and kinds["t"]["optimizer"] == 0
    # ReLU keeps its output, which the next layer need not keep again.
    assert profile["layers"]["a"]["activations"] == 3 * 8 * FLOAT
    assert all(value.grad is None for value in model.parameters())


def check_faults():
    """Page faults are named where there are many: not with small layers."""
    layers = [nn.Linear(8, 8), nn.Linear(8, 8)]
    named = []
    for many in (_measure.MANY_FAULTS, 0):
        _measure.MANY_FAULTS = many
        left_out = pipec.torch.measure(layers, torch.zeros(3, 8), repeats=2)["measured"]["left_out"]
        named.append([text for text in left_out if text.startswith("page faults of the job: ")])
    assert [len(texts) for texts in named] == [0, 1] and "MALLOC_TRIM_THRESHOLD_" in named[1][0], named


def check_errors():
    for arguments, text in ((["model:none"], "module 'model' has no attribute 'none'"), (["model:alone"], "does not return (layers, sample)"),
                            (["model:broken"], "shapes cannot be multiplied"),
                            (["model:bare"], "the layers are a Linear, not a list of modules"),
                            (["model:functions"], "layer 1 is a builtin_function_or_method, not a torch.nn.Module"),
                            (["model:number"], "`model:number` is a int, not a function"),
                            (["model:layers", "--repeats=0"], "repeats is 0, and not positive")):
        run = command(*arguments, "-o", "bad.json")
        assert run.returncode == 1 and text in run.stderr and "Traceback" not in run.stderr, (arguments, run.stderr)
        assert not pathlib.Path("bad.json").exists()
    for path, text in (("no/folder.json", "cannot write `no/folder.json`: No such file or directory"),
                       (".", "cannot write `.`: Is a directory")):
        run = command("model:layers", "-o", path, "--repeats=1")
        assert run.returncode == 1 and text in run.stderr and "Traceback" not in run.stderr, run.stderr
    if not torch.cuda.is_available():
        run = command("model:layers", "-o", "bad.json", "--device=cuda")
        assert run.returncode == 1 and "error: there is no GPU" in run.stderr and "Traceback" not in run.stderr, run.stderr
    try:
        pipec.torch.measure([], torch.zeros(1))
    except ValueError as error:
        assert str(error) == "there are no layers"
    else:
        raise AssertionError("no layers were measured")


def check_several_processes():
    """One process measures, whatever torchrun has started."""
    for rank in "01":
        run = subprocess.run([sys.executable, "-m", "pipec.torch.measure", "model:layers", "-o", f"rank{rank}.json", "--repeats=1"],
                             env={**os.environ, "RANK": rank, "WORLD_SIZE": "2"}, capture_output=True, text=True)
        assert run.returncode == 0 and bool(run.stdout) == pathlib.Path(f"rank{rank}.json").exists() == (rank == "0"), run


check_model()
check_skips()
check_kinds()
check_faults()
check_errors()
