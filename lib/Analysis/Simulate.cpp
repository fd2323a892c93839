//===- Simulate.cpp - When every step runs ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Free arrival: a table says when each result (the activations of a stage, the
// gradient of its input, for a micro-batch) was made. A rank goes through its
// list until it comes to a step whose data has not been made, and remembers
// what it waits for; whoever makes that puts the rank back to work. So each
// step is looked at once, and at most once more for each rank that it blocked.
// Since a start is the latest of two ends, the order in which the ranks take
// their turns does not matter.
//
// Under a model, WaitEngine does the work.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Simulate.h"

#include "Analysis/Blocked.h"
#include "Analysis/Resources.h"
#include "Analysis/WaitEngine.h"
#include "Analysis/Waiting.h"
#include "Analysis/Witness.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

/// Makes simulations.
class Simulator {
public:
  static FailureOr<Simulation> freely(const Schedule &schedule,
                                      DiagEngine &diags,
                                      std::vector<uint32_t> *order);
  static FailureOr<Simulation> under(const Schedule &schedule, WaitModel model,
                                     DiagEngine &diags);
};

//===----------------------------------------------------------------------===//
// Free arrival
//===----------------------------------------------------------------------===//

namespace {

/// One run under free arrival. Collectives and edges are looked at only with
/// `resources`: most runs have costs for neither.
template <bool resources> class FreeRun {
public:
  FreeRun(const Schedule &schedule, const TickCosts &costs,
          const StepNumbers &numbers, std::vector<int64_t> &starts,
          std::vector<uint32_t> *order)
      : schedule(schedule), costs(costs), numbers(numbers), starts(starts),
        order(order),
        made((schedule.forwardOnly ? 1 : 2) * size_t(schedule.numStages) *
                 schedule.numMicrobatches,
             never),
        ranks(schedule.numRanks) {
    if constexpr (resources) {
      collectives.emplace(schedule, costs);
      edges.emplace(costs);
    }
  }

  /// True when every rank came to its end.
  bool run() {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      runnable.push_back(schedule.numRanks - 1 - rank);
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      advance(rank);
    }
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (ranks[rank].at != schedule.ranks[rank].size())
        return false;
    return true;
  }

  /// Reports where every rank stands after a run that did not end.
  void reportHeads(DiagEngine &diags) const {
    std::vector<size_t> heads;
    for (const RankState &rank : ranks)
      heads.push_back(rank.groupBegin);
    (void)reportBlocked(
        schedule, heads,
        [&](Step step) {
          Step supplier = *supplierOf(schedule, step);
          return made[result(supplier.stage(), step.microbatch(),
                             step.kind() != StepKind::F)] == never;
        },
        diags);
  }

private:
  static constexpr int64_t never = -1;
  static constexpr size_t nothing = std::numeric_limits<size_t>::max();

  struct RankState {
    /// The member that is waited for, or the group that comes next.
    size_t at = 0;
    size_t groupBegin = 0;
    int64_t time = 0;
    /// The result that it waits for.
    size_t waitsFor = nothing;
  };

  size_t result(unsigned stage, unsigned microbatch, bool gradient) const {
    return (size_t(gradient) * schedule.numStages + stage) *
               schedule.numMicrobatches +
           microbatch;
  }

  /// The stage whose result `step` needs; -1 when it needs none.
  int supplier(Step step) const {
    if (step.kind() == StepKind::F)
      return int(step.stage()) - 1;
    if (makesInputGradient(step.kind()) && !schedule.isLastStage(step.stage()))
      return int(step.stage()) + 1;
    return -1;
  }

