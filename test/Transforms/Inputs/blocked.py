"""A schedule of 20 ranks in which each waits for the next, and the last for all."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

RANKS = 20
print("pipec-steps 1")
print(f"schedule @blocked {{ ranks {RANKS} stages {RANKS} microbatches 1")
print("  map", *range(RANKS))
for rank in range(RANKS):
    print(f"  rank {rank} {{")
    # The last rank waits for the forward of the one before it.
    kinds = "FB" if rank == RANKS - 1 else "BF"
    for kind in kinds:
        print(f"    {kind} s{rank} m0")
    print("  }")
print("}")
