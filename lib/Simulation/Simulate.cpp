//===- Simulate.cpp - Simulating a schedule -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `OrderWalk` runs schedules under free arrival, `WaitEngine` under a model.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Simulate.h"

#include "IR/OrderWalk.h"
#include "IR/TiedMeetings.h"
#include "Simulation/Blocked.h"
#include "Simulation/DrawnRun.h"
#include "Simulation/Resources.h"
#include "Simulation/SharedRun.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Waiting/DeadlockReport.h"
#include "Waiting/WaitEngine.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

/// Creates simulations.
class Simulator {
public:
  /// Under free arrival without a model.
  static FailureOr<Simulation> run(const Schedule &schedule,
                                   std::optional<CommModel> model,
                                   DiagEngine &diags, int64_t parts = 1);
  static FailureOr<Simulation>
  recorded(const Schedule &schedule, ArrayRef<std::vector<RecordedTime>> times,
           int64_t perUnit, DiagEngine &diags);
  static FailureOr<DrawnMakespans> sample(const Schedule &schedule,
                                          std::optional<CommModel> model,
                                          const Jitter &jitter,
                                          DiagEngine &diags);

private:
  static LogicalResult run(Simulation &simulation, DiagEngine &diags);
};

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {

/// A run under free arrival (`FreeClock`).
template <bool resources> class FreeRun : FreeClock<resources> {
  using Clock = FreeClock<resources>;

public:
  /// When a result is available to its consumer.
  struct Datum {
    int64_t arrival = never;
  };

  FreeRun(const Schedule &schedule, const TickCosts &costs,
          const StepNumbers &numbers, std::vector<int64_t> &starts)
      : Clock(schedule, costs), numbers(numbers), starts(starts) {}

  using Clock::mayRun;
  using Clock::takeReleased;
  static bool isThere(const Datum &datum) { return datum.arrival != never; }
  void take(unsigned rank, const Datum &datum) {
    Clock::waitFor(rank, datum.arrival);
  }
  void visit(unsigned rank, size_t begin, size_t end) {
    int64_t start = Clock::run(rank, begin, end);
    for (size_t i = begin; i != end; ++i)
      starts[numbers.of(rank, i)] = start;
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &port) {
    return {Clock::arrival(rank, Clock::step(rank, index), port)};
  }

private:
  static constexpr int64_t never = -1;

  const StepNumbers &numbers;
  std::vector<int64_t> &starts;
};

/// The clock of a run under a model; without `resources`, there are no streams,
/// edges and draws.
template <bool resources> struct TickClock {
  static constexpr bool timed = true;
  static constexpr bool waitsForResources = resources;
  const TickCosts &costs;
  std::vector<int64_t> &starts;
  std::vector<int64_t> rankEnds;
  std::optional<Streams> streams = std::nullopt;
  std::optional<EdgeQueues> edges = std::nullopt;

  int64_t duration(ArrayRef<Step> list, size_t begin, size_t end) const {
    return resources ? costs.duration(list, begin, end)
                     : costs.ownDuration(list, begin, end);
  }
  int64_t hop(unsigned from, unsigned to, auto send) const {
    return resources && costs.isDrawn() ? costs.hop(from, to, send())
                                        : costs.hop(from, to);
  }
  int64_t reduceTied() const { return costs.reduceTied(); }
};

} // namespace

LogicalResult checkResults(const Schedule &schedule, DiagEngine &diags) {
  size_t steps = schedule.numSteps();
  if (size_t(schedule.numStages) * schedule.numUnits <= steps)
    return success();
  return diags.report(schedule.source, diag::TooFewSteps, steps,
                      schedule.numStages, schedule.numUnits);
}

/// Changes the starts of the REDUCE_TIED of a run from the times at which they
/// may start on their own rank to those at which all ranks of their group have
/// reached that, and have ended the earlier ones. All groups must meet. What
/// waits for them, an UPDATE, has done so (IR/TiedSums.h): no other start
/// changes. Linear.
static void setTiedStarts(const Schedule &schedule,
                          const TiedMeetings &meetings, const TickCosts &costs,
                          const StepNumbers &numbers,
                          std::vector<int64_t> &starts) {
  std::vector<int64_t> free(schedule.ranks.size());
  for (unsigned group : meetings.order()) {
    int64_t start = 0;
    for (StepRef step : meetings.steps(group))
      start = std::max({start, starts[numbers.of(step)], free[step.rank]});
    for (StepRef step : meetings.steps(group)) {
      starts[numbers.of(step)] = start;
      free[step.rank] = start + costs.reduceTied();
    }
  }
}

