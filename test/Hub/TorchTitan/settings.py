# RUN: rm -rf %t && mkdir %t
# RUN: %torchtitan-python %S/Inputs/assets.py %t
# RUN: %torchtitan-python %s %t
"""torchtitan's own training program trains its debug model with the settings that
--emit=torch-config prints, as they are. Losses and norms of gradients equal those of its
own schedule of that name. Its ranks are two gloo processes; Inputs/job.py says what
replaces a GPU."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"), "CUDA_VISIBLE_DEVICES": ""}
STEPS = 2
# The debug model, with short sequences; the rest are the settings for the schedule.
JOB = ["--module", "llama3", "--config", "llama3_debugmodel", "--training.seq_len", "16", "--training.steps", str(STEPS),
       "--debug.seed", "1"]

CASES = {
    "interleaved": ["interleaved", "chunks=2"],
    "one_f_one_b": ["one_f_one_b"],
    "eager": ["eager_one_f_one_b"],
    "zbv": ["zbv"],
}


def flags(settings):
    """Settings as arguments of torchtitan's command line."""
    found = []
    for key, value in settings.items():
        found += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return found


def train(settings, further):
    """The loss and the norm of the gradients of each step."""
    job = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
                          "--rdzv-endpoint=127.0.0.1:0", HERE / "Inputs/job.py", *JOB, *flags(settings),
                          *further],
                         env={**os.environ, **ENVIRONMENT}, cwd=folder, check=False, timeout=200, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert job.returncode == 0, job.stdout[-4000:]
    text = re.sub(r"\x1b\[[0-9;]*m", "", job.stdout)
    # Ranks without the last stage report a loss of -1.
    found = re.findall(r"step:\s*(\d+)\s+loss:\s+(\d\S+)\s+grad_norm:\s+(\S+)", text)
    assert [int(step) for step, _, _ in found] == list(range(1, STEPS + 1)), text[-4000:]
    return [(float(loss), float(norm)) for _, loss, norm in found]


for name in sys.argv[2:] or (CASES if os.environ.get("PIPEC_TEST_ALL") else ["interleaved"]):
    words = [*CASES[name], "ranks=2", "microbatches=4", "--target=torch-compute"]
    config = subprocess.run(["pipec", *words, "--emit=torch-config"], check=True, stdout=subprocess.PIPE).stdout
    config = json.loads(config)["torchtitan"]
    settings, arguments = config["settings"], config.get("arguments", [])
    csv = settings["parallelism.pipeline_parallel_schedule_csv"]
    subprocess.run(["pipec", *words, "--emit=csv", "-o", csv], check=True, cwd=folder)
    found = train(settings, arguments)
    del settings["parallelism.pipeline_parallel_schedule_csv"]
    expected = train(settings, arguments)
    print(name, found, expected, flush=True)
    for mine, own in zip(found, expected, strict=True):
        assert all(abs(a - b) <= 2e-4 * abs(b) for a, b in zip(mine, own, strict=True)), (name, found, expected)
