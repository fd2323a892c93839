//===- Slots.h - Steps in slots of unit time --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form in which papers draw schedules: time is divided into slots, every
// step or overlap occupies one slot, and each rank runs its list in order as
// early as data allows. Transfers and FSDP actions have no slot.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// The slot of every step of a schedule.
struct SlotTable {
  /// One list per rank with the slot of each step, in ascending order. Members
  /// of an overlap share a slot; a step without a slot has the slot of the next
  /// one that does.
  std::vector<std::vector<uint32_t>> slots;
  /// One more than the highest slot.
  unsigned numSlots = 0;
  /// Where every rank stopped: the size of its list, or the index of the first
  /// step of the group that waits forever. The slots of later steps are not
  /// meaningful.
  std::vector<size_t> stoppedAt;

  /// True if every rank has finished.
  bool complete(const Schedule &schedule) const;
};

/// Places every step in the earliest slot after the previous step of its rank
/// and the producers of its inputs. A bubble occupies the next slot of its
/// rank. Linear in the number of steps.
SlotTable computeSlots(const Schedule &schedule);

/// Checks that every step is in a later slot than the producers of its inputs,
/// for lists where idle slots make equal positions mean equal time slots.
/// Reports each rank with a step that is not, at the first such step. FSDP
/// actions have no slot. An overlap occupies one, as in PyTorch's lists, or one
/// per member, as in the input of `insert-p2p{order=column}`; the list must be
/// correct in one of the two interpretations. For a list of level *compute*
/// without transfers; linear in its steps. Returns true if nothing was
/// reported.
bool checkSlotOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags);

} // namespace pipec
