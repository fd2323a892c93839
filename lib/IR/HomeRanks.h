//===- HomeRanks.h - The rank of a stage, in loops -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_HOMERANKS_H
#define PIPEC_IR_HOMERANKS_H

#include "IR/Schedule.h"

namespace pipec {

/// `Schedule::rankOf` for loops over all steps: two pointers and a comparison.
class HomeRanks {
public:
  explicit HomeRanks(const Schedule &schedule) {
    bool twoWays = schedule.placement.bidirectional();
    maps[0] = schedule.placement.map(0).data();
    maps[1] = schedule.placement.map(twoWays).data();
    turn = twoWays ? schedule.numMicrobatches / 2 : maxMicrobatches;
  }
  uint32_t of(unsigned stage, unsigned microbatch) const {
    return maps[microbatch >= turn][stage];
  }
  uint32_t of(const Step &step) const {
    return of(step.stage(), step.microbatch());
  }

private:
  const uint32_t *maps[2];
  unsigned turn;
};

} // namespace pipec

#endif // PIPEC_IR_HOMERANKS_H
