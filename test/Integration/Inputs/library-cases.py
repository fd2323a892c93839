"""Writes cases for executors.py: every schedule of the library at the sizes at
which it exists. With --all a wider grid; fails when a schedule exists at fewer
than two sizes.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import subprocess
import sys

sizes = [(1, 3, 1), (2, 6, 2), (4, 8, 2), (4, 20, 2), (3, 7, 2)]
if "--all" in sys.argv:
    sizes = [(p, m, v) for p in (1, 2, 3, 4, 6, 8) for v in (1, 2, 3)
             for m in (1, 2, p, p + 1, 2 * p, 3 * p + 1, 4 * p)]
    sizes = list(dict.fromkeys(sizes))


def pipec(*arguments):
    return subprocess.run(["pipec", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


names = [line.split()[0] for line in pipec("--list").stdout.splitlines() if line.strip()]
if not names:
    sys.exit("the library is empty")
for name in names:
    takes_chunks = "chunks" in pipec(name, "--describe").stdout
    found = 0
    for p, m, v in sizes:
        case = [name, f"-Dranks={p}", f"-Dmicrobatches={m}"]
        if takes_chunks:
            case.append(f"-Dchunks={v}")
        elif v != sizes[0][2] and "--all" in sys.argv:
            continue
        run = pipec(*case, "--emit=cpp", "-o", "/dev/null")
        if run.returncode == 0:
            print(" ".join(case))
            found += 1
        elif "error" not in run.stderr:
            sys.exit(f"pipec failed without an error: {' '.join(case)}\n{run.stderr}")
    if found < 2:
        sys.exit(f"`{name}` exists at {found} sizes only")
