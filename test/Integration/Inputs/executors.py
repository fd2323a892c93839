"""Builds and runs many executors in one program.

    executors.py train  --cxx ... --root ... --build ... -o DIR CASES
    executors.py expand ...

CASES is a file with one case a line: arguments of pipec, in which %S is the
folder of the file. Every case is compiled to C++ in each form named by
--forms, all of them become one source, which is compiled once.

train: each executor trains the example model, ranks as threads. Prints one line
a case; fails unless losses and gradients of all are equal to the unpipelined
model's.

expand: each executor runs with a worker that writes down what it is told, and
the result is compared with the step list of `pipec --emit=ir`.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["train", "expand"])
parser.add_argument("cases")
parser.add_argument("--cxx", required=True)
parser.add_argument("--root", required=True)
parser.add_argument("--build", required=True)
parser.add_argument("--forms", default="loops,table")
parser.add_argument("--arguments", default="--steps 2")
parser.add_argument("-o", dest="out", required=True)
options = parser.parse_args()
os.makedirs(options.out, exist_ok=True)


def pipec(arguments):
    return subprocess.run(["pipec", *arguments], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def read_cases():
    folder = os.path.dirname(os.path.abspath(options.cases))
    for line in open(options.cases):
        line = line.split("#")[0].strip()
        if line:
            yield line.replace("%S", folder)


class Case:
    def __init__(self, index, text, form):
        self.text, self.form = f"{text} ({form})", form
        self.arguments = shlex.split(text)
        self.name = f"case{index}"
        self.header = f"{options.out}/{self.name}.h"
        code = pipec([*self.arguments, "--emit=cpp", f"--cpp={form}"])
        with open(self.header, "w") as file:
            file.write(code)
        self.guard = re.search(r"^#ifndef (PIPEC_SCHEDULE_\w+)$", code, re.M).group(1)


forms = options.forms.split(",")
cases = [Case(i * len(forms) + k, text, form)
         for i, text in enumerate(read_cases()) for k, form in enumerate(forms)]
if not cases:
    sys.exit("no cases")

with open(f"{options.out}/main.cpp", "w") as main:
    main.write('#include "%s"\n#include <cstdio>\n'
               % ("Threads.h" if options.mode == "train" else
                  f"{os.path.dirname(os.path.abspath(__file__))}/Recorder.h"))
    main.write("#define PIPEC_SCHEDULE_ALIAS compiled\n")
    for case in cases:
        main.write(f'#undef {case.guard}\nnamespace {case.name} {{\n#include "{case.name}.h"\n}}\n')
    main.write("int main(int argc, char **argv) {\n  (void)argc, (void)argv;\n  int failed = 0;\n")
    for case in cases:
        if options.mode == "train":
            main.write(
                f'  std::printf("== {case.name}\\n");\n'
                f"  if (train::trainOnThreads(argc, argv, {case.name}::compiled::schedule,\n"
                f"                            {case.name}::compiled::run<train::ThreadWorker>))\n"
                f"    ++failed;\n")
        else:
            main.write(f'  record("{case.name}", {case.name}::compiled::schedule,\n'
                       f"         {case.name}::compiled::run<Recorder>);\n")
    main.write("  return failed != 0;\n}\n")

program = f"{options.out}/main"
command = [*shlex.split(options.cxx), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror",
           f"-I{options.root}/include", f"-I{options.root}/examples/train", f"-I{options.out}",
           f"{options.out}/main.cpp", "-o", program, "-pthread"]
if options.mode == "train":
    command.append(f"{options.build}/examples/train/libpipec-example-threads.a")
subprocess.run(command, check=True)
run = subprocess.run([program, *shlex.split(options.arguments)] if options.mode == "train"
                     else [program], stdout=subprocess.PIPE, text=True)

failed = 0
texts = {case.name: [] for case in cases}
current = None
for line in run.stdout.splitlines():
    if line.startswith("== "):
        current = texts[line[3:]]
    else:
        current.append(line)


def expected_steps(case):
    """The list of `pipec --emit=ir`, one string a step, without bubbles."""
    target = [] if any(a.startswith(("--passes", "--target")) for a in case.arguments) else ["--target=cpp"]
    steps = []
    for line in pipec([*case.arguments, *target, "--emit=ir"]).splitlines():
        line = re.sub(r"\s*(@\S+|//.*)?$", "", line.strip())
        if re.match(r"rank \d+ \{$", line):
            steps.append(line[:-2])
        elif re.match(r"(overlap|batch|F|B|I|W|SEND_[FB]|RECV_[FB]|UNSHARD|RESHARD|REDUCE_GRAD) ", line):
            steps.append(re.sub(r" (->|<-) r\d+", "", line))
    return steps


for case in cases:
    text = texts[case.name]
    if options.mode == "train":
        verdict = text[-1] if text else "no output"
        good = verdict.startswith("equal:")
    else:
        wanted = expected_steps(case)
        good = text == wanted and len(wanted) > 0
        verdict = f"{len(wanted)} lines equal" if good else next(
            (f"line {i}: wrote `{a}`, the list has `{b}`"
             for i, (a, b) in enumerate(zip(text + [""], wanted + [""])) if a != b), "no steps")
    print(f"{'ok' if good else 'FAILED'}: {case.text}: {verdict}")
    if not good and options.mode == "train":
        print("\n".join("    " + line for line in text))
    failed += not good
print(f"{len(cases) - failed} of {len(cases)} executors are right")
sys.exit(1 if failed or run.returncode else 0)
