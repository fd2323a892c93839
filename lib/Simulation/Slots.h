//===- Slots.h - Steps in slots of unit time --------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The picture that papers draw: time is cut into slots, every step takes one,
// an overlap takes one as a whole, and each rank runs its list in order as
// early as data allows. Transfers and FSDP actions take no slot.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_SLOTS_H
#define PIPEC_SIMULATION_SLOTS_H

#include "IR/Schedule.h"

#include <vector>

namespace pipec {

/// The slot of every step of a schedule.
struct SlotTable {
  /// One list a rank, one slot a step, ascending. Members of an overlap share
  /// theirs; a step that takes no slot has that of the next one that does.
  std::vector<std::vector<uint32_t>> slots;
  /// One more than the highest slot taken.
  unsigned numSlots = 0;
  /// Where every rank stopped: the size of its list, or the index of the
  /// first step of the group that waits for ever. Steps behind it have no
  /// meaningful slot.
  std::vector<size_t> stoppedAt;

  /// True when every rank came to its end.
  bool complete(const Schedule &schedule) const;
};

/// Places every step in the earliest slot: behind the one before it on its
/// rank, and behind the producer of its data. A bubble takes the next slot of
/// its rank. Linear in steps.
SlotTable computeSlots(const Schedule &schedule);

} // namespace pipec

#endif // PIPEC_SIMULATION_SLOTS_H
