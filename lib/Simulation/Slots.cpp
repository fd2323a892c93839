//===- Slots.cpp - Steps in slots of unit time ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One `OrderWalk`, which includes the data that stages keep for themselves: in
// an unverified list, a step may precede the producers of its inputs.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Slots.h"

#include "IR/OrderWalk.h"

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

} // namespace pipec
