//===- SlotOrder.h - Checking lists with time slots -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

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
