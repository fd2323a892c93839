# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %megatron-python -m pipec.dump megatron --ranks=4 --microbatches=9 --chunks=2 --group=5 -o recorded.steps
# RUN: pipec lint recorded.steps --require=pair
# RUN: pipec recorded.steps --emit=megatron-config | FileCheck %s --check-prefix=GROUP
# GROUP: "microbatch_group_size_per_vp_stage": 5,
# RUN: %megatron-python -m pipec.dump megatron --ranks=4 --microbatches=8 > plain.steps
# RUN: pipec plain.steps --emit=megatron-config | FileCheck %s --check-prefix=PLAIN
# PLAIN: "command_line": "--pipeline-model-parallel-size 4",
# RUN: pipec interleaved ranks=2 microbatches=4 chunks=2 --emit=te-order -o order.json
# RUN: %python -m pipec.dump megatron --order order.json | pipec diff - interleaved ranks=2 microbatches=4 chunks=2 --exit-code

# What Megatron refuses, and what is missing.
# RUN: not %megatron-python -m pipec.dump megatron --ranks=4 --microbatches=10 --chunks=2 --group=8 2>&1 | FileCheck %s --check-prefix=REFUSED
# REFUSED: {{^}}pipec.dump: The remainder of M
# RUN: not %megatron-python -m pipec.dump megatron --ranks=4 2>&1 | FileCheck %s --check-prefix=SIZES
# SIZES: pipec.dump: --ranks and --microbatches are needed, or --order
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
