# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Programs, profiles and schedules that are objects and not files, and what errors
show of them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import decimal
import fractions
import os
import pickle
import sys
import tempfile

import pipec

PROGRAM = """schedule mine(ranks p = 2, microbatches m = 3) {
  placement loop;
  steady { repeat m { F B } }
}
"""
plain = pipec.compile(source=PROGRAM, ranks=3)
assert (plain.name, plain.ranks, plain.microbatches) == ("mine", 3, 3)
assert pipec.compile(source=PROGRAM, target="torch").csv.count("0SEND_F0") == 1

# The text of an error has the source line with a mark, also of notes; the objects
# have it as `excerpt`.


def refused(call):
    try:
        call()
    except pipec.CompileError as error:
        assert isinstance(error, pipec.Error) and error.errors
        assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics
        return error
    raise AssertionError("there is no error")


error = refused(lambda: pipec.compile(source=PROGRAM.replace("repeat m", "repeat n")))
assert str(error) == ("<source>:3:19: error: unknown name `n`\n"
                      "  steady { repeat n { F B } }\n"
                      "                  ^"), str(error)
first = error.errors[0]
assert (first.file, first.line, first.column, first.end_line, first.end_column) == ("<source>", 3, 19, 3, 20), first
assert first.excerpt == "  steady { repeat n { F B } }\n                  ^\n"
error = refused(lambda: pipec.compile(source=PROGRAM.replace("loop", "lop")))
assert error.errors[0].notes[0].fixes == (pipec.Fix("<source>", 2, 13, 2, 16, "loop", "unsafe"),), error.errors[0].notes
assert error.errors[0].fixes == ()
error = refused(lambda: pipec.compile(source=PROGRAM.replace("F B", "B F")))
assert {d.file for d in error.diagnostics} | {n.file for d in error.diagnostics for n in d.notes} == {"<source>"}, error
assert str(error).count("^") >= 2, str(error)
assert refused(lambda: pipec.compile(source="")).errors[0].message == "no schedule in `<source>`"
# What looks like a CSV is a program here, too.
assert refused(lambda: pipec.compile(source="0F0,0B0\n")).errors[0].file == "<source>"
# A file has its own name, and an error without a place none.
with open("bad.pipe", "w") as file:
    file.write(PROGRAM.replace("repeat m", "repeat n"))
assert str(refused(lambda: pipec.compile("bad.pipe"))).startswith("bad.pipe:3:19: error: ")
assert str(refused(lambda: pipec.compile("zb1p", target="trch"))).startswith("pipec: error: ")
assert refused(lambda: pipec.compile("zb1p", target="trch")).errors[0].excerpt is None

for wrong in {}, {"path_or_name": "zb1p", "source": PROGRAM}:
    try:
        pipec.compile(**wrong)
        raise AssertionError(wrong)
    except TypeError as problem:
        assert "either" in str(problem)

# A profile is a file or its contents; numbers that JSON does not have are exact.
with open("costs.json", "w") as file:
    file.write('{"F": 0.5, "p2p": "1/3", "memory": {"limit": 9}}\n')
made = pipec.compile("gpipe", profile="costs.json", microbatches=4)
given = {"F": decimal.Decimal("0.5"), "p2p": fractions.Fraction(1, 3), "memory": {"limit": 9}}
assert pipec.compile("gpipe", profile=given, microbatches=4).ir == made.ir
assert pipec.compile("gpipe", profile={"F": 1e-2}).ir == pipec.compile("gpipe", cost={"F": 0.01}).ir
assert pipec.compile("gpipe", cost={"F": fractions.Fraction(1, 3), "B": decimal.Decimal("1E-2")}).ir == pipec.compile(
    "gpipe", cost="F=1/3,B=0.01").ir
error = refused(lambda: pipec.compile("gpipe", profile={"Q": 1}))
assert error.errors[0].file == "<profile>" and "Q" in error.errors[0].message, error
for wrong in {"profile": {"F": object()}}, {"ranks": 2.0}:
    try:
        pipec.compile("gpipe", **wrong)
        raise AssertionError(wrong)
    except TypeError:
        pass

# A CSV as text is named in messages as the schedule.
assert refused(lambda: pipec.Schedule.from_csv("0F0,0B0,xyz\n", name="own")).errors[0].file == "<own>"

# No file is left.
left = os.path.join(os.getcwd(), "temporary")
os.mkdir(left)
tempfile.tempdir = left
pipec.compile("gpipe", profile=given)
refused(lambda: pipec.compile("gpipe", profile={"Q": 1}))
pipec.compare(plain, ranks=3, microbatches=3, library=False, profile=given)
pipec.search(ranks=2, microbatches=2, start=["gpipe"], effort=1)
assert os.listdir(left) == [], os.listdir(left)

# Errors are of one family.
for kind in pipec.CompileError, pipec.PackageNotFound, pipec.ProgramNotFound:
    assert issubclass(kind, pipec.Error)
assert issubclass(pipec.PackageNotFound, ImportError) and issubclass(pipec.ProgramNotFound, FileNotFoundError)
os.environ["PIPEC"] = "/no/such/program"
try:
    pipec.compile("gpipe")
    raise AssertionError("compiled without a compiler")
except pipec.Error as problem:
    assert problem.diagnostics == () and "/no/such/program" in str(problem)
