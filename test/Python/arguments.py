# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Arguments of another type are refused with their name and value; numbers of NumPy
are numbers."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import decimal
import fractions
import os

import pipec

SIZES = {"ranks": 2, "microbatches": 4}
plain = pipec.compile("one_f_one_b", **SIZES)


def refused(kind, text, call, *args, **keywords):
    try:
        call(*args, **keywords)
    except kind as problem:
        assert text in str(problem), (text, problem)
        return
    raise AssertionError((call, args, keywords))


# `args` is a list of texts, wherever it is taken.
takers = {
    "compile": lambda args: pipec.compile("gpipe", args=args),
    "check": lambda args: pipec.check("gpipe", args=args),
    "compare": lambda args: pipec.compare(**SIZES, args=args),
    "search": lambda args: pipec.search(**SIZES, args=args),
    "render": lambda args: pipec.render("gpipe", format="svg", args=args),
    "lint": lambda args: pipec.lint("gpipe", args=args),
    "from_csv": lambda args: pipec.Schedule.from_csv(plain.csv, args=args),
    "from_steps": lambda args: pipec.Schedule.from_steps(plain.ir, args=args),
    "report": lambda args: plain.report(args=args),
    "simulate": lambda args: plain.simulate(args=args),
    "to_dataframe": lambda args: plain.to_dataframe(args=args),
}
for take in takers.values():
    refused(TypeError, "args is '--cost=F=2', not a list of texts", take, "--cost=F=2")
    refused(TypeError, "args is b'x', not a list of texts", take, b"x")
    refused(TypeError, "args is 5, not a list of texts", take, 5)
    refused(TypeError, "args[1] is 5, not a text", take, ["-W", 5])
assert pipec.compile("gpipe", args=("--cost=F=2",)).report().makespan == pipec.compile("gpipe", cost="F=2").report().makespan

# Programs and schedules.
for wrong in 5, b"gpipe", ["gpipe"], plain:
    refused(TypeError, f"the input is {wrong!r}, not a file or a name of the library", pipec.compile, wrong)
    refused(TypeError, f"source is {wrong!r}, not a text", pipec.compile, source=wrong)
    refused(TypeError, "not a file or a name", pipec.describe, wrong)
for call in (pipec.check, pipec.lint, lambda given: pipec.render(given, format="svg"), lambda given: pipec.compare(given, **SIZES),
             lambda given: pipec.search(**SIZES, start=[given])):
    for wrong in 5, b"gpipe", None:
        refused(TypeError, f"the input is {wrong!r}, not a file, a name of the library or a Schedule", call, wrong)
refused(TypeError, "the input is 5, not a file, a name of the library or a Schedule", pipec.search, 5, **SIZES)
refused(TypeError, "start is 'gpipe', not a list of schedules", pipec.search, **SIZES, start="gpipe")
refused(TypeError, "path is 5, not the name of a file", pipec.render, plain, 5)
refused(TypeError, "certificate is 5, not the name of a file", pipec.search, **SIZES, certificate=5)

# Lists of steps.
for wrong in 5, None, b"F0", {0: ["F0", "B0"]}, iter(["F0"]):
    refused(TypeError, f"steps is {wrong!r}, not a list of steps per rank", pipec.Schedule.from_steps, wrong)
for wrong in 5, "F0", b"F0":
    refused(TypeError, f"the steps of rank 1 are {wrong!r}, not a list", pipec.Schedule.from_steps, [["F0", "B0"], wrong])
assert pipec.Schedule.from_steps([iter(["F0", "B0"])]).ranks == 1
refused(TypeError, "text is 5, not a text", pipec.Schedule.from_csv, 5)

# Texts and numbers.
for name in "target", "passes":
    refused(TypeError, f"{name} is 5, not a text", pipec.compile, "gpipe", **{name: 5})
refused(TypeError, "model is b'edge', not a text", plain.report, model=b"edge")
refused(TypeError, "title is 5, not a text", pipec.render, plain, format="svg", title=5)
refused(TypeError, "time is 5, not a text", pipec.search, **SIZES, time=5)
refused(TypeError, "target is 5, not a list of texts", pipec.compare, **SIZES, target=5)
for name in "threads", "parts", "seed", "chunks", "ranks", "effort":
    refused(TypeError, f"{name} is 1.5, not an integer", pipec.search, **{**SIZES, name: 1.5})
    refused(TypeError, f"{name} is True, not an integer", pipec.search, **{**SIZES, name: True})
