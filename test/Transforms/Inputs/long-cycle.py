# A forward-only schedule of N ranks, two chunks each, in which every rank sends
# before it receives: once all ranks are busy, each waits for the next one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

n = int(sys.argv[1])
stages = 2 * n
print(f"pipec-steps 1\nschedule @ring {{ ranks {n} stages {stages} "
      f"microbatches {n}\n  forward_only")
print("  map " + " ".join(str(s % n) for s in range(stages)))
for r in range(n):
    print(f"  rank {r} {{")
    for i in range(2 * n):
        stage, m = r + n * (i // n), i % n
        if stage != 0 and i == 0:
            print(f"    RECV_F s{stage} m{m} <- r{(r - 1) % n}")
        print(f"    F s{stage} m{m}")
        if stage != stages - 1:
            print(f"    SEND_F s{stage} m{m} -> r{(r + 1) % n}")
        if i + 1 != 2 * n:
            stage, m = r + n * ((i + 1) // n), (i + 1) % n
            if stage != 0:
                print(f"    RECV_F s{stage} m{m} <- r{(r - 1) % n}")
    print("  }")
print("}")