  void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    RankState &self = ranks[rank];
    while (self.at != list.size()) {
      Step step = list[self.at];
      if (isCompute(step.kind())) {
        if (!takeInput(rank, self, step))
          return;
      }
      ++self.at;
      if (step.joined())
        continue;
      finishGroup(rank, list, self);
    }
  }

  bool takeInput(unsigned rank, RankState &self, Step step) {
    if constexpr (resources)
      self.time =
          std::max(self.time, collectives->gatheredAt(rank, step.stage()));
    int stage = supplier(step);
    if (stage < 0)
      return true;
    size_t input = result(stage, step.microbatch(), step.kind() != StepKind::F);
    if (made[input] == never) {
      self.waitsFor = input;
      return false;
    }
    unsigned from = schedule.rankOf(stage, step.microbatch());
    self.time = std::max(self.time, made[input] + costs.hop(from, rank));
    return true;
  }

  void finishGroup(unsigned rank, const StepList &list, RankState &self) {
    uint32_t base = numbers.begin(rank);
    for (size_t i = self.groupBegin; i != self.at; ++i)
      starts[base + i] = self.time;
    if constexpr (resources)
      if (Step step = list[self.groupBegin]; isFsdp(step.kind()))
        starts[base + self.groupBegin] =
            collectives->issue(rank, step, self.time);
    self.time += costs.duration(list, self.groupBegin, self.at);
    for (size_t i = self.groupBegin; i != self.at; ++i) {
      Step step = list[i];
      if (!isCompute(step.kind()))
        continue;
      if (order)
        order->push_back(base + uint32_t(i));
      give(rank, step, self.time);
    }
    self.groupBegin = self.at;
  }

  /// Puts a result into the table and wakes the rank that waits for it.
  void give(unsigned rank, Step step, int64_t end) {
    bool gradient = step.kind() != StepKind::F;
    if (step.kind() == StepKind::W)
      return;
    size_t self = result(step.stage(), step.microbatch(), gradient);
    made[self] = end;
    int user = int(step.stage()) + (gradient ? -1 : 1);
    if (user < 0 || unsigned(user) == schedule.numStages)
      return;
    unsigned to = schedule.rankOf(user, step.microbatch());
    if constexpr (resources)
      if (to != rank)
        made[self] = edges->take(rank, to, end);
    if (ranks[to].waitsFor != self)
      return;
    ranks[to].waitsFor = nothing;
    runnable.push_back(to);
  }

  const Schedule &schedule;
  const TickCosts &costs;
  const StepNumbers &numbers;
  std::vector<int64_t> &starts;
  std::vector<uint32_t> *order;
  std::vector<int64_t> made;
  std::vector<RankState> ranks;
  std::vector<unsigned> runnable;
  std::optional<Collectives> collectives;
  std::optional<EdgeQueues> edges;
};

/// The clock of a run under a model, with collectives and edges or without.
template <bool resources> struct TickClock {
  static constexpr bool timed = true;
  static constexpr bool waitsForResources = resources;
  const TickCosts &costs;
  std::vector<int64_t> &starts;
  std::vector<int64_t> rankEnds;
  std::optional<Collectives> collectives = std::nullopt;
  std::optional<EdgeQueues> edges = std::nullopt;

  int64_t duration(ArrayRef<Step> list, size_t begin, size_t end) const {
    return costs.duration(list, begin, end);
  }
  int64_t hop(unsigned from, unsigned to) const { return costs.hop(from, to); }
};

} // namespace

FailureOr<Simulation> Simulator::freely(const Schedule &schedule,
                                        DiagEngine &diags,
                                        std::vector<uint32_t> *order) {
  size_t steps = schedule.numSteps();
  if (size_t(schedule.numStages) * schedule.numMicrobatches > steps)
    return diags.report(schedule.source, diag::TooFewSteps, steps,
                        schedule.numStages, schedule.numMicrobatches);
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  Simulation simulation(schedule, std::move(*costs));
  auto ends = [&](auto run) {
    bool good = run.run();
    if (!good)
      run.reportHeads(diags);
    return good;
  };
  const TickCosts &ticks = simulation.tickCosts;
  bool resources =
      (ticks.hasCollectives() && schedule.hasFsdp()) || ticks.hasOccupancy();
  bool good = resources
                  ? ends(FreeRun<true>(schedule, ticks, simulation.stepNumbers,
                                       simulation.starts, order))
                  : ends(FreeRun<false>(schedule, ticks, simulation.stepNumbers,
                                        simulation.starts, order));
  if (!good)
    return failure();
  simulation.summarize();
  return simulation;
}

FailureOr<Simulation> Simulator::under(const Schedule &schedule,
                                       WaitModel model, DiagEngine &diags) {
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  Simulation simulation(schedule, std::move(*costs));
  const Transfers &transfers = simulation.stepTransfers.emplace(schedule);
  simulation.waitModel = model;
  const TickCosts &ticks = simulation.tickCosts;
  auto ends = [&](auto clock) {
    WaitState state =
        WaitEngine<decltype(clock)>(schedule, transfers, model, clock).run();
    bool good = state.incomplete == 0;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      good = good && state.at[rank] == schedule.ranks[rank].size();
    return good;
  };
  std::vector<int64_t> rankEnds(schedule.numRanks);
  bool resources =
      (ticks.hasCollectives() && schedule.hasFsdp()) || ticks.hasOccupancy();
  bool good = resources
                  ? ends(TickClock<true>{ticks, simulation.starts, rankEnds,
                                         Collectives(schedule, ticks),
                                         EdgeQueues(ticks)})
                  : ends(TickClock<false>{ticks, simulation.starts, rankEnds});
  if (!good) {
    reportDeadlock(Waiting(schedule, transfers, model), Severity::Error,
                   nullptr, diags, /*heads=*/true);
    return failure();
  }
  simulation.summarize();
  return simulation;
}

