#!/usr/bin/env python3
"""Compares the output of two builds of pipec for a few thousand command lines.

    compare-builds.py BIN BIN [--limit=N] [--jobs=N] [--keep-messages]

BIN is a folder with `pipec` and `pipec-opt`, such as build/release/bin. Every
schedule of the library runs with several sizes, costs, targets, pass lists and
output formats, and through the commands that check and compare schedules.
Standard output must be equal byte for byte, except for blanks and comments in C++,
and so must the exit status. Texts of messages are compared only with
--keep-messages.

Run it once before landing a change that must not change behaviour: save the old
build (`cp -r build/release build/before`), rebuild, and compare the two.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import concurrent.futures
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

SIZES = [(2, 2), (2, 8), (4, 8), (4, 12), (8, 16)]
COSTS = [[], ["--cost=F=2", "--cost=B=5", "--cost=p2p=1"], ["--cost=F=3/2", "--cost=W=1", "--cost=I=2"]]
TARGETS = ["", "cpp", "torch", "torch-timed", "torch-2.13", "torch-2.13-timed", "torch-compute"]
PASSES = ["align-bubbles", "insert-p2p", "insert-p2p{order=timed}", "insert-p2p,batch-p2p", "merge-backward",
          "split-backward", "inject-fsdp,insert-p2p", "insert-p2p,insert-waits", "insert-p2p,insert-waits{budget=2}",
          "defer-weight", "pair-overlap", "insert-p2p,detect-deadlock"]
FORMATS = ["ir", "report", "dot", "timeline", "trace", "svg", "html", "hyperparallel"]


def corpus(pipec):
    """Command lines, each a list of words after the program's name."""
    listed = subprocess.run([pipec, "--list"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^(\w+)", listed, re.M)
    for name in names:
        for words in [["--emit=source"], ["--emit=ast"], ["--describe"]]:
            yield [name, *words] if words[0] != "--describe" else ["--describe", name]
        for p, m in SIZES:
            sizes = [f"--ranks={p}", f"--microbatches={m}"]
            for costs, target in itertools.product(COSTS, TARGETS):
                yield [name, *sizes, *costs, *([f"--target={target}"] if target else []), "--emit=ir"]
            for target in TARGETS[2:]:
                yield [name, *sizes, f"--target={target}", "--emit=csv"]
            for target in ["torch", "torch-2.13"]:
                yield [name, *sizes, f"--target={target}", "--emit=torch-config"]
            yield [name, *sizes, "--emit=cpp"]
            yield [name, *sizes, "--emit=cpp", "--cpp=table"]
            for passes in PASSES:
                yield [name, *sizes, f"--passes={passes}", "--emit=ir"]
            for format in FORMATS:
                yield [name, *sizes, *COSTS[1], f"--emit={format}"]
            yield ["lint", name, *sizes, "--format=json"]
            yield ["lint", name, *sizes, "--target=torch"]
            yield ["explain", name, *sizes, "--rank=0", "--at=3"]
            yield ["diff", name, "gpipe", *sizes]
    yield ["check", *names, "--grid", "ranks=2..4", "microbatches=4,8"]
    for p, m in SIZES:
        yield ["compare", f"--ranks={p}", f"--microbatches={m}"]


def run(folder, words, keep_messages):
    command = [str(folder / "pipec"), *words]
    result = subprocess.run(command, capture_output=True, cwd=WORK)
    # Positions contain the path of the library of each build.
    out, messages = (text.replace(str(folder.parent).encode(), b"BUILD") for text in (result.stdout, result.stderr))
    if "--emit=cpp" in words:
        out = re.sub(rb"/\*.*?\*/|//[^\n]*", b"", out, flags=re.S)
        out = b"".join(out.split())
    return result.returncode, out, messages if keep_messages else b""


def main():
    parser = argparse.ArgumentParser(description="Compares what two builds of pipec write.")
    parser.add_argument("bins", nargs=2, type=pathlib.Path)
    parser.add_argument("--limit", type=int, help="run the first N command lines only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep-messages", action="store_true", help="compare standard error too")
    args = parser.parse_args()
    first, second = (folder.resolve() for folder in args.bins)
    lines = list(itertools.islice(corpus(first / "pipec"), args.limit))

    def compare(words):
        before = run(first, words, args.keep_messages)
        return before == run(second, words, args.keep_messages), before[0]

    differ = refused = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for words, (equal, status) in zip(lines, pool.map(compare, lines)):
            refused += status != 0
            if not equal:
                differ += 1
                print("differs: pipec", " ".join(words))
    print(f"{len(lines)} command lines, {differ} differ; the first build refused {refused}")
    sys.exit(differ != 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as WORK:
        main()
