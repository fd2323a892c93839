"""GPipe with one micro-batch: one rank of many works at a time."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

RANKS = 17000
print("pipec-steps 1")
print(f"schedule @serial {{ ranks {RANKS} stages {RANKS} microbatches 1")
print("  map", *range(RANKS))
for rank in range(RANKS):
    print(f"  rank {rank} {{\n    F s{rank} m0\n    B s{rank} m0\n  }}")
print("}")
