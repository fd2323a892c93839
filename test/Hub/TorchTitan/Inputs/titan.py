"""Runs torchtitan's training program on two gloo processes, as the tests of this folder
do, with its debug model and short sequences."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import pathlib
import re
import subprocess
import sys

INPUTS = pathlib.Path(__file__).parent
STEPS = 2
JOB = ["--config", "llama3_debugmodel", "--training.seq_len", "16", "--training.steps", str(STEPS), "--debug.seed", "1"]


def flags(settings):
    """Settings as arguments of torchtitan's command line."""
    found = []
    for key, value in settings.items():
        if isinstance(value, list):  # of lists of names
            found += [f"--{key}", *(",".join(names) for names in value)]
        else:
            found += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return found


def train(folder, settings, further, module="llama3", **environment):
    """The loss and the norm of the gradients of each step, and what the job wrote."""
    given = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"), "CUDA_VISIBLE_DEVICES": "",
             "PYTHONPATH": os.pathsep.join([str(INPUTS), os.environ["PYTHONPATH"]]), **environment}
    job = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d",
                          "--rdzv-endpoint=127.0.0.1:0", INPUTS / "job.py", "--module", module, *JOB, *flags(settings), *further],
                         env={**os.environ, **given}, cwd=folder, check=False, timeout=200, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert job.returncode == 0, job.stdout[-4000:]
    text = re.sub(r"\x1b\[[0-9;]*m", "", job.stdout)
    # Ranks without the last stage report a loss of -1.
    found = re.findall(r"step:\s*(\d+)\s+loss:\s+(\d\S+)\s+grad_norm:\s+(\S+)", text)
    assert [int(step) for step, _, _ in found] == list(range(1, STEPS + 1)), text[-4000:]
    return [(float(loss), float(norm)) for _, loss, norm in found], text


def same(found, expected):
    """Whether two trainings gave the same but for rounding."""
    return all(abs(a - b) <= 2e-4 * abs(b) for mine, own in zip(found, expected, strict=True)
               for a, b in zip(mine, own, strict=True))
