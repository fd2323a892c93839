//===- Slots.cpp - Steps in slots of unit time -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rank runs its list until data is missing. It then notes itself as the
// one that waits for that datum and rests; the producer, when it comes, wakes
// it. So each step is looked at once, plus once for every time its rank was
// woken for it, which is at most the number of data it takes.
//
// A datum is the output of a stage for one micro-batch (F makes it) or the
// gradient of its input (B or I makes it).
//
//===----------------------------------------------------------------------===//

#include "Simulation/Slots.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

bool SlotTable::complete(const Schedule &schedule) const {
  for (size_t rank = 0; rank != stoppedAt.size(); ++rank)
    if (stoppedAt[rank] != schedule.ranks[rank].size())
      return false;
  return true;
}

namespace {

/// From datum to the first slot in which it can be used. A flat array when the
/// schedule is about as full as it can be, which is the normal case; a map
/// when a file names few steps of a huge model.
class ReadyTimes {
public:
  ReadyTimes(uint64_t numData, size_t numSteps)
      : flat(numData <= 8 * uint64_t(numSteps) + 4096 ? numData : 0) {}

  /// 0: not made yet.
  uint32_t get(uint64_t datum) const {
    return flat.empty() ? sparse.lookup(datum) : flat[datum];
  }
  void set(uint64_t datum, uint32_t slot) {
    if (flat.empty())
      sparse[datum] = slot;
    else
      flat[datum] = slot;
  }

private:
  std::vector<uint32_t> flat;
  DenseMap<uint64_t, uint32_t> sparse;
};

class SlotPlacer {
public:
  explicit SlotPlacer(const Schedule &schedule)
      : schedule(schedule),
        ready(2 * uint64_t(schedule.numStages) * schedule.numMicrobatches,
              schedule.numSteps()),
        now(schedule.numRanks) {
    table.stoppedAt.assign(schedule.numRanks, 0);
    for (const StepList &list : schedule.ranks)
      table.slots.emplace_back(list.size());
  }

  SlotTable run() {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      awake.push_back(rank);
    while (!awake.empty())
      advance(awake.pop_back_val());
    return std::move(table);
  }

private:
  uint64_t datum(unsigned stage, unsigned microbatch, bool gradient) const {
    return (uint64_t(stage) * schedule.numMicrobatches + microbatch) * 2 +
           gradient;
  }

  /// The datum that a step takes, nothing when it takes none from elsewhere.
  std::optional<uint64_t> input(Step step) const {
    switch (step.kind()) {
    case StepKind::F:
      if (step.stage() == 0)
        return std::nullopt;
      return datum(step.stage() - 1, step.microbatch(), false);
    case StepKind::B:
    case StepKind::I:
      if (schedule.isLastStage(step.stage()))
        return datum(step.stage(), step.microbatch(), false);
      return datum(step.stage() + 1, step.microbatch(), true);
    case StepKind::W:
      return datum(step.stage(), step.microbatch(), true);
    default:
      return std::nullopt;
    }
  }

  /// True when a step of `earlier` makes the datum that `step` takes.
  static bool madeWithin(ArrayRef<Step> earlier, Step step) {
    for (Step other : earlier)
      if (other.kind() == StepKind::F && step.kind() != StepKind::F &&
          other.stage() == step.stage() &&
          other.microbatch() == step.microbatch())
        return true;
    return false;
  }

  void advance(unsigned rank);
  void finish(Step step, uint32_t slot);

  const Schedule &schedule;
  ReadyTimes ready;
  /// The next free slot of each rank.
  std::vector<uint32_t> now;
  SmallVector<unsigned> awake;
  /// From datum to the ranks that rest until it is made.
  DenseMap<uint64_t, SmallVector<unsigned, 1>> waiting;
  SlotTable table;
};

void SlotPlacer::finish(Step step, uint32_t slot) {
  if (step.kind() == StepKind::W)
    return;
  uint64_t made =
      datum(step.stage(), step.microbatch(), makesInputGradient(step.kind()));
  ready.set(made, slot + 1);
  auto it = waiting.find(made);
  if (it == waiting.end())
    return;
  awake.append(it->second.begin(), it->second.end());
  waiting.erase(it);
}

void SlotPlacer::advance(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  std::vector<uint32_t> &slots = table.slots[rank];
  size_t &position = table.stoppedAt[rank];
  while (position != list.size()) {
    size_t end = Schedule::groupEnd(list, position);
    ArrayRef<Step> group = ArrayRef(list).slice(position, end - position);
    uint32_t slot = now[rank];
    for (size_t i = 0; i != group.size(); ++i) {
      std::optional<uint64_t> needed = input(group[i]);
      if (!needed || madeWithin(group.take_front(i), group[i]))
        continue;
      uint32_t from = ready.get(*needed);
      if (from == 0) {
        waiting[*needed].push_back(rank);
        return;
      }
      slot = std::max(slot, from);
    }
    bool takesSlot = isCompute(group.front().kind()) ||
                     group.front().kind() == StepKind::Bubble;
    for (size_t i = position; i != end; ++i)
      slots[i] = slot;
    if (takesSlot) {
      // What stood in front without a slot of its own shares this one.
      for (size_t i = position; i-- != 0 && slots[i] != slot;) {
        StepKind kind = list[i].kind();
        if (isCompute(kind) || kind == StepKind::Bubble)
          break;
        slots[i] = slot;
      }
      now[rank] = slot + 1;
      table.numSlots = std::max<unsigned>(table.numSlots, slot + 1);
      if (isCompute(group.front().kind()))
        for (Step step : group)
          finish(step, slot);
    }
    position = end;
  }
}

} // namespace

SlotTable computeSlots(const Schedule &schedule) {
  return SlotPlacer(schedule).run();
}

} // namespace pipec
