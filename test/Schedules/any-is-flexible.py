# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wherever interleaved_flexible takes a size, interleaved_any has the same
order; and interleaved_any takes every size."""

import subprocess


def order(name, p, v, m):
    run = subprocess.run(["pipec", name, f"-Dranks={p}", f"-Dchunks={v}", f"-Dmicrobatches={m}", "--emit=csv"],
                         capture_output=True, text=True)
    assert run.returncode == (0 if run.stdout else 1), (name, p, v, m)
    return run.stdout


same = 0
for p in range(1, 9):
    for v in range(1, 5):
        for m in range(1, 4 * p + 1):
            of_any = order("interleaved_any", p, v, m)
            assert of_any, (p, v, m)
            flexible = order("interleaved_flexible", p, v, m)
            assert flexible in ("", of_any), (p, v, m)
            same += flexible != ""
assert same > 400, same
print(same, "sizes compared")
