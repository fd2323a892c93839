//===- RegularPlacements.h - Stages in loops and V shapes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace pipec {

/// The rank of a stage in a loop: every round goes from the first rank to the
/// last.
inline uint32_t rankInLoop(unsigned stage, unsigned ranks) {
  return stage % ranks;
}

/// The rank of a stage in a V of any number of legs: every round begins on the
/// rank where the one before it ended.
inline uint32_t rankInLegs(unsigned stage, unsigned ranks) {
  unsigned at = stage % ranks;
  return stage / ranks % 2 ? ranks - 1 - at : at;
}

/// The first stage that is not on the rank `rankOf(stage, ranks)`; the number
/// of stages if there is none.
template <typename RankOf>
unsigned firstStageOff(llvm::ArrayRef<uint32_t> map, unsigned ranks,
                       RankOf rankOf) {
  unsigned stage = 0;
  while (stage != map.size() && map[stage] == rankOf(stage, ranks))
    ++stage;
  return stage;
}

/// True if the stages are in a loop of whole rounds.
inline bool isLoop(llvm::ArrayRef<uint32_t> map, unsigned ranks) {
  return map.size() % ranks == 0 &&
         firstStageOff(map, ranks, rankInLoop) == map.size();
}

/// True if the stages are in a V of whole legs.
inline bool hasLegs(llvm::ArrayRef<uint32_t> map, unsigned ranks) {
  return map.size() % ranks == 0 &&
         firstStageOff(map, ranks, rankInLegs) == map.size();
}

/// True if the stages are in a V of two legs.
inline bool isV(llvm::ArrayRef<uint32_t> map, unsigned ranks) {
  return map.size() == 2 * size_t(ranks) && hasLegs(map, ranks);
}

} // namespace pipec
