"""Compiles and runs executors of programs whose files have odd names.

    file-names.py CXX ROOT DIR MAIN

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import shlex
import subprocess
import sys

cxx, root, folder, main = sys.argv[1:]
for name in "n\nl.pipe", "\\.pipe":
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("schedule m(ranks p = 1, microbatches m = 2) { placement loop; steady { repeat m { F B } } }\n")
    header = os.path.join(folder, "file-name.h")
    subprocess.run(["pipec", path, "--emit=cpp", "-o", header], check=True)
    with open(header) as file:
        print(next(line for line in file if "Written by" in line), end="", flush=True)
    subprocess.run([*shlex.split(cxx), "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{root}/include",
                    "-DPIPEC_SCHEDULE_ALIAS=compiled", "-include", header, main, "-o",
                    os.path.join(folder, "file-name"), "-pthread"], check=True)
    subprocess.run([os.path.join(folder, "file-name")], check=True)
