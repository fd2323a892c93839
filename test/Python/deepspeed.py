# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %python %s
# RUN: env PYTHONPATH=%root/python/src:%S/Inputs %python -m pipec.dump deepspeed --class deepspeed_zbh1:ZeroBubbleH1 --stages 3 --micro-batches 5 -o dumped.csv
# RUN: pipec lint dumped.csv --require=edge | FileCheck %s
# CHECK: safe under: {{.*}}edge buffered
"""Lists of DeepSpeed's instructions as CSVs, without DeepSpeed: with other classes of
the same names, and those of Megatron-DeepSpeed's ZB-H1."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import deepspeed_zbh1 as zbh1

import pipec

# ZB-H1 has the computes of the library's schedule, with the last rank's last W at the end.
for p, m in (1, 1), (2, 2), (2, 5), (3, 4), (4, 8):
    with open("zbh1.csv", "w", encoding="ascii") as file:
        file.write(pipec.deepspeed.dump(zbh1.ZeroBubbleH1, p, m))
    dumped, known = pipec.compile("zbh1.csv"), pipec.compile("zb1p", ranks=p, microbatches=m)
    for rank in range(p):
        computes = [(s[0], s[2]) for s in dumped.steps[rank] if s[0] in (pipec.Kind.F, pipec.Kind.I, pipec.Kind.W)]
        assert computes == [(s[0], s[2]) for s in known.steps[rank]], (p, m, rank)


def schedule(*lists, buffers=2):
    """A class with these lists of instructions."""

    class Fixed(zbh1.PipeSchedule):
        def steps(self):
            yield [make(*arguments) for make, *arguments in lists[self.stage_id]]

        def num_pipe_buffers(self):
            return buffers

    return Fixed


LOAD, FORWARD, BACKWARD, SEND, RECEIVE, WEIGHT = (zbh1.LoadMicroBatch, zbh1.ForwardPass, zbh1.BackwardPass, zbh1.SendGrad,
                                                  zbh1.RecvActivation, zbh1.WeightPass)
SENT = [(LOAD, 0), (FORWARD, 0), (zbh1.SendActivation, 0)]


class Surprise(zbh1.BufferOpInstruction):
    pass


for lists, words in [
    ([[(LOAD, 0), (FORWARD, 0), (LOAD, 0)]], "Fixed, stage 0: LoadMicroBatch overwrites buffer 0, which micro-batch 0 still uses"),
    ([SENT, [(RECEIVE, 0), (FORWARD, 0), (RECEIVE, 0)]], "stage 1: RecvActivation overwrites buffer 0"),
    ([SENT, [(RECEIVE, 0), (RECEIVE, 1), (LOAD, 1)]], "LoadMicroBatch takes the labels of micro-batch 0, and buffer 1 has micro-batch 1"),
    ([SENT, [(LOAD, 0)]], "LoadMicroBatch takes the labels of micro-batch 0, and buffer 0 has no micro-batch"),
    ([SENT, [(LOAD, 0)], []], "LoadMicroBatch is for the first and the last stage"),
    ([[(FORWARD, 1)]], "ForwardPass uses buffer 1, which has no micro-batch"),
    ([[(LOAD, 0), (FORWARD, 0), (BACKWARD, 0), (BACKWARD, 0)]], "BackwardPass uses buffer 0, which has no micro-batch"),
    ([[(LOAD, 2)]], "LoadMicroBatch uses buffer 2 of 2"),
    ([[(WEIGHT,)]], "WeightPass has no BackwardOnlyPass before it"),
    ([[(Surprise, 0)]], "unknown instruction Surprise"),
]:
    try:
        pipec.deepspeed.dump(schedule(*lists), len(lists), 2)
        raise SystemExit(f"no error: {words}")
    except ValueError as error:
        assert words in str(error), error

# Files that are none.
for text in "", "{}", "[]", '{"format": "pipec-deepspeed 2"}':
    with open("wrong.json", "w", encoding="ascii") as file:
        file.write(text)
    try:
        pipec.deepspeed.use("wrong.json")
        raise SystemExit(text)
    except ValueError as error:
        assert str(error) == "wrong.json is not a file of `pipec --emit=deepspeed`"


def fails(*words):
    done = subprocess.run([sys.executable, "-m", "pipec.dump", *words], check=False, capture_output=True, text=True)
    assert done.returncode and not done.stdout, words
    return done.stderr


assert "FRAMEWORK" in fails()
assert "invalid choice: 'tensorflow'" in fails("tensorflow")
sizes = ["--stages", "2", "--micro-batches", "2"]
assert "No module named 'deepspeed'" in fails("deepspeed", *sizes)
assert "No module named 'absent'" in fails("deepspeed", "--class", "absent:Schedule", *sizes)
assert "has no attribute 'Schedule'" in fails("deepspeed", "--class", "json:Schedule", *sizes)
