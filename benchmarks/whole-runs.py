#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times whole runs of pipec: program to verified torch CSV, at growing sizes.

    benchmarks/whole-runs.py build/release/bin/pipec [--target NAME] [--runs N]

Prints, for each size, the lowered steps, the least time of the processor (user
and system), that a lowered step, the peak memory a lowered step, and the ratio
to the size before, which has half the steps: linear work keeps that ratio near
2.
"""

import argparse
import os
import subprocess
import sys


def run(command):
    """Processor seconds and peak resident bytes of one run."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def lowered_steps(ranks, chunks, microbatches):
    """F and B of every stage, and a send and a receive for each of the two
    transfers across every border between stages. FSDP actions, some twenty a
    stage, are not counted."""
    stages = ranks * chunks
    return microbatches * (2 * stages + 4 * (stages - 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pipec")
    parser.add_argument("--target", default="torch-2.13")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'p':>4} {'v':>2} {'m':>6} {'steps':>10} {'seconds':>8} {'ns/step':>8} {'bytes/step':>10} {'ratio':>6}")
    before = None
    for ranks, chunks, microbatches in [
        (16, 4, 256), (16, 4, 512), (32, 4, 512), (64, 4, 512), (64, 4, 1024),
        (128, 4, 1024), (128, 4, 2048), (256, 4, 2048), (256, 4, 4096),
    ]:
        command = [arguments.pipec, "interleaved", f"-Dranks={ranks}", f"-Dchunks={chunks}",
                   f"-Dmicrobatches={microbatches}", f"--target={arguments.target}", "--emit=csv", "-o", os.devnull]
        runs = [run(command) for _ in range(arguments.runs)]
        seconds = min(r[0] for r in runs)
        memory = max(r[1] for r in runs)
        steps = lowered_steps(ranks, chunks, microbatches)
        ratio = f"{seconds / before:6.2f}" if before else ""
        print(f"{ranks:4} {chunks:2} {microbatches:6} {steps:10} {seconds:8.3f} "
              f"{seconds / steps * 1e9:8.1f} {memory / steps:10.1f} {ratio}", flush=True)
        before = seconds


if __name__ == "__main__":
    main()
