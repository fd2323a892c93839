//===- Divergence.h - Finding where two schedules diverge -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

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
