//===- IdleGaps.cpp - Idle gaps of ranks and their causes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explain/IdleGaps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace pipec {

StringRef bindingName(Binding binding) {
  static constexpr StringLiteral names[] = {
#define PIPEC_BINDING(Id, Name) Name,
#include "Explain/Bindings.def"
  };
  return names[unsigned(binding)];
}

//===----------------------------------------------------------------------===//
// Waits before a step
//===----------------------------------------------------------------------===//

WaitParts &WaitParts::operator+=(const WaitParts &other) {
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name) Name += other.Name;
#include "Explain/Bindings.def"
  return *this;
}

WaitParts waitParts(const Causes &causes, unsigned rank, size_t begin,
                    int64_t since) {
  const StepList &list = causes.schedule().ranks[rank];
  const Simulation &run = causes.simulation();
  const std::optional<TransferTimes> &transfers = causes.transfers();
  WaitParts parts;
  int64_t start = run.start(rank, begin);
  if (start <= since)
    return parts;
  int64_t made = since, there = since, arrived = since;
  for (size_t i = begin, end = Schedule::groupEnd(list, begin); i != end; ++i) {
    if (std::optional<ResultTimes::Input> needs =
            causes.results().input(rank, list[i])) {
      made = std::max(made, needs->made);
      there = std::max(there, needs->there);
      if (!transfers)
        arrived = std::max(arrived, needs->arrived);
    }
    if (!transfers)
      continue;
    for (uint32_t receive : transfers->receives(run.numbers().of(rank, i)))
      arrived = std::max(arrived, transfers->batchEnd(receive));
  }
  made = std::min(made, start);
  there = std::clamp(there, made, start);
  arrived = std::clamp(arrived, there, start);
  // The rank continues when all of its waits before the step are over.
  size_t first = begin;
  while (first != 0 && !causes.isOwn(list[first - 1]))
    --first;
  int64_t waited = arrived, copied = 0;
  for (size_t i = first; i != begin; ++i)
    if (auto over = causes.holdEnd({rank, uint32_t(i)})) {
      int64_t end = std::clamp(*over, arrived, start);
      if (list[i].kind() == StepKind::WaitOffload)
        copied += std::max<int64_t>(end - waited, 0);
      waited = end;
    }
  int64_t loaded = waited, reduced = waited;
  for (size_t i = begin, end = Schedule::groupEnd(list, begin); i != end; ++i) {
    StepRef at = {rank, uint32_t(i)};
    loaded = std::max(loaded, causes.endOf(causes.copyBefore(at)));
    reduced = std::max(reduced, causes.endOf(causes.reductionBefore(at)));
  }
  loaded = std::min(loaded, start);
  reduced = std::clamp(reduced, loaded, start);
  parts.dependency = made - since;
  parts.latency = there - made;
  parts.queue = arrived - there;
  parts.wait = waited - arrived - copied + reduced - loaded;
  parts.copy = copied + loaded - waited;
  parts.gather = start - reduced;
  return parts;
}

//===----------------------------------------------------------------------===//
// The largest gaps
//===----------------------------------------------------------------------===//

static bool isLarger(const IdleGap &a, const IdleGap &b) {
  return std::tuple(-a.length(), a.start, a.rank) <
         std::tuple(-b.length(), b.start, b.rank);
}

std::vector<IdleGap> largestGaps(const Schedule &schedule,
                                 const Simulation &simulation, unsigned count) {
  // A heap with the smallest of these gaps on top.
  std::vector<IdleGap> kept;
  for (unsigned rank = 0; count != 0 && rank != schedule.numRanks; ++rank)
    forEachGap(schedule, simulation, rank,
               [&](int64_t from, int64_t to, size_t begin) {
                 IdleGap gap = {rank, from, to, {rank, uint32_t(begin)}};
                 if (kept.size() == count && !isLarger(gap, kept.front()))
                   return;
                 kept.push_back(gap);
                 std::push_heap(kept.begin(), kept.end(), isLarger);
                 if (kept.size() <= count)
                   return;
                 std::pop_heap(kept.begin(), kept.end(), isLarger);
                 kept.pop_back();
               });
  std::sort_heap(kept.begin(), kept.end(), isLarger);
  return kept;
}

//===----------------------------------------------------------------------===//
// The cause of a gap
//===----------------------------------------------------------------------===//

namespace {

/// Searches for a step that could have filled a gap.
class ReadyStep {
public:
  ReadyStep(IdleGap &gap, const Causes &causes, const MemoryModel &memory)
      : gap(gap), causes(causes), memory(memory), schedule(causes.schedule()),
        run(causes.simulation()), list(schedule.ranks[gap.rank]) {}

  /// Sets `ready`, `overLimit` and `held` of the gap.
  void find();

private:
  bool isReady(size_t index) const;
  void findAway();
  bool isDone(DataKind data, unsigned stage, unsigned microbatch) const;
  void findSharded();
  int64_t mostUntil(int64_t time);

  IdleGap &gap;
  const Causes &causes;
  const MemoryModel &memory;
  const Schedule &schedule;
  const Simulation &run;
  const StepList &list;
  /// True for stages that are managed on the rank and sharded during the gap.
  std::vector<bool> sharded;
  /// Units whose activations are not all on the device: they are copied, or an
  /// R in the rest of the list makes them.
  DenseSet<uint64_t> away;
  /// For each time from the start of the gap at which the memory of the rank
  /// changes, the maximum so far.
  std::vector<std::pair<int64_t, int64_t>> most;
};

} // namespace