FailureOr<Simulation> Simulator::run(const Schedule &schedule,
                                     std::optional<CommModel> model,
                                     DiagEngine &diags, int64_t parts) {
  if (!model && failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags, parts);
  if (failed(costs))
    return failure();
  Simulation simulation(schedule, std::move(*costs));
  simulation.waitModel = model;
  if (failed(run(simulation, diags)))
    return failure();
  return simulation;
}

/// Runs the schedule of `simulation` under its costs and its model.
LogicalResult Simulator::run(Simulation &simulation, DiagEngine &diags) {
  const Schedule &schedule = *simulation.schedule;
  const std::optional<CommModel> &model = simulation.waitModel;
  const TickCosts &ticks = simulation.tickCosts;
  const StepNumbers &numbers = simulation.stepNumbers;
  std::vector<int64_t> &starts = simulation.starts;
  auto endsFreely = [&](auto client) {
    OrderWalk<decltype(client)> walk(schedule, client);
    bool good = walk.run();
    if (!good)
      (void)reportBlocked(schedule, walk, diags);
    return good;
  };
  auto endsUnderModel = [&](auto clock) {
    const Transfers &transfers = simulation.stepTransfers.emplace(schedule);
    WaitState state =
        WaitEngine<decltype(clock)>(schedule, transfers, *model, clock).run();
    bool good = state.incomplete == 0;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      good = good && state.at[rank] == schedule.ranks[rank].size();
    return good;
  };
  auto ends = [&](auto resources) {
    constexpr bool any = decltype(resources)::value;
    if (!model)
      return endsFreely(FreeRun<any>(schedule, ticks, numbers, starts));
    TickClock<any> clock{ticks, starts,
                         std::vector<int64_t>(schedule.numRanks)};
    if constexpr (any) {
      clock.streams.emplace(schedule, ticks);
      clock.edges.emplace(schedule, ticks);
    }
    return endsUnderModel(std::move(clock));
  };
  bool shared = !model && needsSharedRun(schedule, ticks);
  if (model && sharesResources(schedule, ticks))
    return diags.report(schedule.source, diag::ShareUnderModel,
                        ticks.hasPorts() ? "port" : "share", model->name());
  if (model && failed(checkEdges(schedule, *model, diags)))
    return failure();
  bool good = false;
  if (shared) {
    SharedRun sharedRun(schedule, ticks, numbers, starts);
    good = sharedRun.run();
    simulation.dataArrivals = sharedRun.takeArrivals();
  }
  // If a run with shared streams stops, so does one without, which says where.
  if (!good) {
    good = needsAll(schedule, ticks) ? ends(std::true_type())
                                     : ends(std::false_type());
    assert(!(shared && good));
  }
  if (!good && !model)
    return failure();
  TiedMeetings meetings(schedule);
  if (!good || !meetings.allMeet()) {
    if (!model)
      simulation.stepTransfers.emplace(schedule);
    reportDeadlock(Waiting(schedule, *simulation.stepTransfers,
                           model.value_or(WaitModel::Edge)),
                   Severity::Error, nullptr, diags, /*heads=*/!!model);
    return failure();
  }
  setTiedStarts(schedule, meetings, ticks, numbers, starts);
  simulation.summarize();
  return success();
}

