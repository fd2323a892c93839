//===- StepPrefetch.h - The steps that a rank comes to next -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_STEPPREFETCH_H
#define PIPEC_IR_STEPPREFETCH_H

#include "IR/Step.h"

namespace pipec {

/// Asks for the steps behind `at`, where a rank of many has to wait: other
/// ranks come first, and by the time it goes on they will be there.
inline void prefetchSteps(const Step *at) {
  for (int line = 1; line <= 4; ++line)
    __builtin_prefetch(reinterpret_cast<const char *>(at) + 64 * line);
}

} // namespace pipec

#endif // PIPEC_IR_STEPPREFETCH_H
