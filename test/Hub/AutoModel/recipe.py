# RUN: rm -rf %t && mkdir %t
# RUN: %automodel-python %s %t
"""NeMo AutoModel's own recipe trains with the settings that --emit=torch-config prints.
After two steps the parameters equal those of the recipe without a pipeline. Its ranks
are two gloo processes; Inputs/job.py says what replaces a GPU. AutoModel's own schedule
of that name is tried too, except ZBVZeroBubble: it leaves a parameter without a
gradient."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import subprocess
import sys

import torch
import yaml

HERE = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
# The model is built from a configuration; nothing is to be looked up.
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}

CASES = {
    "one_f_one_b": ["one_f_one_b", "ranks=2", "microbatches=4"],
    "interleaved": ["interleaved", "ranks=2", "microbatches=4", "chunks=2"],
    "zbv": ["zbv", "ranks=2", "microbatches=4", "--passes=merge-backward{which=all},torch-compute"],
    "eager": [str(HERE / "Inputs/eager.pipe"), "ranks=2", "microbatches=4"],
    "layout": ["one_f_one_b", "ranks=2", "microbatches=4", "--layout=Et|t*3L"],
}


def nested(settings):
    """{"a.b": 1} as {"a": {"b": 1}}."""
    result = {}
    for path, value in settings.items():
        *parents, last = path.split(".")
        node = result
        for name in parents:
            node = node.setdefault(name, {})
        node[last] = value
    return result


def merged(base, other):
    """`base` with the values of `other`."""
    return {**base, **{key: merged(base.get(key, {}), value) if isinstance(value, dict) else value
                       for key, value in other.items()}}


def pipec(*arguments):
    subprocess.run(["pipec", *arguments], check=True, cwd=folder)


def train(name, recipe):
    """The parameters after two steps, by their names in the model."""
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    job = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0",
                          "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", HERE / "Inputs/job.py", f"{name}.yaml", name],
                         env={**os.environ, **ENVIRONMENT}, cwd=folder, check=False, timeout=200, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert job.returncode == 0, job.stdout[-4000:]
    parts = [torch.load(folder / f"{name}.{rank}.pt") for rank in range(2)]
    return {**parts[0], **parts[1]}


base = yaml.safe_load((HERE / "Inputs/recipe.yaml").read_text(encoding="utf-8"))
expected = train("whole", merged(base, nested({"distributed.pp_size": 1, "step_scheduler.local_batch_size": 2})))
assert len(expected) == 39, expected.keys()


def check(name, settings):
    found = train(name, merged(base, nested(settings)))
    assert found.keys() == expected.keys(), (name, found.keys() ^ expected.keys())
    for key in found:
        assert torch.allclose(found[key], expected[key], rtol=1e-5, atol=1e-6), (name, key)
    print(f"{name}: {len(found)} parameters are equal", flush=True)


cases = list(CASES) if os.environ.get("PIPEC_TEST_ALL") else ["interleaved"]
for case in sys.argv[2:] or cases:
    words = [*CASES[case]]
    if not any(word.startswith("--passes") for word in words):
        words.append("--target=torch-compute")
    pipec(*words, "--emit=torch-config", "-o", f"{case}.json")
    settings = json.loads((folder / f"{case}.json").read_text(encoding="utf-8"))["nemo_automodel"]["settings"]
    order = [word for word in words if not word.startswith("--layout")]
    pipec(*order, "--emit=csv", "-o", settings["distributed.pipeline.pp_schedule_csv"])
    check(case, settings)
    if case == "layout":
        layers = {name.split(".")[2] for name in torch.load(folder / "layout.0.pt") if ".layers." in name}
        assert layers == {"0"}, layers
    if os.environ.get("PIPEC_TEST_ALL") and case != "zbv":
        del settings["distributed.pipeline.pp_schedule_csv"]
        check(f"{case}.builtin", settings)
