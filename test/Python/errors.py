# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""What is wrong raises an exception that says where."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import copy
import os
import pickle

import pipec


def refused(*args, **keywords):
    try:
        pipec.compile(*args, **keywords)
    except pipec.CompileError as error:
        assert error.errors and set(error.errors) <= set(error.diagnostics)
        return error
    raise AssertionError(f"{args} {keywords} compiled")


with open("bad.pipe", "w") as file:
    file.write("schedule a(ranks p = 2, microbatches m = 2) {\n  placement loop;\n  steady { repeat n { F B } }\n}\n")
error = refused("bad.pipe")
first = error.errors[0]
assert (first.kind, first.file, first.line, first.column) == ("UnknownName", "bad.pipe", 3, 19), first
assert str(error).startswith("bad.pipe:3:19: error: "), error
assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics
assert copy.copy(first) == first

# A refusal of a target names the step, and what to do.
error = refused("interleaved_overlap_bf", ranks=2, microbatches=4, target="torch")
assert "B s2 m0 & F s0 m3" in error.errors[0].message
assert [note.kind for note in error.errors[0].notes] == ["NoteOverlapFunction", "NoteUnpairFirst", "NoteExecutor"]
pipec.compile("interleaved_overlap_bf", ranks=2, microbatches=4, passes="unpair,torch")

assert refused("no_such_schedule").errors[0].kind == "InputNotFound"
assert refused("zb1p", ranks=2, target="torch", passes="torch").errors[0].kind == "OptionsExclusive"
assert refused("zb1p", rnks=2).errors
assert refused("zb1p", target="trch").errors[0].notes[0].kind == "NoteDidYouMean"
with open("bad.csv", "w") as file:
    file.write("0F0xyz\n")
assert refused("bad.csv").errors[0].kind == "CsvTrailingText"
for wrong in "4", 4.0, True:
    try:
        pipec.compile("zb1p", ranks=wrong)
        raise AssertionError(wrong)
    except TypeError as problem:
        assert "ranks" in str(problem)

# A file is what it is, also when its name looks like an option or a command.
program = "schedule a(ranks p = 2, microbatches m = 2) { placement loop; steady { repeat m { F B } } }\n"
for name in "-dash.pipe", "a=b.pipe", "check", "lint":
    with open(name, "w") as file:
        file.write(program)
    assert pipec.compile(name).name == "a", name
    assert "microbatches" in pipec.describe(name), name
assert pipec.lint("-dash.pipe").findings == () and pipec.lint("a=b.pipe").findings == ()
for option in "--list", "--help", "--version":
    assert [found.kind for found in pipec.lint(option).errors] == ["InputNotFound"], option
for call in pipec.compile, pipec.describe:
    for option in "--list", "--help", "--version":
        try:
            call(option)
            raise AssertionError(f"{call.__name__}({option}) returned")
        except pipec.CompileError as problem:
            assert problem.errors[0].kind == "InputNotFound", problem

# What is not step IR is said to be none, and an output is not chosen twice.
assert refused("zb1p", args=["--emit=csv"])
for chooses in (lambda: pipec.compile("zb1p", args=["-o", "elsewhere.steps"]),
                lambda: pipec.render("zb1p", format="svg", args=["-o", "elsewhere.svg"])):
    try:
        chooses()
        raise AssertionError("the output is elsewhere")
    except pipec.CompileError as problem:
        assert "`--output` is given twice" in str(problem), problem
os.environ["PIPEC"] = "/bin/true"
try:
    pipec.compile("zb1p")
    raise AssertionError("/bin/true compiled")
except ValueError as problem:
    assert "there is no text" in str(problem), problem
del os.environ["PIPEC"]

# A file is written whole or not at all.
with open("keep.csv", "w") as file:
    file.write("kept\n")
os.chmod("keep.csv", 0o640)
batches = pipec.compile("one_f_one_b", passes="insert-p2p,batch-p2p", ranks=2, microbatches=3)
try:
    batches.write_csv("keep.csv")
    raise AssertionError("batches have no cells")
except pipec.CompileError:
    assert open("keep.csv").read() == "kept\n"
plain = pipec.compile("one_f_one_b", ranks=2, microbatches=3)
os.symlink("keep.csv", "link.csv")
plain.write_csv("link.csv")
assert os.path.islink("link.csv") and open("keep.csv").read() == plain.csv
assert os.stat("keep.csv").st_mode & 0o777 == 0o640
plain.write_csv("/dev/null")
assert not os.path.isfile("/dev/null")
try:
    plain.write_csv("no_such_folder/a.csv")
    raise AssertionError("written into no folder")
except FileNotFoundError as problem:
    assert problem.filename.endswith("no_such_folder/a.csv"), problem
assert not [name for name in os.listdir() if name.startswith(".pipec")]

# No compiler, and one that is not a compiler.
path = os.environ["PATH"]
os.environ["PATH"] = os.getcwd()
for named in None, "/no/such/program":
    if named:
        os.environ["PIPEC"] = named
    try:
        pipec.compile("zb1p")
        raise AssertionError("compiled without a compiler")
    except pipec.ProgramNotFound:
        pass
os.environ["PATH"] = path
with open("odd", "w") as file:
    file.write("#!/bin/sh\necho 'what is this' >&2\nexit 3\n")
os.chmod("odd", 0o755)
os.environ["PIPEC"] = os.path.abspath("odd")
assert refused("zb1p").errors[0].message == "what is this"
