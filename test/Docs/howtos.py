# RUN: rm -rf %t && %python %s %root %t %build %cxx
"""The code of the pages on adding something compiles: their rows and functions are put
into copies of the sources that the pages name, which are then compiled."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import concurrent.futures
import pathlib
import re
import subprocess
import sys

root, work, build = map(pathlib.Path, sys.argv[1:4])
compiler = sys.argv[4:]
diagnostics = "Support/Diagnostics/"
end = "} // namespace pipec\n"


def blocks(page):
    """The fenced blocks of a page."""
    return re.findall(r"^```\w*\n(.*?)^```", (root / f"docs/{page}.md").read_text(), re.S | re.M)


def source(name):
    """The text of a source as the pages before have left it."""
    copy = work / "lib" / name
    return (copy if copy.exists() else root / "lib" / name).read_text()


def write(name, text):
    copy = work / "lib" / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)


def insert(name, text, before):
    """Puts `text` before the last place of `before`."""
    old = source(name)
    at = old.rindex(before)
    write(name, old[:at] + text + old[at:])


def replace(name, old, new):
    assert source(name).count(old) == 1, (name, old)
    write(name, source(name).replace(old, new))


row, message, function, *_ = blocks("AddingAPass")
insert("Transforms/Passes.def", row, "PIPEC_PASS(")
insert(diagnostics + "Passes.def", message, "PIPEC_ERROR")
write("Transforms/DropPhases.cpp", function)

_, row, call, *_ = blocks("AddingADiagnostic")
insert(diagnostics + "Sema.def", row, "PIPEC_ERROR")
replace("Sema/StmtChecker.cpp", "".join(call.splitlines(keepends=True)[:2]), call)

_, row, rule, function, call, *_ = blocks("AddingALintRule")
insert(diagnostics + "Verifier.def", row, "PIPEC_WARNING")
insert("Lint/LintRules.def", rule, "PIPEC_LINT_RULE(")
insert("Verify/TrainingRules.h", function.partition(" {\n")[0] + ";\n", end)
insert("Verify/TrainingRules.cpp", '#include "Support/Words.h"\n', "\nusing namespace llvm")
insert("Verify/TrainingRules.cpp", function, end)
insert("Lint/Lint.cpp", call, "  if (options.unusedUnshard")

row, old, new, *_, metric = blocks("AddingACostFigure")
insert("Cost/Metrics.def", metric, "PIPEC_METRIC(")
insert("Cost/Figures.def", row, "PIPEC_FIGURE(")
replace("Cost/Settings.cpp", old, new)

_, row, function, *_ = blocks("AddingAnOutputFormat")
insert("Emit/Emitters.def", row, "PIPEC_EMITTER(")
write("Emit/Counts.cpp", function)

_, message, declaration, function, row, reader, *_ = blocks("AddingAnInputFormat")
insert(diagnostics + "Import.def", message, "PIPEC_ERROR")
insert("Import/Readers.h", declaration, end)
write("Import/RowsReader.cpp", function)
insert("Driver/InputFormats.def", row, "PIPEC_INPUT_FORMAT(")
insert("Driver/InputFormat.cpp", reader, "static constexpr InputFormat formats")

includes = subprocess.run(["llvm-config", "--includedir"], capture_output=True, text=True, check=True).stdout.strip()
flags = ["-std=c++20", "-fsyntax-only", "-Wall", f"-I{work}/lib", f"-I{root}/lib", f"-I{build}/lib", f"-isystem{includes}"]
# The new metric is compiled here, and the names of the new format and pass there.
users = {root / "lib" / name for name in ("Simulation/ExpectCheck.cpp", "Emit/Emitter.cpp", "Transforms/Passes.cpp")}


def errors(file):
    return subprocess.run([*compiler, *flags, str(file)], capture_output=True, text=True).stderr


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for found in pool.map(errors, sorted(users.union(work.rglob("*.cpp")))):
        assert not found, found