FailureOr<DrawnMakespans> Simulator::sample(const Schedule &schedule,
                                            std::optional<CommModel> model,
                                            const Jitter &jitter,
                                            DiagEngine &diags) {
  JitterFactors factors(schedule, jitter);
  // Ticks small enough that rounding down does not matter, if they fit.
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags, 1 << 20);
  auto fits = [&] {
    return costs->longestRun() <=
           std::numeric_limits<int64_t>::max() / 4 / factors.greatest();
  };
  if (succeeded(costs) && !fits())
    costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  if (!fits())
    return diags.report(schedule.source, diag::TimesTooLarge);
  DrawnMakespans drawn{{}, costs->perUnit(), {}};
  bool isPlain = !model && !needsResources(schedule, *costs) &&
                 !needsSharedRun(schedule, *costs) && costs->reduceTied() == 0;
  if (isPlain && schedule.numSteps() <= DrawnRun::mostSteps) {
    DrawnRun run(schedule, *costs);
    drawn.onPath.resize(schedule.numRanks);
    for (unsigned first = 0; first < schedule.numRanks;
         first += DrawnRun::pathRanks) {
      drawn.ticks.clear();
      for (unsigned draw = 0; draw < jitter.draws; draw += DrawnRun::lanes)
        run.run(factors, draw, jitter.draws - draw, drawn.ticks, first,
                drawn.onPath);
    }
    return drawn;
  }
  Simulation simulation(schedule, std::move(*costs));
  simulation.waitModel = model;
  for (unsigned number = 0; number != jitter.draws; ++number) {
    CostDraw draw(factors, number);
    simulation.tickCosts.setDraw(&draw);
    std::ranges::fill(simulation.starts, 0);
    LogicalResult result = run(simulation, diags);
    simulation.tickCosts.setDraw(nullptr);
    if (failed(result))
      return failure();
    drawn.ticks.push_back(simulation.makespan());
  }
  return drawn;
}

FailureOr<DrawnMakespans> drawMakespans(const Schedule &schedule,
                                        std::optional<CommModel> model,
                                        const Jitter &jitter,
                                        DiagEngine &diags) {
  if (schedule.hasP2P())
    model = model.value_or(WaitModel::Edge);
  else
    model.reset();
  return Simulator::sample(schedule, model, jitter, diags);
}

FailureOr<Simulation> simulate(const Schedule &schedule, DiagEngine &diags) {
  return Simulator::run(schedule, std::nullopt, diags);
}

FailureOr<Simulation> simulate(const Schedule &schedule, const CommModel &model,
                               DiagEngine &diags) {
  return Simulator::run(schedule, model, diags);
}

FailureOr<Simulation> simulate(const Schedule &schedule,
                               std::optional<CommModel> model,
                               DiagEngine &diags, int64_t parts) {
  if (schedule.hasP2P())
    model = model.value_or(WaitModel::Edge);
  else
    model.reset();
  return Simulator::run(schedule, model, diags, parts);
}

FailureOr<Simulation>
Simulator::recorded(const Schedule &schedule,
                    ArrayRef<std::vector<RecordedTime>> times, int64_t perUnit,
                    DiagEngine &diags) {
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags, perUnit);
  if (failed(costs))
    return failure();
  Simulation simulation(schedule, std::move(*costs));
  simulation.recordedEnds.resize(simulation.starts.size());
  auto ticks = [&](int64_t time) {
    return int64_t(__int128(time) * simulation.tickCosts.perUnit() / perUnit);
  };
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (auto [i, time] : enumerate(times[rank])) {
      uint32_t number = simulation.stepNumbers.of(rank, i);
      simulation.starts[number] = ticks(time.start);
      simulation.recordedEnds[number] = ticks(time.end);
    }
  simulation.summarize();
  return simulation;
}

FailureOr<Simulation> recordedRun(const Schedule &schedule,
                                  ArrayRef<std::vector<RecordedTime>> times,
                                  int64_t perUnit, DiagEngine &diags) {
  return Simulator::recorded(schedule, times, perUnit, diags);
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

void Simulation::summarize() {
  bool any = false;
  bool oneStream = schedule->streams.empty();
  for (unsigned rank = 0; rank != schedule->numRanks; ++rank) {
    const StepList &list = schedule->ranks[rank];
    RankTimes &times = rankTimes[rank] = {};
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
        int64_t duration = isRecorded()
                               ? this->end(rank, begin) - start(rank, begin)
                               : tickCosts.duration(list, begin, end);
        note(start(rank, begin), duration);
        if (oneStream || schedule->streams.of(list[begin]) == 0)
          times.work += duration;
      } else if (isPosted(list[begin].kind())) {
        // Collectives without duration cannot delay a step.
        if (int64_t duration = tickCosts.posted(rank, list[begin]))
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
  if (isRecorded())
    return recordedEnds[stepNumbers.of(rank, index)];
  int64_t begin = start(rank, index);
  if (isP2P(list[index].kind()))
    return transferEnd(rank, index);
  if (isPosted(list[index].kind()))
    return begin + tickCosts.posted(rank, list[index]);
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
  unsigned peer = stepNumbers.rankOf(other);
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
      if (!isCompute(kind) && !transfer && !isPosted(kind))
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
