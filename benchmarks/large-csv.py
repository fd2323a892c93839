#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a CSV of more than a gigabyte: time and peak memory.

    benchmarks/large-csv.py build/release/bin/pipec [--microbatches M]

Writes interleaved 1F1B with 256 ranks and 4 chunks, lowered for PyTorch, into a
temporary folder; then checks it with `pipec lint`, and reads it and writes it
again, which has to give the same bytes.
"""

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
import time


def run(title, command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    print(f"{title:<12} {time.perf_counter() - start:6.2f} s  user {usage.ru_utime:6.2f} s  "
          f"peak {usage.ru_maxrss / 1024:7.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipec")
    parser.add_argument("--microbatches", type=int, default=14080)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        large, again = (os.path.join(folder, name) for name in ("large.csv", "again.csv"))
        run("write", [options.pipec, "interleaved", "-Dranks=256", "-Dchunks=4",
                      f"-Dmicrobatches={options.microbatches}", "--target=torch-2.13", "--emit=csv", "-o", large])
        print(f"{os.path.getsize(large):,} bytes")
        run("lint", [options.pipec, "lint", large])
        run("read, write", [options.pipec, large, "--emit=csv", "-o", again])
        if not filecmp.cmp(large, again, shallow=False):
            sys.exit("what was read is not what is written")


main()
