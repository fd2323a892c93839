//===- Divergence.cpp - Finding where two schedules diverge ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain/Divergence.h"

using namespace llvm;

namespace pipec {

/// Advances `at` to the next step that is compared, or to the end.
static void skip(const StepList &list, size_t &at, CompareSteps which) {
  while (at != list.size() &&
         (which == CompareSteps::Compute ? !isCompute(list[at].kind())
                                         : list[at].kind() == StepKind::Bubble))
    ++at;
}

static std::optional<Divergence> compareLists(const StepList &first,
                                              const StepList &second,
                                              CompareSteps which) {
  Divergence at;
  while (true) {
    skip(first, at.first, which);
    skip(second, at.second, which);
    bool ended = at.first == first.size();
    if (ended != (at.second == second.size()))
      return at;
    if (ended)
      return std::nullopt;
    if (!first[at.first].sameAction(second[at.second]))
      return at;
    ++at.first;
    ++at.second;
  }
}

std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which) {
  std::vector<std::optional<Divergence>> divergences;
  for (size_t rank = 0, end = std::min(first.numRanks, second.numRanks);
       rank != end; ++rank)
    divergences.push_back(
        compareLists(first.ranks[rank], second.ranks[rank], which));
  return divergences;
}

} // namespace pipec
