//===- IdleGaps.h - Where a rank does nothing, and why ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXPLAIN_IDLEGAPS_H
#define PIPEC_EXPLAIN_IDLEGAPS_H

#include "Explain/WaitParts.h"
#include "Simulation/Memory.h"

namespace pipec {

/// What a gap would be shorter without.
enum class Binding : uint8_t {
#define PIPEC_BINDING(Id, Name) Id,
#include "Explain/Bindings.def"
};

/// `dependency`, `memory`, ...
llvm::StringRef bindingName(Binding binding);

/// A time in which a rank does nothing before a step. Times are in ticks.
struct IdleGap {
  unsigned rank = 0;
  int64_t start = 0;
  int64_t end = 0;
  /// The step behind the gap, of an overlap the first member.
  StepRef before;

  // What follows is filled by `explainGap`.

  Binding binding = Binding::Dependency;
  /// The gap in parts, by what the step behind it waits for.
  WaitParts parts;
  /// Why that step does not start earlier, and the link that it waits for, if
  /// any.
  PathStep link;
  std::optional<PathStep> cause;
  /// A step from further behind in the list of the rank whose input was there
  /// when the gap began, and that takes no longer than the gap: the first one
  /// that the memory limit lets run there, else the first one.
  std::optional<StepRef> ready;
  /// The memory limit does not let it run there: the rank would keep `held`, in
  /// units of the memory model.
  bool overLimit = false;
  int64_t held = 0;

  int64_t length() const { return end - start; }
};

/// Calls `visit(from, to, begin)` for every time in which a rank does nothing
/// before the step or overlap that begins at `begin` of its list: the first one
/// from the start of the schedule on.
template <typename Visitor>
void forEachGap(const Schedule &schedule, const Simulation &simulation,
                unsigned rank, Visitor visit) {
  const StepList &list = schedule.ranks[rank];
  int64_t free = simulation.begin();
  for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    if (!isCompute(list[begin].kind()))
      continue;
    if (int64_t start = simulation.start(rank, begin); start > free)
      visit(free, start, begin);
    free = simulation.end(rank, begin);
  }
}

/// The `count` largest gaps of all ranks, those before a rank's first step
/// among them: the longest first, then by start and rank. Not explained.
std::vector<IdleGap> largestGaps(const Schedule &schedule,
                                 const Simulation &simulation, unsigned count);

/// Finds out what binds a gap. Linear in the list of its rank.
void explainGap(IdleGap &gap, const Causes &causes, const MemoryModel &memory);

} // namespace pipec

#endif // PIPEC_EXPLAIN_IDLEGAPS_H
