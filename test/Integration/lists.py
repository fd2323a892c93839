# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %python %s %root %cxx
"""One program runs every schedule of the library that `--target=cpp` compiles, read at
run time as step IR and as CSV: examples/runtime/lists.cpp, whose gradients have a
closed form."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import subprocess
import sys

root, compiler = sys.argv[1], sys.argv[2:]
subprocess.run([*compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", f"{root}/examples/runtime/lists.cpp", "-o",
                "lists", "-pthread"], check=True)


def pipec(*args):
    return subprocess.run(["pipec", *args], capture_output=True, text=True)


def run(*files):
    """The output, and whether the run was refused."""
    done = subprocess.run(["./lists", *files], capture_output=True, text=True, timeout=120)
    return done.stdout, done.returncode


names = [line.split()[0] for line in pipec("--list").stdout.splitlines() if line.startswith("  ") or line[:1].islower()]
files, expected = [], []
for name in dict.fromkeys(names):
    for ranks, microbatches in (2, 4), (4, 8), (3, 6):
        for form, more in ("ir", []), ("csv", []), ("ir", ["--passes=cpp,insert-waits"]):
            path = f"{name}-{ranks}-{len(files)}.{'steps' if form == 'ir' else 'csv'}"
            made = pipec(name, f"ranks={ranks}", f"microbatches={microbatches}", *(more or ["--target=cpp"]),
                         f"--emit={form}", "-o", path)
            head = pipec(name, f"ranks={ranks}", f"microbatches={microbatches}", "--emit=ir").stdout
            if made.returncode or re.search("forward_only| slices ", head) or "  map" not in head or len(re.findall("^  map", head, re.M)) > 1:
                continue
            stages = int(re.search(r"stages (\d+)", head).group(1))
            rows = sum(1 + 0.1 * k for k in range(microbatches))
            files.append(path)
            expected.append(f"{path}: {ranks} ranks, {microbatches} micro-batches, "
                            f"sum of the gradients {stages * 0.9 ** (stages - 1) * rows:.3f}")
assert len(files) > 60, len(files)
with open(files[0]) as file, open("ordered.steps", "w") as ordered:
    count = int(re.search(r", (\d+) micro-batches", expected[0]).group(1))
    order = " ".join(map(str, reversed(range(count))))
    ordered.write(re.sub(r"(?m)^(  map .*)$", rf"\1\n  order {order}", file.read(), count=1))
files.append("ordered.steps")
expected.append(expected[0].replace(files[0], "ordered.steps"))
output, code = run(*files)
found = output.splitlines()
assert code == 0 and len(found) == len(expected), found[-1:]
for one, other in zip(found, expected):
    assert one[:-1] == other[:-1], (one, other)  # the last digit may be rounded otherwise

# Files that are refused, with the place.
for text, message in [
        ("pipec-steps 3\n", "x:1: version 3 of step IR is not supported"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 1\n", "x:2: the file ends before the schedule does"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 2 microbatches 1\n map 0\n", "x:3: the map has 1 entries for 2 stages"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 1\n maps 0\n", "x:3: `maps 0` is not an entry of a schedule"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 1\n map 0\n rank 0 {\n F s1 m0\n", "x:5: stage 1 is out of range"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 1\n map 0\n rank 0 {\n F s0 m0 m1\n", "x:5: `m1` is not expected here"),
        ("pipec-steps 1\nschedule @a { ranks 2 stages 2 microbatches 1\n map 0 1\n rank 0 {\n}\n}\n", "x:6: the file has 1 lists for 2 ranks"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 2\n map 0\n order 1 1\n", "x:4: micro-batch 1 is in the order twice"),
        ("pipec-steps 1\nschedule @a { ranks 1 stages 1 microbatches 2\n map 0\n order 1\n", "x:4: the order has 1 of 2 micro-batches"),
        ("0F0,0X0\n", "x:1, cell 2: `X` is not a step"), ("0F0,0F0y\n", "x:1, cell 2: `y` is not part of a step"),
        ("0F0\n0B0\n", "x:2, cell 1: stage 0 is also on rank 0"), ("0F0\n2F0\n", "x: no rank has a step of stage 1"),
        ("", "x: there are no steps"), ("0F0\n1F0\n", "x: there are no transfers between ranks")]:
    with open("x", "w", encoding="utf-8") as file:
        file.write(text)
    output, code = run("x")
    assert code == 1 and output.startswith(message), (text, output)
# A step that is missing is found in the run, as in a generated executor.
with open("x", "w", encoding="utf-8") as file:
    file.write("0F0,0SEND_F0\n1RECV_F0,1F0,1B0,1SEND_B0\n")
output, code = run("x")
assert code == 1 and "the run ended without B or I s0 m0 (rank 0)" in output, output
