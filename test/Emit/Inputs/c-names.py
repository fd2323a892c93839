"""Compiles executors of schedules whose names C or C++ has already.

    c-names.py CXX ROOT DIR

One program for each pair of headers before or after the executor: `schedule_NAME`
and what the headers declare can both be used in it.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import shlex
import subprocess
import sys

cxx, root, folder = sys.argv[1:]
# With what a program says when it uses the name for what C means by it.
names = {
    "size_t": "size_t x = 1; (void)x;", "malloc": "free(malloc(1));", "getpid": "getpid();",
    "sched_yield": "::sched_yield();", "nullptr_t": "std::nullptr_t x = nullptr; (void)x;",
    "uint8_t": "uint8_t x = 1; (void)x;", "y0": "y0(1);", "j1": "j1(1);", "signgam": "signgam = 1;",
    "setjmp": "std::jmp_buf b; (void)setjmp(b);", "putc": "putc('x', stdout);", "getc": "(void)&::getc;",
    "errno": "errno = 0;", "stdin": "(void)stdin;", "time": "time(nullptr);", "EOF": "(void)EOF;",
    "INT_MAX": "(void)INT_MAX;", "int": "int x = 1; (void)x;", "linux": "", "unix": "", "main": "",
    "std": "", "pipec": "", "1f1b": "", "two words": "", "": "", "__x": "", "A": "", "a": "",
    # On no list: a function, a variable, a type and a macro.
    "posix_memalign": "(void)&::posix_memalign;", "optarg": "(void)::optarg;",
    "timespec": "struct timespec t; (void)t;", "offsetof": "", "mine": "mine::ranks;",
}
headers = ("cassert cctype cerrno climits cmath csetjmp csignal cstddef cstdint cstdio cstdlib cstring "
           "ctime fcntl.h sched.h strings.h sys/mman.h sys/stat.h sys/types.h unistd.h").split()
includes = "".join(f"#include <{header}>\n" for header in headers)

schedules, uses = "", ""
for number, (name, use) in enumerate(names.items()):
    steps = (f'pipec-steps 1\nschedule @"{name}" {{ ranks 1 stages 1 microbatches 1\n  map 0\n'
             "  rank 0 {\n    F s0 m0\n    B s0 m0\n  }\n}\n")
    path = os.path.join(folder, f"{number}.h")
    subprocess.run(["pipec", "-", "--passes=", "--emit=cpp", "-o", path], input=steps, text=True,
                   check=True)
    schedules += f'#include "{path}"\n'
    space = "schedule_" + "".join(c if c.isalnum() else "_" for c in name)
    uses += f"void use{number}() {{ (void){space}::ranks; (void){space}::schedule; {use} }}\n"

for order, text in ("before", includes + schedules), ("after", schedules + includes):
    path = os.path.join(folder, f"{order}.cpp")
    with open(path, "w") as file:
        file.write(text + uses)
    subprocess.run([*shlex.split(cxx), "-std=gnu++20", "-fsyntax-only", "-Wall", "-Wno-unused-value",
                    "-Wno-unused-result", "-Werror", f"-I{root}/include", path], check=True)
print(f"{len(names)} names compile, headers before and after")
