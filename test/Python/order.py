# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pipec.order: in this process and by the program, with the same results."""

import copy
import gc

import pipec
from pipec import _order, _program

weights = [0.5, 1.25, 4, 1, 0.75, 1, 1, 2, 0.3, 1, 3, 1]
schedule = pipec.compile("zb1p", ranks=4, microbatches=12, cost={"F": 10, "I": 11, "W": 9, "p2p": 1})
calls = []
real = _program.run
_order.run = lambda *args, **named: calls.append(args) or real(*args, **named)

first = pipec.order(schedule, weights)
assert sorted(first.order) == list(range(12)) and first.bound <= first.makespan < first.given
assert first.optimal == (first.bound == first.makespan)
# The lists are made once.
assert len(calls) == 1 and "--lists" in calls[0][0]
assert pipec.order(schedule, tuple(weights)) == first and len(calls) == 1
stages = [[weight * (stage + 1) for weight in weights] for stage in range(4)]
sizes = [1 + weight for weight in weights]
peak = {"sizes": sizes, "limit": 12}
cases = [(weights, {}), (weights, {"effort": 2, "seed": 3}), (stages, {}), (weights, peak)]
inside = [pipec.order(schedule, own, **more) for own, more in cases]
assert len(calls) == 1
other = copy.copy(schedule)
assert pipec.order(other, weights) == first and len(calls) == 2
del other
gc.collect()
assert pipec.order(schedule, weights) == first and len(calls) == 2

# The program says the same, and the times are those of simulations.
_order._library = lambda: None
for (own, more), result in zip(cases, inside):
    assert pipec.order(schedule, own, **more) == result, (more, result)
factors = {"microbatches": {str(k): {"factor": weights[i]} for k, i in enumerate(first.order)}}
assert pipec.Schedule.from_steps(schedule.ir, profile=factors).report().makespan == first.makespan


def fails(kind, text, *args, **named):
    try:
        pipec.order(*args, **named)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


fails(pipec.CompileError, "<weights>:1:13: error: 2 weights for 12 micro-batches", schedule, [1, 2])
fails(pipec.CompileError, "is negative", schedule, [-1] * 12)
fails(pipec.CompileError, "no order within the memory limit", schedule, weights, sizes=sizes, limit=2)
fails(pipec.CompileError, "--effort", schedule, weights, effort=0)
fails(TypeError, "not a pipec.Schedule", "zb1p", weights)
fails(TypeError, "weights[1] is 'a', not a number", schedule, [1, "a"])
fails(TypeError, "weights is 3, not a list of numbers", schedule, 3)
