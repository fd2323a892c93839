//===- Slots.cpp - Steps in slots of unit time ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One `OrderWalk`, which includes the data that stages keep for themselves: in
// an unverified list, a step may precede the producers of its inputs.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Slots.h"

#include "IR/DataFlow.h"
#include "IR/OrderWalk.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

bool SlotTable::complete(const Schedule &schedule) const {
  for (size_t rank = 0; rank != stoppedAt.size(); ++rank)
    if (stoppedAt[rank] != schedule.ranks[rank].size())
      return false;
  return true;
}

namespace {

class SlotPlacer {
public:
  /// The first slot in which a datum is available; 0 if it has not been
  /// produced.
  struct Datum {
    uint32_t from = 0;
  };
  static constexpr bool unverified = true;

  explicit SlotPlacer(const Schedule &schedule)
      : schedule(schedule), next(schedule.numRanks) {
    for (const StepList &list : schedule.ranks)
      table.slots.emplace_back(list.size());
  }

  SlotTable run() {
    OrderWalk<SlotPlacer> walk(schedule, *this, DataFlow::withKept(schedule));
    (void)walk.run();
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      table.stoppedAt.push_back(walk.group(rank));
    return std::move(table);
  }

  static bool isThere(Datum datum) { return datum.from != 0; }
  void take(unsigned rank, Datum datum) {
    next[rank].ready = std::max(next[rank].ready, datum.from);
  }
  void visit(unsigned rank, size_t begin, size_t end);
  Datum give(unsigned rank, size_t index, const DataFlow::Port &) {
    return {table.slots[rank][index] + 1};
  }

private:
  struct Next {
    /// The first slot after the previous groups, and the first slot in which
    /// all inputs of the next group are available.
    uint32_t free = 0;
    uint32_t ready = 0;
  };

  const Schedule &schedule;
  std::vector<Next> next;
  SlotTable table;
};

void SlotPlacer::visit(unsigned rank, size_t begin, size_t end) {
  const StepList &list = schedule.ranks[rank];
  std::vector<uint32_t> &slots = table.slots[rank];
  auto takesSlot = [&](size_t i) {
    return isCompute(list[i].kind()) || list[i].kind() == StepKind::Bubble;
  };
  uint32_t slot = std::max(next[rank].free, next[rank].ready);
  std::fill(slots.begin() + begin, slots.begin() + end, slot);
  if (!takesSlot(begin))
    return;
  // Preceding steps without a slot of their own share this one.
  for (size_t i = begin; i-- != 0 && slots[i] != slot && !takesSlot(i);)
    slots[i] = slot;
  next[rank].free = slot + 1;
  table.numSlots = std::max<unsigned>(table.numSlots, slot + 1);
}

} // namespace

SlotTable computeSlots(const Schedule &schedule) {
  return SlotPlacer(schedule).run();
}

//===----------------------------------------------------------------------===//
// Lists with time slots
//===----------------------------------------------------------------------===//

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
          arrives[flow.datum(output, step.unit())] = slot + 1;
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
      return slot < arrives[flow.datum(port, step.unit())];
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
    if (made.stage() != input->stage || made.unit() != step.unit() ||
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
