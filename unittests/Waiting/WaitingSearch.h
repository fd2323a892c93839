//===- WaitingSearch.h - All interleavings of a small schedule --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The communication model, implemented literally and explored in every order. A
// state consists of the position of each rank and the P2P steps that have met
// their partner; from each state, every possible next event is tried. Shares
// nothing with lib/Waiting.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H
#define PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H

#include "IR/Schedule.h"
#include "Waiting/WaitModel.h"

#include <optional>
#include <set>

namespace pipec::test {

/// The final state of one run of a schedule.
struct Rest {
  /// The index at which each rank has stopped.
  std::vector<unsigned> at;
  /// Ranks that have not reached the end of their lists, or have incomplete P2P
  /// steps.
  std::vector<unsigned> blocked;
  friend bool operator<(const Rest &a, const Rest &b) {
    return std::tie(a.at, a.blocked) < std::tie(b.at, b.blocked);
  }
};

/// All final states of runs of `schedule` under `model`; nothing if there are
/// more than `limit` states.
std::optional<std::set<Rest>> allOutcomes(const Schedule &schedule,
                                          WaitModel model, size_t limit);

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_WAITING_WAITINGSEARCH_H
