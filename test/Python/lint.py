# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Verdicts of schedules and files."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pipec

MODELS = ["stream", "pair", "edge", "buffered"]

good_schedule = pipec.compile("interleaved", ranks=2, chunks=2, microbatches=4, target="torch")
good = good_schedule.lint()
assert good and not good.findings and good.safe == dict.fromkeys(MODELS, True)
assert good.pytorch == {"2.13": False, "2.15": True}
assert not good.pytorch_reasons["2.15"]
reason = good.pytorch_reasons["2.13"][0]
assert str(good) == ("safe under: stream pair edge buffered\n"
                     f"PyTorch 2.13: no: {reason.message}\n"
                     "PyTorch 2.15: yes"), str(good)

# A deadlock under stricter communicators only, and a gradient that is not
# divided.
with open("meet.csv", "w") as file:
    file.write("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD\n"
               "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n")
found = pipec.lint("meet.csv")
assert not found and [found.safe[m] for m in MODELS] == [False, False, True, True]
assert good.blocking and found.blocking
kinds = {finding.kind: finding for finding in found.findings}
assert kinds["ReduceGradMissing"].severity == "error" and "REDUCE_GRAD s1" in kinds["ReduceGradMissing"].message
assert kinds["Deadlock"].line == 1 and kinds["Deadlock"].notes
assert "ReduceGradMissing" in {finding.kind for finding in found.errors}
edge = pipec.lint("meet.csv", require="edge")
assert {f.kind: f.severity for f in edge.findings}["Deadlock"] == "warning"

# Which PyTorch a schedule is right for.
for target, versions in {"torch-2.13": [True, False], "torch-2.15": [False, True], "torch-compute": [True, True]}.items():
    verdict = pipec.compile("interleaved", ranks=2, chunks=2, microbatches=4, target=target).lint()
    assert verdict.pytorch == dict(zip(["2.13", "2.15"], versions)), (target, verdict.pytorch)
assert not any(found.pytorch.values())

# Grades; the same through step IR.
with open("order.csv", "w") as file:
    file.write("0F1,0F0,0B1,0B0\n")
assert not pipec.lint("order.csv")
assert pipec.lint("order.csv", grades={"loss-order": "note"})
order = pipec.compile("order.csv")
assert not order.lint() and order.lint(grades={"loss-order": "off"})
assert order.lint().findings[0].position == 1


# A schedule as an argument is named in the findings, and a text is the source. The text
# of a result has the lines of the findings.
assert {f.file for f in pipec.lint(order).findings} == {"<order>"} and {f.file for f in order.lint().findings} == {"<source>"}
assert pipec.lint("zb1p") and pipec.lint(good_schedule).pytorch == good.pytorch
assert f"{order.lint().findings[0].excerpt}" in str(order.lint())

try:
    pipec.lint("order.csv", require="telepathy")
    raise AssertionError("a model that there is not")
except pipec.CompileError as error:
    assert "telepathy" in str(error)

# A file that cannot be read is safe under no model, right for no PyTorch, and
# says why.
with open("bad.csv", "w") as file:
    file.write("0F0xyz\n")
bad = pipec.lint("bad.csv")
assert not bad and not any(bad.safe.values()) and not any(bad.pytorch.values()) and bad.errors[0].kind == "CsvTrailingText", bad
