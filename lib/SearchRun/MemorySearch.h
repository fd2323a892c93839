//===- MemorySearch.h - Makespan against memory -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches under smaller memory limits than the given ones. All limits shrink
// by a common factor, and a limit is given by that of the rank with the largest
// one. Without a limit, it is that of the schedule at hand on all ranks.
//
// A smaller limit excludes more schedules only where some rank has less room
// than one of the sizes that its activations can have. There are few of these
// sizes, unless stages differ much: then limits between them are left out, and
// the least one is between two limits.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCHRUN_MEMORYSEARCH_H
#define PIPEC_SEARCHRUN_MEMORYSEARCH_H

#include "Driver/Figures.h"
#include "SearchRun/ScheduleSearch.h"

namespace pipec {

/// What was found under a limit.
struct MemoryPoint {
  /// That of the rank with the largest one.
  Rational limit;
  /// Of the largest rank.
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

/// Replaces `problem` and `found`, its best schedule, by those of the least
/// limit under which a makespan is found that is at most `slack` millionths
/// above that of `found`.
llvm::FailureOr<MinimalMemory>
minimizeMemory(ScheduleSearch &search, uint64_t slack, uint64_t work,
               SearchProblem &problem, FoundSchedule &found, DiagEngine &diags);

/// Searches under up to twelve limits from the least that has room for one
/// micro-batch up to what `found` needs. Replaces `found` if a better one comes
/// up.
llvm::FailureOr<std::vector<MemoryPoint>>
searchFrontier(ScheduleSearch &search, uint64_t work,
               const SearchProblem &problem, FoundSchedule &found,
               DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_SEARCHRUN_MEMORYSEARCH_H
