//===- Divergence.h - Where two schedules part ------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_DIVERGENCE_H
#define PIPEC_EXPLAIN_DIVERGENCE_H

#include "IR/Schedule.h"

#include <optional>
#include <vector>

namespace pipec {

/// The first difference of one rank's lists.
struct Divergence {
  /// Index into the list of either schedule; its size where the other goes on.
  size_t first = 0;
  size_t second = 0;
};

/// Which steps are compared.
enum class CompareSteps {
  All,     // all but bubbles, which carry no time
  Compute, // compute steps alone
};

/// Where the lists of each rank that both schedules have part; nothing for a
/// rank whose lists are the same. Steps are the same when they do the same in
/// the same place of an overlap or a batch. Linear.
std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which);

} // namespace pipec

#endif // PIPEC_EXPLAIN_DIVERGENCE_H