/// True if the result of a stage of this rank is available before the gap.
bool ReadyStep::isDone(DataKind data, unsigned stage,
                       unsigned microbatch) const {
  uint32_t maker = causes.results().maker(data, stage, microbatch);
  return maker != StepNumbers::none &&
         run.numbers().rankOf(maker) == gap.rank &&
         maker < run.numbers().of(gap.before);
}

/// True if a step that is not joined could run at the start of the gap and
/// finish within it.
bool ReadyStep::isReady(size_t index) const {
  Step step = list[index];
  if (run.end(gap.rank, index) - run.start(gap.rank, index) > gap.length())
    return false;
  if (step.stage() < sharded.size() && sharded[step.stage()])
    return false;
  // An UPDATE needs all gradients of its stage.
  if (!hasUnit(step.kind()) || away.contains(unitKey(step)))
    return false;
  if (step.kind() == StepKind::W)
    return isDone(DataKind::Gradient, step.stage(), step.unit());
  if (step.kind() != StepKind::F &&
      !isDone(DataKind::Activation, step.stage(), step.unit()))
    return false;
  std::optional<ResultTimes::Input> input =
      causes.results().input(gap.rank, step);
  return !input || input->there <= gap.start;
}

/// Finds the units whose copy has not ended when the gap begins.
void ReadyStep::findAway() {
  if (causes.hasCopies())
    for (size_t i = 0; i != gap.before.index; ++i)
      if (isCopy(list[i].kind()) && run.end(gap.rank, i) > gap.start)
        away.insert(unitKey(list[i]));
}

void ReadyStep::findSharded() {
  auto isManaging = [](Step step) {
    return step.kind() == StepKind::Unshard || step.kind() == StepKind::Reshard;
  };
  if (none_of(list, isManaging))
    return;
  sharded.assign(schedule.numStages, false);
  for (Step step : list)
    if (isManaging(step))
      sharded[step.stage()] = true;
  for (size_t i = 0; i != gap.before.index; ++i)
    if (isManaging(list[i]))
      sharded[list[i].stage()] = list[i].kind() == StepKind::Reshard ||
                                 run.end(gap.rank, i) > gap.start;
}

/// The maximum memory of the rank from the start of the gap until `time`.
int64_t ReadyStep::mostUntil(int64_t time) {
  if (most.empty()) {
    most.push_back({gap.start, 0});
    memory.curve(run, gap.rank, [&](int64_t at, const MemoryLevel &level) {
      if (at <= gap.start)
        most.front().second = level.total();
      else
        most.emplace_back(at, std::max(most.back().second, level.total()));
    });
  }
  auto later = llvm::partition_point(
      drop_begin(most), [&](const auto &level) { return level.first < time; });
  return std::prev(later)->second;
}

void ReadyStep::find() {
  findSharded();
  findAway();
  std::optional<Rational> limit = schedule.memory.limit(gap.rank);
  for (size_t begin = gap.before.index, end; begin != list.size();
       begin = end) {
    end = Schedule::groupEnd(list, begin);
    Step step = list[begin];
    bool isOther = begin == gap.before.index || end - begin != 1 ||
                   !causes.isOwn(step) || !isReady(begin);
    for (size_t i = begin; i != end; ++i)
      if (list[i].kind() == StepKind::R || isCopy(list[i].kind()))
        away.insert(unitKey(list[i]));
    if (isOther)
      continue;
    int64_t taken = memory.taken(step);
    int64_t held = 0;
    bool over = false;
    if (limit && taken > 0) {
      held = mostUntil(run.start(gap.rank, begin)) + taken;
      over = memory.size(held) > *limit;
    }
    if (over && gap.ready)
      continue;
    gap.ready = StepRef{gap.rank, uint32_t(begin)};
    gap.overLimit = over;
    gap.held = held;
    if (!over)
      return;
  }
}

GapCause gapCause(const Causes &causes, StepRef before, int64_t since) {
  constexpr unsigned maxLinks = 32;
  const Simulation &run = causes.simulation();
  GapCause cause;
  cause.parts = waitParts(causes, before.rank, before.index, since);
  std::optional<PathStep> link = causes.link(run.numbers().of(before));
  for (unsigned i = 0; i != maxLinks; ++i) {
    link = causes.linkBefore(*link);
    if (!link)
      break;
    StepRef at = run.numbers().at(link->step);
    StepKind kind = causes.schedule().ranks[at.rank][at.index].kind();
    if (isCompute(kind)) {
      cause.step = link->step;
      break;
    }
    if (isCopy(kind) && cause.copy == StepNumbers::none)
      cause.copy = link->step;
    if (link->start <= since)
      break;
  }
  return cause;
}

void findReadyStep(IdleGap &gap, const Causes &causes,
                   const MemoryModel &memory) {
  ReadyStep(gap, causes, memory).find();
}

void explainGap(IdleGap &gap, const Causes &causes, const MemoryModel &memory) {
  uint32_t step = causes.simulation().numbers().of(gap.before);
  PathSteps chain = causeChain(causes, step, gap.start, /*maxLinks=*/2);
  gap.link = chain.back();
  if (chain.size() > 1)
    gap.cause = chain.front();
  gap.parts = waitParts(causes, gap.rank, gap.before.index, gap.start);
  findReadyStep(gap, causes, memory);
  if (gap.ready) {
    gap.binding = gap.overLimit ? Binding::Memory : Binding::Order;
    return;
  }
  int64_t largest = -1;
#define PIPEC_BINDING(Id, Name)
#define PIPEC_WAIT_PART(Id, Name)                                              \
  if (gap.parts.Name > largest) {                                              \
    largest = gap.parts.Name;                                                  \
    gap.binding = Binding::Id;                                                 \
  }
#include "Explain/Bindings.def"
}

} // namespace pipec
