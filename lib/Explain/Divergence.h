//===- Divergence.h - Finding where two schedules diverge -------*- C++ -*-===//
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

/// The first difference between the lists of one rank.
struct Divergence {
  /// The index in the list of either schedule; the size of the list if it ends
  /// first.
  size_t first = 0;
  size_t second = 0;
};

/// The steps that are compared.
enum class CompareSteps {
  All,     // all but bubbles, which take no time
  Compute, // only compute steps
};

/// The first difference for each rank that both schedules have; empty for a
/// rank with equal lists. Steps are equal if they perform the same action and
/// are joined in the same way. Linear.
std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which);

} // namespace pipec

#endif // PIPEC_EXPLAIN_DIVERGENCE_H
