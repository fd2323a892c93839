#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times whole runs of pipec: program to verified torch CSV, at growing sizes.

    benchmarks/whole-runs.py build/release/bin/pipec [--runs N]

Prints, for each size, the lowered steps, the median time, the time a lowered
step, the peak memory a lowered step, and the ratio to the size before, which
has half the steps: linear work keeps that ratio near 2.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time


def run(command):
    """Wall seconds and peak resident bytes of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def lowered_steps(ranks, chunks, microbatches):
    """F and B of every stage, and a send and a receive for each of the two
    transfers across every border between stages."""
    stages = ranks * chunks
    return microbatches * (2 * stages + 4 * (stages - 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pipec")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    target = "--passes=strip-bubbles,insert-p2p"
    print(f"{'p':>4} {'v':>2} {'m':>6} {'steps':>10} {'seconds':>8} {'ns/step':>8} {'bytes/step':>10} {'ratio':>6}")
    before = None
    for ranks, chunks, microbatches in [
        (16, 4, 256), (16, 4, 512), (32, 4, 512), (64, 4, 512), (64, 4, 1024),
        (128, 4, 1024), (128, 4, 2048), (256, 4, 2048), (256, 4, 4096),
    ]:
        command = [arguments.pipec, "interleaved", f"-Dranks={ranks}", f"-Dchunks={chunks}",
                   f"-Dmicrobatches={microbatches}", target, "--emit=csv", "-o", os.devnull]
        runs = [run(command) for _ in range(arguments.runs)]
        seconds = statistics.median(r[0] for r in runs)
        memory = max(r[1] for r in runs)
        steps = lowered_steps(ranks, chunks, microbatches)
        ratio = f"{seconds / before:6.2f}" if before else ""
        print(f"{ranks:4} {chunks:2} {microbatches:6} {steps:10} {seconds:8.3f} "
              f"{seconds / steps * 1e9:8.1f} {memory / steps:10.1f} {ratio}", flush=True)
        before = seconds


if __name__ == "__main__":
    main()
