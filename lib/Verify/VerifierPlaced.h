//===- VerifierPlaced.h - Edges, and who scans them -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to IR/VerifierPlaced*.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_VERIFY_VERIFIERPLACED_H
#define PIPEC_VERIFY_VERIFIERPLACED_H

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"

namespace pipec {

/// The directed rank pairs that neighbouring stages span, numbered.
class Edges {
public:
  static constexpr uint32_t local = ~0u;

  explicit Edges(const Schedule &schedule) : schedule(schedule) {
    unsigned directions = schedule.placement.numDirections();
    turn = directions == 2 ? schedule.numMicrobatches / 2 : maxMicrobatches;
    auto forEachBoundary = [&](auto fn) {
      for (unsigned d = 0; d != directions; ++d)
        for (unsigned s = 0; s + 1 < schedule.numStages; ++s)
          fn(d, s, schedule.placement.rankOf(s, d),
             schedule.placement.rankOf(s + 1, d));
    };
    forEachBoundary([&](unsigned, unsigned, uint32_t a, uint32_t b) {
      if (a != b) {
        pairs.push_back({a, b});
        pairs.push_back({b, a});
      }
    });
    llvm::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    of.resize(2 * size_t(directions) * schedule.numStages, local);
    forEachBoundary([&](unsigned d, unsigned s, uint32_t a, uint32_t b) {
      if (a == b)
        return;
      size_t row = size_t(d) * schedule.numStages + s;
      of[2 * row] = number(a, b);
      of[2 * (row + 1) + 1] = number(b, a);
    });
  }

  size_t size() const { return pairs.size(); }
  std::pair<uint32_t, uint32_t> ranks(uint32_t edge) const {
    return pairs[edge];
  }
  /// The edge that what `stage` makes takes: its output to the next stage, the
  /// gradient of its input to the stage before. `local` if none.
  uint32_t find(bool gradient, unsigned stage, unsigned microbatch) const {
    size_t row = (microbatch >= turn ? schedule.numStages : 0) + size_t(stage);
    return of[2 * row + gradient];
  }

private:
  uint32_t number(uint32_t a, uint32_t b) const {
    return llvm::lower_bound(pairs, std::pair(a, b)) - pairs.begin();
  }

  const Schedule &schedule;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  /// Two a direction and stage.
  std::vector<uint32_t> of;
  /// The first micro-batch of direction 1.
  unsigned turn;
};

/// True when every transfer has its two ends where they belong, in one order on
/// each edge. False says only that it has to be looked at.
bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const Edges &edges);

} // namespace pipec

#endif // PIPEC_VERIFY_VERIFIERPLACED_H
