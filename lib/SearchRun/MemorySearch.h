//===- MemorySearch.h - Makespan against memory -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches under smaller memory limits than the given ones. All limits shrink
// by a common factor; the largest limit of a rank stands for all. Without a
// limit, all ranks start from the memory of the current schedule.
//
// A smaller limit excludes more schedules only if it is below one of the sizes
// that the activations of some rank can have. There are few of these sizes,
// unless stages differ much: then limits between them are left out, and the
// least one is between two limits.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/Figures.h"
#include "SearchRun/ScheduleSearch.h"

namespace pipec {

/// The result of a search under a limit.
struct MemoryPoint {
  /// The largest limit of all ranks.
  Rational limit;
  /// The largest peak of all ranks.
  Rational peak;
  Rational makespan, bound;

  Rational gap() const { return excess(makespan, bound).value_or(0); }
};

/// The least limit with a makespan of at most `goal`.
struct MinimalMemory {
  Rational goal;
  Rational limit;
  /// No schedule with less than this has such a makespan; not above `limit`.
  Rational bound;
};

/// Replaces `problem` and `found`, its best schedule, by the problem and
/// schedule of the least limit with a makespan at most `slack` millionths above
/// the makespan of `found`.
llvm::FailureOr<MinimalMemory>
minimizeMemory(ScheduleSearch &search, uint64_t slack, uint64_t work,
               SearchProblem &problem, FoundSchedule &found, DiagEngine &diags);

/// Searches under up to twelve limits between the least limit for one
/// micro-batch and the memory of `found`. Replaces `found` by a better
/// schedule.
llvm::FailureOr<std::vector<MemoryPoint>>
searchFrontier(ScheduleSearch &search, uint64_t work,
               const SearchProblem &problem, FoundSchedule &found,
               DiagEngine &diags);

} // namespace pipec
