"""Prints a schedule whose N ranks wait for each other in one ring: every rank
has its second chunk before its first, so that the head of rank r waits for the
head of rank r - 1, and that of rank 0 for the second step of rank N - 1."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

n = int(sys.argv[1])
print("pipec-steps 1")
print(f"schedule @ring {{ ranks {n} stages {2 * n} microbatches 1")
print("  map", *[s % n for s in range(2 * n)])
for r in range(n):
    print(f"  rank {r} {{")
    for s in (r + n, r):
        print(f"    F s{s} m0")
    for s in (r + n, r):
        print(f"    B s{s} m0")
    print("  }")
print("}")
