//===- SlotOrder.cpp - Are the slots of a list time slots ---- ===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/SlotOrder.h"

#include "IR/StepPlaces.h"
#include "Simulation/DataFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// Walks over the lists, with the slot of every step.
class SlotWalk {
public:
  /// `wide`: an overlap takes as many slots as it has members.
  SlotWalk(const Schedule &schedule, const DataFlow &flow, bool wide)
      : schedule(schedule), flow(flow), wide(wide), arrives(flow.size()) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      each(rank, [&](size_t i, uint32_t slot) {
        Step step = schedule.ranks[rank][i];
        DataFlow::Rule rule = flow.of(step);
        if (rule.gives)
          arrives[flow.given(step, rule)] = slot + 1;
        return true;
      });
  }

  /// The first step of `rank` that is not after what it takes, and its slot;
  /// the end of the list when there is none.
  std::pair<size_t, uint32_t> firstEarly(unsigned rank) const {
    std::pair<size_t, uint32_t> found = {schedule.ranks[rank].size(), 0};
    each(rank, [&](size_t i, uint32_t slot) {
      Step step = schedule.ranks[rank][i];
      DataFlow::Rule rule = flow.of(step);
      if (!rule.takes || slot >= arrives[flow.taken(step, rule)])
        return true;
      found = {i, slot};
      return false;
    });
    return found;
  }

  bool isGood() const {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (firstEarly(rank).first != schedule.ranks[rank].size())
        return false;
    return true;
  }

  void report(unsigned rank, Severity severity, StepPlaces &places,
              DiagEngine &diags) const;

private:
  /// Calls `visit` for every compute step of `rank`, with its index and its
  /// slot, until it returns false.
  template <typename Visit> void each(unsigned rank, Visit visit) const {
    const StepList &list = schedule.ranks[rank];
    uint32_t slot = 0;
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      StepKind kind = list[begin].kind();
      if (isCompute(kind))
        for (size_t i = begin; i != end; ++i)
          if (!visit(i, slot + (wide ? uint32_t(i - begin) : 0)))
            return;
      if (isCompute(kind) || kind == StepKind::Bubble)
        slot += wide ? end - begin : 1;
    }
  }

  const Schedule &schedule;
  const DataFlow &flow;
  bool wide;
  /// The first slot in which a datum can be taken; 0 where nothing makes it.
  std::vector<uint32_t> arrives;
};

} // namespace

void SlotWalk::report(unsigned rank, Severity severity, StepPlaces &places,
                      DiagEngine &diags) const {
  auto [index, slot] = firstEarly(rank);
  const StepList &list = schedule.ranks[rank];
  if (index == list.size())
    return;
  Step step = list[index];
  // What it takes: from the stage before or, with gradients, from the one
  // after.
  bool forward = step.kind() == StepKind::F;
  unsigned stage = forward ? step.stage() - 1 : step.stage() + 1;
  unsigned giver = schedule.rankOf(stage, step.microbatch());
  each(giver, [&](size_t i, uint32_t giverSlot) {
    Step made = schedule.ranks[giver][i];
    if (made.stage() != stage || made.microbatch() != step.microbatch() ||
        forward != (made.kind() == StepKind::F) || made.kind() == StepKind::W)
      return true;
    diags
        .reportAs(severity, step.source(), diag::SlotNotLater,
                  places.name(rank, index), slot, places.text(made), giverSlot,
                  giver)
        .note(made.source(), diag::NoteStepHere, places.name(giver, i));
    return false;
  });
}

bool checkSlotOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags) {
  DataFlow flow(schedule);
  SlotWalk narrow(schedule, flow, /*wide=*/false);
  if (narrow.isGood() || SlotWalk(schedule, flow, /*wide=*/true).isGood())
    return true;
  StepPlaces places(schedule);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    narrow.report(rank, severity, places, diags);
  return false;
}

} // namespace pipec
