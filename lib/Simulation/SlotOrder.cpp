//===- SlotOrder.cpp - Checking lists with time slots ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/SlotOrder.h"

#include "IR/DataFlow.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// Walks over the lists with the slot of every step.
class SlotWalk {
public:
  /// With `wide`, an overlap occupies one slot per member.
  SlotWalk(const Schedule &schedule, const DataFlow &flow, bool wide)
      : schedule(schedule), flow(flow), wide(wide), arrives(flow.size()) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      each(rank, [&](size_t i, uint32_t slot) {
        Step step = schedule.ranks[rank][i];
        for (const DataFlow::Port &output : flow.outputs(step))
          arrives[flow.datum(output, step.microbatch())] = slot + 1;
        return true;
      });
  }

  /// The first step of `rank` that is not after the producers of its inputs,
  /// and its slot; the end of the list if there is none.
  std::pair<size_t, uint32_t> firstEarly(unsigned rank) const {
    std::pair<size_t, uint32_t> found = {schedule.ranks[rank].size(), 0};
    each(rank, [&](size_t i, uint32_t slot) {
      Step step = schedule.ranks[rank][i];
      if (!early(step, slot))
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
  /// Calls `visit` for every compute step of `rank` with its index and slot,
  /// until it returns false.
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

  /// An input of `step` that is not available in `slot`; null if there is none.
  const DataFlow::Port *early(Step step, uint32_t slot) const {
    ArrayRef<DataFlow::Port> inputs = flow.inputs(step);
    const DataFlow::Port *input = find_if(inputs, [&](const auto &port) {
      return slot < arrives[flow.datum(port, step.microbatch())];
    });
    return input == inputs.end() ? nullptr : input;
  }

  const Schedule &schedule;
  const DataFlow &flow;
  bool wide;
  /// The first slot in which a datum is available; 0 if no step produces it.
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
  const DataFlow::Port *input = early(step, slot);
  unsigned maker = input->rank;
  each(maker, [&](size_t i, uint32_t makerSlot) {
    Step made = schedule.ranks[maker][i];
    if (made.stage() != input->stage ||
        made.microbatch() != step.microbatch() ||
        dataKind(made.kind()) != dataKind(input->kind))
      return true;
    diags
        .reportAs(severity, step.source(), diag::SlotNotLater,
                  places.name(rank, index), slot, places.text(made), makerSlot,
                  maker)
        .note(made.source(), diag::NoteStepHere, places.name(maker, i));
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
