//===- WaitParts.cpp - The waits of a rank before a step ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain/WaitParts.h"

#include <algorithm>

namespace pipec {

WaitParts &WaitParts::operator+=(const WaitParts &other) {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) Name += other.Name;
#include "Explain/Bindings.def"
  return *this;
}

WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since) {
  const StepList &list = causes.schedule().ranks[rank];
  const Simulation &run = causes.simulation();
  const std::optional<TransferTimes> &transfers = causes.transfers();
  WaitParts parts;
  int64_t start = run.start(rank, begin);
  if (start <= since)
    return parts;
  int64_t made = since, there = since, arrived = since;
  for (size_t i = begin, end = Schedule::groupEnd(list, begin); i != end; ++i) {
    if (std::optional<ResultTimes::Input> needs =
            causes.results().input(rank, list[i])) {
      made = std::max(made, needs->made);
      there = std::max(there, needs->there);
      if (!transfers)
        arrived = std::max(arrived, needs->arrived);
    }
    if (!transfers)
      continue;
    for (uint32_t receive : transfers->receives(run.numbers().of(rank, i)))
      arrived = std::max(arrived, transfers->batchEnd(receive));
  }
  // The rank continues when all of its waits before the step are over.
  int64_t waited = since;
  for (size_t i = begin; i != 0 && !isCompute(list[i - 1].kind()); --i)
    if (auto over = causes.holdEnd({rank, uint32_t(i - 1)})) {
      waited = *over;
      break;
    }
  made = std::min(made, start);
  there = std::clamp(there, made, start);
  arrived = std::clamp(arrived, there, start);
  parts.dependency = made - since;
  parts.latency = there - made;
  waited = std::clamp(waited, arrived, start);
  parts.queue = arrived - there;
  parts.wait = waited - arrived;
  parts.gather = start - waited;
  return parts;
}

} // namespace pipec
