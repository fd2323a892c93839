"""Compares the makespans of executors in virtual time with those of the simulation.

    models.py CASES --cxx ... --root ... -o DIR

CASES is a file with one case a line: arguments of pipec. Every case is compiled to C++,
all of them become one program, which runs each under every model under which pipec
accepts it. Prints the cases that differ, writes all makespans to DIR/makespans, and fails
unless all are equal.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

COSTS = "F=3,B=5,I=2,W=4,p2p=1"
# The options of an executor that runs as a model describes.
OPTIONS = {"edge": "", "blocking": "options.blockingReceives = true;", "blocking-sends": "options.blocking = true;"}

parser = argparse.ArgumentParser()
parser.add_argument("cases")
parser.add_argument("--cxx", required=True)
parser.add_argument("--root", required=True)
parser.add_argument("-o", dest="out", required=True)
options = parser.parse_args()
os.makedirs(options.out, exist_ok=True)


def pipec(*arguments):
    return subprocess.run(["pipec", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


includes, calls, expected = "", "", {}
for i, case in enumerate(line.strip() for line in open(options.cases)):
    steps = f"{options.out}/case{i}.steps"
    made = pipec(*shlex.split(case), "--cost", COSTS, "--emit=ir", "-o", steps)
    code = pipec(steps, "--passes=", "--emit=cpp")
    if made.returncode or code.returncode:
        sys.exit(made.stderr + code.stderr)
    with open(f"{options.out}/case{i}.h", "w") as file:
        file.write(code.stdout)
    guard = re.search(r"^#ifndef (PIPEC_SCHEDULE_\w+)$", code.stdout, re.M).group(1)
    includes += f'#undef {guard}\nnamespace case{i} {{\n#include "case{i}.h"\n}}\n'
    for model, setting in OPTIONS.items():
        report = pipec(steps, f"--model={model}", "--emit=report", "--format=json")
        if report.returncode:
            assert "deadlock" in report.stderr, report.stderr
            continue
        expected[f"{case}: {model}"] = json.loads(report.stdout)["makespan"]
        calls += f"""  {{
    pipec::runtime::Options options;
    {setting}
    std::printf("%s %ld\\n", "{case}: {model}",
                makespan(case{i}::compiled::schedule, case{i}::compiled::run<Worker>, costs, options));
  }}
"""

numbers = ", ".join(re.findall(r"=(\d+)", COSTS))
with open(f"{options.out}/main.cpp", "w") as file:
    file.write(f"""#include "{os.path.dirname(os.path.abspath(__file__))}/VirtualTime.h"
#include <cstdio>
#define PIPEC_SCHEDULE_ALIAS compiled
{includes}
int main() {{
  using namespace virtualtime;
  const Costs costs = {{{numbers}}};
{calls}}}
""")
program = f"{options.out}/main"
subprocess.run([*shlex.split(options.cxx), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{options.root}/include",
                f"-I{options.out}", f"{options.out}/main.cpp", "-o", program, "-pthread"], check=True)
output = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
with open(f"{options.out}/makespans", "w") as file:
    file.write(output)
found = dict(line.rsplit(" ", 1) for line in output.splitlines())
assert found.keys() == expected.keys()
equal = 0
for case, makespan in expected.items():
    equal += int(found[case]) == makespan
    if int(found[case]) != makespan:
        print(f"FAILED: {case}: {found[case]}, simulated {makespan}")
print(f"{equal} of {len(expected)} makespans are equal")
sys.exit(equal != len(expected))