FailureOr<Simulation> simulate(const Schedule &schedule, DiagEngine &diags,
                               std::vector<uint32_t> *order) {
  return Simulator::freely(schedule, diags, order);
}

FailureOr<Simulation> simulate(const Schedule &schedule, WaitModel model,
                               DiagEngine &diags) {
  return Simulator::under(schedule, model, diags);
}

FailureOr<Simulation> simulate(const Schedule &schedule,
                               std::optional<WaitModel> model,
                               DiagEngine &diags) {
  if (!schedule.hasP2P())
    return Simulator::freely(schedule, diags, nullptr);
  return Simulator::under(schedule, model.value_or(WaitModel::Edge), diags);
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

void Simulation::summarize() {
  bool any = false;
  for (unsigned rank = 0; rank != schedule->numRanks; ++rank) {
    const StepList &list = schedule->ranks[rank];
    RankTimes &times = rankTimes[rank];
    bool runs = false;
    auto note = [&](int64_t start, int64_t duration) {
      times.start = runs ? std::min(times.start, start) : start;
      times.end =
          runs ? std::max(times.end, start + duration) : start + duration;
      runs = true;
    };
    for (size_t begin = 0; begin != list.size();) {
      size_t end = Schedule::groupEnd(list, begin);
      if (isCompute(list[begin].kind())) {
        int64_t duration = tickCosts.duration(list, begin, end);
        note(start(rank, begin), duration);
        times.work += duration;
      } else if (tickCosts.hasCollectives() && isFsdp(list[begin].kind())) {
        // One that takes no time is nothing to wait for.
        if (int64_t duration = tickCosts.collective(rank, list[begin]))
          note(start(rank, begin), duration);
      }
      begin = end;
    }
    if (!runs)
      continue;
    first = any ? std::min(first, times.start) : times.start;
    last = any ? std::max(last, times.end) : times.end;
    any = true;
  }
}

int64_t Simulation::end(unsigned rank, size_t index) const {
  const StepList &list = schedule->ranks[rank];
  int64_t begin = start(rank, index);
  if (isP2P(list[index].kind()))
    return transferEnd(rank, index);
  if (isFsdp(list[index].kind()))
    return begin + tickCosts.collective(rank, list[index]);
  return begin + tickCosts.duration(list, groupBegin(list, index),
                                    Schedule::groupEnd(list, index));
}

int64_t Simulation::transferEnd(unsigned rank, size_t index) const {
  int64_t self = start(rank, index);
  uint32_t other = stepTransfers
                       ? stepTransfers->other(stepNumbers.of(rank, index))
                       : Transfers::none;
  if (other == Transfers::none)
    return self;
  Step step = schedule->ranks[rank][index];
  bool send = isSend(step.kind());
  unsigned peer = schedule->peerOf(step);
  int64_t hop = send ? tickCosts.hop(rank, peer) : tickCosts.hop(peer, rank);
  if (waitModel != WaitModel::Buffered)
    return std::max(self, starts[other]) + hop;
  return send ? self + hop : std::max(self, starts[other] + hop);
}

int64_t Simulation::span() const {
  int64_t span = 0;
  for (const RankTimes &times : rankTimes)
    span = std::max(span, times.end - times.start);
  return span;
}

int64_t Simulation::work() const {
  int64_t work = 0;
  for (const RankTimes &times : rankTimes)
    work += times.work;
  return work;
}

std::optional<Rational> Simulation::bubbleRate(int64_t clock) const {
  if (clock == 0)
    return Rational(0);
  std::optional<Rational> rate = Rational::make(work(), clock);
  if (rate)
    rate = Rational::div(*rate, Rational(int64_t(rankTimes.size())));
  return rate ? Rational::sub(Rational(1), *rate) : std::nullopt;
}

void fillTimes(Schedule &schedule, const Simulation &simulation) {
  schedule.times.resize(schedule.numRanks);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    auto &times = schedule.times[rank];
    times.assign(list.size(), std::nullopt);
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      StepKind kind = list[begin].kind();
      bool transfer = isP2P(kind) && simulation.model();
      if (!isCompute(kind) && !transfer && !isFsdp(kind))
        continue;
      int64_t start = simulation.start(rank, begin);
      for (size_t i = begin; i != end; ++i)
        start = std::min(start, simulation.start(rank, i));
      std::fill(times.begin() + begin, times.begin() + end,
                simulation.time(start));
    }
  }
}

} // namespace pipec
