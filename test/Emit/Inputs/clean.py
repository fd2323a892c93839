"""Checks the text of every executor of the library, as loops and as a table:
clang-format changes nothing, and a compiler that is not the build's own warns of
nothing.

    clean.py CLANG-FORMAT CLANG ROOT DIR

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import subprocess
import sys

clang_format, clang, root, folder = sys.argv[1:]


def pipec(*arguments):
    return subprocess.run(["pipec", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


names = [line.split()[0] for line in pipec("--list").splitlines() if line.strip()]
files, code, runs = [], ['#include "Threads.h"', "#define PIPEC_SCHEDULE_ALIAS compiled"], []
for name in names:
    for form in "loops", "table":
        path = f"{folder}/{name}.{form}.h"
        text = pipec(name, "-Dranks=4", "-Dmicrobatches=8", "--emit=cpp", f"--cpp={form}")
        with open(path, "w") as file:
            file.write(text)
        guard = re.search(r"^#ifndef (PIPEC_SCHEDULE_\w+)$", text, re.M).group(1)
        code.append(f'#undef {guard}\nnamespace case{len(files)} {{\n#include "{path}"\n}}')
        runs.append(f"case{len(files)}::compiled::run<train::ThreadWorker>,")
        files.append(path)
assert len(names) > 15, names

subprocess.run([clang_format, "--style=LLVM", "--dry-run", "-Werror", *files], check=True)

# All of them with the executor's own code, which the first line only declares.
with open(f"{folder}/all.cpp", "w") as file:
    file.write("\n".join(code) + "\ntemplate class pipec::runtime::Executor<train::Model, "
               "pipec::runtime::ThreadTransport>;\nvoid (*const runs[])(int, train::ThreadWorker &) = {\n"
               + "\n".join(runs) + "\n};\nint main() { return runs[0] == nullptr; }\n")
subprocess.run([clang, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{root}/include",
                f"-I{root}/examples/train", f"{folder}/all.cpp"], check=True)
print(f"{len(files)} executors are formatted and without a warning")
