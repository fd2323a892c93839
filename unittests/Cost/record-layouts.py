#!/usr/bin/env python3
"""Records what Megatron-LM makes of layout texts.

    record-layouts.py WHEEL > layouts.json

WHEEL is a wheel of megatron-core. Only two files of it are used, with empty
modules for the rest, so that PyTorch is not needed. Each line is a text, a
number of ranks, the letters of each stage, or null if Megatron-LM refuses the
text, and whether it builds a model with these stages.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import random
import sys
import types
import zipfile

FOLDER = "megatron/core/transformer/"
LETTERS = {"embedding": "E", "decoder": "t", "mtp": "m", "loss": "L"}
EXAMPLES = [
    ("Et*3|(tt|)*29,m|L", 16), ("Et*4|(t*4|)*14tmL", 8), ("(E|t)*2L", 2),
    ("Et*2,|,t L", 2), ("E((t)*2|)*2L", 1), ("Et*|L", 2), ("Et|t||tL", 4),
    ("", 1), ("|", 2), (",", 1), ("t*0", 1), ("t*00", 1), ("(t)*0", 1),
    ("()*2", 1), ("()*0", 1), ("((t)*0E", 1), ("(*0t", 1), (")*0t", 1),
    ("t*2*3", 1), ("(t)*2*3", 1), ("t**0", 1), ("**0", 1), ("**2", 1),
    ("|*3", 4), ("|*3", 3), ("t*1,2", 1), ("t,*,2", 1), ("(t|)*2(L)*1", 3),
    ("(t)L", 1), ("é*0t", 1), ("é*2", 1), ("t\n", 1), ("\n*0t", 1),
    ("(t\nE)*0L", 1), ("e", 1), ("T", 1), ("t2", 1), ("2*0", 1), ("t*-1", 1),
    ("t*+1", 1), ("(t)*(2)", 1), ("t*2.5", 1), ("Et*10|(t*11|)*3t*9L", 5),
    ("\t", 1), ("(((t)*2", 1), ("(t))*2", 1), ("t*007", 1), ("(,)*2", 1),
]


def load(wheel):
    """The class of the layout, from its own source."""
    with zipfile.ZipFile(wheel) as archive:
        sources = {name: archive.read(FOLDER + name + ".py").decode()
                   for name in ("enums", "pipeline_parallel_layer_layout")}
    for name in ("megatron", "megatron.core", "megatron.core.transformer"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["megatron.core"].parallel_state = None
    for name, source in sources.items():
        module = types.ModuleType(f"megatron.core.transformer.{name}")
        sys.modules[module.__name__] = module
        exec(compile(source, name, "exec"), module.__dict__)  # pylint: disable=exec-used
    return module.PipelineParallelLayerLayout


def is_model(layout):
    """Whether Megatron-LM accepts the layout of a model with these layers."""
    letters = [LETTERS[kind.name] for kind in layout.flatten_layout]
    try:
        layout.validate_layer_layout(letters.count("t"), letters.count("m") or None)
    except (AssertionError, IndexError):
        return False
    return True


def model(rng):
    """A text that is probably the layout of a model."""
    stages = ["t" * rng.randint(0, 3) for _ in range(rng.randint(1, 8))]
    stages[0] = "E" + stages[0]
    for _ in range(rng.choice([0, 0, 1, 2])):
        stages[rng.choice([-1, -1, -1, rng.randrange(len(stages))])] += "m"
    stages[rng.choice([-1, -1, -1, -1, 0])] += "L"
    return "|".join(stages)


def count(rng):
    return rng.choice(["0", "1", "2", "3", "4", "7", "02", "12"])


def text(rng, depth=0):
    """A text of the usual form."""
    parts = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.15 and depth < 2:
            parts.append(f"({text(rng, depth + rng.choice([1, 2, 2, 2]))})*{count(rng)}")
        elif kind < 0.45:
            parts.append(rng.choice("tttm|EL") + "*" + count(rng))
        else:
            parts.append(rng.choice("tttt||mEL,"))
    return "".join(parts)


def mutate(rng, base):
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(base))
        kind = rng.random()
        if kind < 0.35:
            base = base[:at] + base[at + 1:]
        elif kind < 0.8:
            base = base[:at] + rng.choice("EtmL|*(),0123 *()x\né-") + base[at:]
        else:
            base = base[:at] + base[at:][::-1]
    return base


def main():
    layout_class = load(sys.argv[1])
    rng = random.Random(1)
    cases = list(EXAMPLES)
    while len(cases) < 600:
        base = text(rng) if rng.random() < 0.7 else model(rng)
        if rng.random() < 0.5:
            base = mutate(rng, base)
        if len(base) > 40:
            continue
        try:
            stages = len(layout_class(base, 1).layout[0])
        except AssertionError:
            stages = 1
        ranks = [number for number in range(1, stages + 1) if stages % number == 0]
        cases.append((base, rng.choice(ranks + [2])))
    lines = []
    for case, ranks in cases:
        try:
            layout = layout_class(case, ranks)
        except AssertionError:
            stages, valid = None, False
        else:
            chunks = layout.virtual_pipeline_model_parallel_size
            stages = ["".join(LETTERS[kind.name] for kind in layout.layout[rank][chunk])
                      for chunk in range(chunks) for rank in range(ranks)]
            if sum(map(len, stages)) + len(stages) > 300:
                continue
            valid = is_model(layout)
        lines.append(json.dumps([case, ranks, stages, valid]))
    print("[" + ",\n".join(lines) + "]")


if __name__ == "__main__":
    main()
