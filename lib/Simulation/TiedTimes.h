//===- TiedTimes.h - When sums of tied gradients run ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_TIEDTIMES_H
#define PIPEC_SIMULATION_TIEDTIMES_H

#include "IR/TiedMeetings.h"
#include "Simulation/TickCosts.h"
#include "Waiting/StepNumbers.h"

namespace pipec {

/// Changes the starts of the REDUCE_TIED of a run from the times at which ranks
/// post them to those at which all ranks of their group have posted theirs, and
/// the earlier collectives of these ranks have ended. All groups must meet. As
/// nothing waits for them, no other start changes. Linear.
void setTiedStarts(const Schedule &schedule, const TiedMeetings &meetings,
                   const TickCosts &costs, const StepNumbers &numbers,
                   std::vector<int64_t> &starts);

} // namespace pipec

#endif // PIPEC_SIMULATION_TIEDTIMES_H
