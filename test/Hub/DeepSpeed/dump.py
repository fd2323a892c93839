# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %deepspeed-python %s
# RUN: %deepspeed-python -m pipec.dump deepspeed --stages 4 --micro-batches 8 > dumped.csv
# RUN: pipec lint dumped.csv --for=deepspeed | FileCheck %s
# CHECK:      {{^}}safe under: stream pair edge buffered
# CHECK-NEXT: {{^}}DeepSpeed: yes
"""DeepSpeed's own schedule is 1F1B of the library, and its list survives the way to
pipec and back; a file for other sizes is refused by name."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import subprocess

from deepspeed.runtime.pipe import schedule

import pipec

own = schedule.TrainSchedule


def computes(text):
    return [re.findall(r"[FB]\d+", re.sub(r"\d+(SEND|RECV)_\w\d+", "", row)) for row in text.splitlines()]


for p in range(1, 6):
    for m in (1, 2, 3, 4, 7, 8, 12):
        text = pipec.deepspeed.dump(own, p, m)
        assert computes(text) == computes(pipec.compile("one_f_one_b", ranks=p, microbatches=m).csv), (p, m)
        with open("dumped.csv", "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run(["pipec", "dumped.csv", f"--stages={p}", f"--microbatches={m}", "--emit=deepspeed", "-o", "again.json"],
                       check=True)
        again = pipec.deepspeed.use("again.json")
        assert schedule.TrainSchedule is again and pipec.deepspeed.dump(again, p, m) == text, (p, m)
        # Not more memory than DeepSpeed's own, which has two buffers at least.
        for stage in range(p):
            given, taken = own(m, p, stage).num_pipe_buffers(), again(m, p, stage).num_pipe_buffers()
            assert taken <= given, (p, m, stage, taken, given)

try:
    again(micro_batches=4, stages=2, stage_id=0)
    raise SystemExit("no error")
except ValueError as error:
    assert str(error) == "again.json is for 5 stages and 12 micro-batches, and the engine has 2 and 4"

# A schedule object does as well as a file.
plan = pipec.compile("eager_one_f_one_b", ranks=3, microbatches=5)
assert computes(pipec.deepspeed.dump(pipec.deepspeed.use(plan), 3, 5)) == computes(plan.csv)
try:
    pipec.deepspeed.use(pipec.compile("gpipe", ranks=3, microbatches=5))
    raise SystemExit("no error")
except pipec.CompileError as error:
    assert error.errors[0].kind == "TargetLossNotNext"
