//===- SlotOrder.h - Are the slots of a list time slots ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_SLOTORDER_H
#define PIPEC_SIMULATION_SLOTORDER_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Where idle slots make equal positions mean equal time slots, every step is
/// in a later slot than the results that it takes. Reports each rank with a
/// step that is not, at the first one. FSDP actions take no slot, and an
/// overlap one, as in PyTorch's lists, or as many as it has members, as in
/// those that `insert-p2p{order=column}` reads: a list that is right in one of
/// the two ways is right. For a list of level *compute* without transfers;
/// linear in its steps. Returns true when nothing was found.
bool checkSlotOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_SIMULATION_SLOTORDER_H
