# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %deepspeed-python %s %root/docs/DeepSpeed.md
"""The commands and the script of docs/DeepSpeed.md, from a schedule to a job. The
losses are those with DeepSpeed's own schedule."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    page = file.read()
script = re.search(r"^```python train.py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
command = re.search(r"^    (pipec .* --emit=deepspeed -o schedule.json)$", page, re.MULTILINE)[1]
use = re.search(r"^    (pipec.deepspeed.use\(.*\))$", page, re.MULTILINE)[1]
torchrun = re.search(r"^    DS_ACCELERATOR=cpu torchrun (--nproc-per-node=\d) train.py$", page, re.MULTILINE)[1]
assert script.count(use) == 1
subprocess.run(command, shell=True, check=True)


def losses(name, text):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)
    run = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--rdzv-backend=c10d",
                          "--rdzv-endpoint=127.0.0.1:0", torchrun, name], check=False,
                         env={**os.environ, "DS_ACCELERATOR": "cpu"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout)
    assert run.returncode == 0
    return [float(loss) for loss in re.findall(r"^step \d+: loss (\S+)$", run.stdout, re.MULTILINE)]


with_pipec = losses("train.py", script)
assert len(with_pipec) == 10 and with_pipec[-1] < with_pipec[0], with_pipec
assert with_pipec == losses("own.py", script.replace(use, ""))