refused(TypeError, "memory_limit is True, not a number", pipec.search, **SIZES, memory_limit=True)
refused(TypeError, "memory_limit is [1], not a number", pipec.search, **SIZES, memory_limit=[1])
refused(TypeError, "layers is 1.5, not a number or a text", pipec.search, **SIZES, layers=1.5)
lists = [["F0", "B0"], ["F0", "B0"]]
refused(TypeError, "microbatches is '2', not an integer", pipec.Schedule.from_steps, lists, microbatches="2")
refused(TypeError, "a stage in edges is '0', not an integer", pipec.Schedule.from_steps, lists, edges=[("0", 1)])
refused(TypeError, "(0, 1, 2) in edges is not a pair of stages", pipec.Schedule.from_steps, lists, edges=[(0, 1, 2)])
refused(ValueError, "edges is empty, and there are 2 stages", pipec.Schedule.from_steps, lists, edges=[])
assert "deepspeed" in pipec.compile("one_f_one_b").lint(args=["--for=deepspeed"]).frameworks
refused(TypeError, "top is '3', not an integer", pipec.compare, **SIZES, top="3")
refused(TypeError, "width is 300.5, not an integer", pipec.render, plain, format="svg", width=300.5)
# A small number has no exponent: it is a limit that nothing fits in.
for small in 1e-5, decimal.Decimal("1E-5"), fractions.Fraction(1, 100000), "0.00001":
    refused(pipec.CompileError, "rank 0 cannot hold one micro-batch", pipec.search, **SIZES, memory_limit=small)
    assert len(pipec.compare(**SIZES, memory_limit=small)) == 0

# Costs and profiles.
for wrong in 5, b"F=1", ["F=1"]:
    refused(TypeError, f"cost is {wrong!r}, neither a text nor a mapping", pipec.compile, "gpipe", cost=wrong)
refused(TypeError, "cost is 5, not a list of costs", pipec.check, "gpipe", cost=5)
for wrong in None, True, [1], 1j:
    refused(TypeError, f"cost F is {wrong!r}, not a number", plain.report, cost={"F": wrong})
for wrong in float("nan"), float("inf"), decimal.Decimal("-Infinity"):
    refused(ValueError, f"cost F is {decimal.Decimal(wrong)}, not a finite number", plain.report, cost={"F": wrong})
for wrong in 5, b"costs.json", ["costs.json"]:
    refused(TypeError, f"profile is {wrong!r}, not a file, a mapping or a Calibration", plain.report, profile=wrong)
refused(TypeError, "a figure of profile is <object", plain.report, profile={"F": object()})

# A window as two times.
assert pipec.render(plain, format="svg", window=(1, 5.5)) == pipec.render(plain, format="svg", window="1:5.5")
assert pipec.render(plain, format="svg", window=["1/3", fractions.Fraction(5)]) == pipec.render(plain, format="svg", window="1/3:5")
for wrong in (), (1,), (1, 2, 3):
    refused(ValueError, f"window is {wrong!r}, not two times", pipec.render, plain, format="svg", window=wrong)
refused(TypeError, "a time of window is None, not a number", pipec.render, plain, format="svg", window=(1, None))
refused(TypeError, "window is 5, not a text", pipec.render, plain, format="svg", window=5)
assert os.listdir() == []

# NumPy's numbers are what they look like.
try:
    import numpy
except ImportError:
    numpy = None
if numpy:
    for kind in numpy.float16, numpy.float32, numpy.float64, numpy.longdouble:
        assert plain.report(cost={"F": kind("0.5"), "B": kind(3)}).makespan == plain.report(cost="F=0.5,B=3").makespan
    assert plain.report(cost={"F": numpy.float32(0.1)}).makespan == plain.report(cost="F=0.1").makespan
    assert plain.report(profile={"F": numpy.float32(0.1), "B": numpy.int64(3)}).makespan == plain.report(cost="F=0.1,B=3").makespan
    assert pipec.compile("gpipe", ranks=numpy.int32(3)).ranks == 3
    assert pipec.search(**SIZES, memory_limit=numpy.float32(2), effort=numpy.int64(1)).optimal
    refused(ValueError, "cost F is NaN, not a finite number", plain.report, cost={"F": numpy.float32("nan")})
    refused(TypeError, "cost F is", plain.report, cost={"F": numpy.array([1, 2])})
