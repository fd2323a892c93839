//===- ListRun.h - Searches for lists from schedules ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/ListProblem.h"

namespace pipec {

/// Searches for lists (Search/ListProblem.h) under the costs and the memory of
/// `header` that have a smaller makespan than all `starts`, until the budget is
/// spent or the makespan is at most `bound`. Starts whose steps cannot be
/// searched are left out. Empty if no lists are better.
std::optional<Schedule> searchLists(const ScheduleHeader &header,
                                    llvm::ArrayRef<const Schedule *> starts,
                                    search::ListMoves moves, uint64_t seed,
                                    Rational bound, search::Budget &budget,
                                    DiagEngine &diags);

} // namespace pipec
