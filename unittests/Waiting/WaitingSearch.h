//===- WaitingSearch.h - All interleavings of a small schedule --*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The waiting model taken by its words and tried in every order: a state is how
// far each rank has come and which P2P steps have met their other side; from
// each state every single thing that can happen next is tried. Nothing here is
// shared with lib/Analysis.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H
#define PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H

#include "IR/Schedule.h"
#include "Waiting/WaitModel.h"

#include <optional>
#include <set>

namespace pipec::test {

/// How one run of a schedule came to rest.
struct Rest {
  /// The index each rank stands at.
  std::vector<unsigned> at;
  /// Ranks that have not come to their end, or have P2P steps that are open.
  std::vector<unsigned> blocked;
  friend bool operator<(const Rest &a, const Rest &b) {
    return std::tie(a.at, a.blocked) < std::tie(b.at, b.blocked);
  }
};

/// Every way in which a run of `schedule` under `model` can come to rest;
/// nothing when there are more than `limit` states.
std::optional<std::set<Rest>> allOutcomes(const Schedule &schedule,
                                          WaitModel model, size_t limit);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H
