"""Prints a schedule with one step in each of N phases."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

n = int(sys.argv[1])
print("pipec-steps 1")
print(f"schedule @phases {{ ranks 1 stages 1 microbatches {n}")
print("  forward_only")
print("  map 0")
print("  rank 0 {")
for i in range(n):
    print(f"    p{i}:")
    print(f"      F s0 m{i}")
print("  }")
print("}")
