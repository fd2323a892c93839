//===- CriticalPath.cpp - The chain of causes of a step -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain/CriticalPath.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace pipec {

PathSteps causeChain(const Causes &causes, uint32_t step, int64_t since,
                     size_t maxLinks) {
  PathSteps chain = {causes.link(step)};
  while (chain.back().start > since && chain.size() != maxLinks) {
    std::optional<PathStep> before = causes.linkBefore(chain.back());
    if (!before)
      break;
    chain.push_back(*before);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

PathSteps criticalPath(const Causes &causes) {
  ArrayRef<RankTimes> ranks = causes.simulation().ranks();
  std::optional<unsigned> latest;
  for (unsigned rank = 0; rank != ranks.size(); ++rank)
    if (causes.lastStep(rank) != StepNumbers::none &&
        (!latest || ranks[rank].end > ranks[*latest].end))
      latest = rank;
  if (!latest)
    return {};
  return causeChain(causes, causes.lastStep(*latest),
                    std::numeric_limits<int64_t>::min());
}

} // namespace pipec
