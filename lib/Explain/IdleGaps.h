//===- IdleGaps.h - Idle gaps of ranks and their causes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Explain/Causes.h"
#include "Simulation/Memory.h"

namespace pipec {

/// The time that a rank waits before a compute step, in ticks, by the parts of
/// Bindings.def. Each part counts from the end of the parts before it, so that
/// the parts add up to the wait.
struct WaitParts {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) int64_t Name = 0;
#include "Explain/Bindings.def"

  int64_t exposed() const { return latency + queue + wait + gather + copy; }
  WaitParts &operator+=(const WaitParts &other);
};

/// The waits before the overlap or step at `begin` of the list of `rank`, if
/// the rank was free from `since` on.
WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since);

/// The cause of a gap, without which it would be shorter.
enum class Binding : uint8_t {
#define PIPEC_BINDING(Id, Name) Id,
#include "Explain/Bindings.def"
};

/// `dependency`, `memory`, ...
llvm::StringRef bindingName(Binding binding);

/// A period in which a rank is idle before a step. Times are in ticks.
struct IdleGap {
  unsigned rank = 0;
  int64_t start = 0;
  int64_t end = 0;
  /// The step after the gap; the first member of an overlap.
  StepRef before;

  // `explainGap` sets the following members.

  Binding binding = Binding::Dependency;
  /// The parts of the gap, by cause.
  WaitParts parts = {};
  /// Why that step does not start earlier, and the link that it waits for, if
  /// there is one.
  PathStep link = {};
  std::optional<PathStep> cause = std::nullopt;
  /// A later step in the list of the rank whose input was available when the
  /// gap began, and which is no longer than the gap: the first one that fits
  /// the memory limit, otherwise the first one.
  std::optional<StepRef> ready = std::nullopt;
  /// True if the step does not fit the memory limit: the rank would keep
  /// `held`, in units of the memory model.
  bool overLimit = false;
  int64_t held = 0;

  int64_t length() const { return end - start; }
};

/// Calls `visit(from, to, begin)` for every period in which a rank is idle
/// before the step or overlap that starts at `begin` of its list. The first
/// period starts with the schedule. Computes on streams of their own leave a
/// rank idle.
template <typename Visitor>
void forEachGap(const Schedule &schedule, const Simulation &simulation,
                unsigned rank, Visitor visit) {
  const StepList &list = schedule.ranks[rank];
  int64_t free = simulation.begin();
  for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    if (!isCompute(list[begin].kind()) || schedule.streams.of(list[begin]) != 0)
      continue;
    if (int64_t start = simulation.start(rank, begin); start > free)
      visit(free, start, begin);
    free = simulation.end(rank, begin);
  }
}

/// The `count` largest gaps of all ranks, including those before a rank's first
/// step, ordered by length, start and rank. They are not explained.
std::vector<IdleGap> largestGaps(const Schedule &schedule,
                                 const Simulation &simulation, unsigned count);

/// The cause of a gap before a step or overlap.
struct GapCause {
  WaitParts parts = {};
  /// The first compute step that the chain of causes meets on its way back;
  /// `none` if it meets the start of the gap first, or none in 32 links.
  uint32_t step = StepNumbers::none;
  /// The first copy, if the chain meets it before that step.
  uint32_t copy = StepNumbers::none;
};

/// Determines the cause of a gap. Takes constant time, except for the waits and
/// receives directly before the step.
GapCause gapCause(const Causes &causes, StepRef before, int64_t since);

/// Finds a step that could have filled a gap: sets `ready`, `overLimit` and
/// `held`. Linear in the length of the rank's list.
void findReadyStep(IdleGap &gap, const Causes &causes,
                   const MemoryModel &memory);

/// Determines the cause of a gap, and a step that could have filled it. Linear
/// in the length of the rank's list.
void explainGap(IdleGap &gap, const Causes &causes, const MemoryModel &memory);

} // namespace pipec
