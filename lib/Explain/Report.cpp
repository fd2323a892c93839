//===- Report.cpp - The figures of a run ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explain/Report.h"

#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <map>
#include <tuple>

using namespace llvm;

namespace pipec {

namespace {

/// Computes a report from a run.
class Reporter {
public:
  Reporter(const Schedule &schedule, const Simulation &run,
           const Causes &causes, const MemoryModel &memory)
      : schedule(schedule), run(run), causes(causes), memory(memory) {
    report.model = run.model();
    report.ticksPerUnit = run.costs().perUnit();
  }

  void summarize();
  void reportRanks();
  bool countTransfers();

  Report report;

private:
  RankReport reportRank(unsigned rank);
  WaitParts waits(unsigned rank) const;

  const Schedule &schedule;
  const Simulation &run;
  const Causes &causes;
  const MemoryModel &memory;
  /// The last rank found to unshard each stage, plus 1.
  std::vector<unsigned> fetched;
};

} // namespace

void Reporter::summarize() {
  report.makespan = run.time(run.makespan());
  report.span = run.time(run.span());
  // `makeReport` has checked that these fit.
  report.bubbleMakespan = *run.bubbleRate(run.makespan());
  report.bubbleSpan = *run.bubbleRate(run.span());
  report.work = run.time(run.work());
  report.memoryLimit = schedule.memory.get(Figure::Limit);
  report.sendWaits = schedule.hasSendWaits();
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

static Rational rateOf(int64_t idle, int64_t clock) {
  return clock == 0 ? Rational(0) : *Rational::make(idle, clock);
}

/// The sum of the waits of a rank before its compute steps.
WaitParts Reporter::waits(unsigned rank) const {
  WaitParts sum;
  forEachGap(schedule, run, rank, [&](int64_t from, int64_t, size_t begin) {
    sum += waitParts(causes, rank, begin, from);
  });
  return sum;
}

RankReport Reporter::reportRank(unsigned rank) {
  RankReport result;
  const RankTimes &times = run.ranks()[rank];
  int64_t idle = run.makespan() - times.work;
  int64_t idleSpan = run.span() - times.work;
  result.start = run.time(times.start);
  result.end = run.time(times.end);
  result.work = run.time(times.work);
  result.idle = run.time(idle);
  result.idleSpan = run.time(idleSpan);
  result.gaps = run.time(times.gaps());
  result.bubbleMakespan = rateOf(idle, run.makespan());
  result.bubbleSpan = rateOf(idleSpan, run.span());
  result.memory = memory.peaks(rank);
  result.memoryLimit = schedule.memory.limit(rank);

  uint64_t outstanding = 0;
  for (Step step : schedule.ranks[rank]) {
    if (isSend(step.kind()))
      result.outstandingSends =
          std::max(result.outstandingSends, ++outstanding);
    else if (isSendWait(step.kind()) && outstanding)
      --outstanding;
    if (step.kind() != StepKind::Unshard)
      continue;
    ++result.unshards;
    if (fetched.empty())
      fetched.resize(schedule.numStages);
    if (std::exchange(fetched[step.stage()], rank + 1) == rank + 1)
      ++result.refetches;
  }
  return result;
}

void Reporter::reportRanks() {
  WaitParts all;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    report.ranks.push_back(reportRank(rank));
    RankReport &self = report.ranks.back();
    WaitParts parts = waits(rank);
    self.waiting = report.time(parts);
    all += parts;
    report.unshards += self.unshards;
    report.refetches += self.refetches;
    for (Rational MemoryPeaks::*peak :
         {&MemoryPeaks::activations, &MemoryPeaks::receives,
          &MemoryPeaks::parameters, &MemoryPeaks::total, &MemoryPeaks::host})
      report.memory.*peak = std::max(report.memory.*peak, self.memory.*peak);
    report.memory.receiveCount =
        std::max(report.memory.receiveCount, self.memory.receiveCount);
  }
  report.waiting = report.time(all);
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// True if the schedule gives the size of a received tensor.
static bool hasSizes(const MemorySettings &memory) {
  return any_of(memory.places(), [](const auto &entry) {
    return entry.second.get(Figure::Receive).has_value();
  });
}

/// Counts the transfers: the sends, or the results that are used on another
/// rank if the schedule has no transfer steps. Returns false if sizes do not
/// fit.
bool Reporter::countTransfers() {
  bool placed = schedule.hasP2P();
  DataFlow flow(schedule);
  // The outputs of all rows, and the first one of each row, in the order of
  // direction, producing stage, and data.
  struct Output {
    unsigned sender;
    bool gradients;
    DataFlow::Port port;
    uint64_t count = 0;
  };
  std::vector<Output> outputs;
  std::vector<size_t> first = {0};
  for (unsigned direction = 0; direction != flow.numDirections(); ++direction)
    for (unsigned stage = 0; stage != schedule.numStages; ++stage)
      for (bool gradients : {false, true}) {
        DataKind data = gradients ? DataKind::Gradient : DataKind::Activation;
        for (const DataFlow::Port &port :
             flow.outputs(flow.row(data, stage, direction)))
          outputs.push_back({flow.homeIn(direction, stage), gradients, port});
        first.push_back(outputs.size());
      }
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      if (placed ? !isSend(step.kind()) : !makesData(step.kind()))
        continue;
      size_t direction = schedule.directionOf(step.unit());
      size_t row = 2 * (direction * schedule.numStages + step.stage()) +
                   (dataKind(step.kind()) == DataKind::Gradient);
      if (!placed)
        for (size_t i = first[row]; i != first[row + 1]; ++i)
          ++outputs[i].count;
      else if (first[row] + step.port() < first[row + 1])
        ++outputs[first[row] + step.port()].count;
    }

  std::map<std::tuple<unsigned, unsigned, bool>, EdgeReport> edges;
  bool sized = hasSizes(schedule.memory), fits = true;
  auto add = [&](std::optional<Rational> &sum, uint64_t count, Rational size) {
    std::optional<Rational> more =
        Rational::mul(Rational(int64_t(count)), size);
    if (more)
      more = Rational::add(sum.value_or(Rational(0)), *more);
    fits = fits && more;
    sum = more;
  };
  for (const auto &[sender, gradients, port, count] : outputs) {
    if (count == 0 || !port.transfers)
      continue;
    EdgeReport &edge = edges[{sender, port.rank, gradients}];
    edge.from = sender;
    edge.to = port.rank;
    edge.gradients = gradients;
    edge.transfers += count;
    report.transfers += count;
    if (sized) {
      Rational size = schedule.memory.receive(port.stage);
      add(edge.volume, count, size);
      add(report.volume, count, size);
    }
  }
  for (auto &[key, edge] : edges)
    report.edges.push_back(edge);
  return fits;
}

//===----------------------------------------------------------------------===//
// Jitter
//===----------------------------------------------------------------------===//

/// ticks / perUnit with 12 significant digits.
static Rational roundedTime(int64_t ticks, int64_t perUnit) {
  int64_t grid = 1;
  for (int64_t left = ticks / perUnit; left < 100'000'000'000;
       left = std::max<int64_t>(left * 10, 1))
    grid *= 10;
  __int128 scaled = __int128(ticks) * grid + perUnit / 2;
  return *Rational::make(int64_t(scaled / perUnit), grid);
}

static FailureOr<JitterReport> makeJitterReport(const Schedule &schedule,
                                                const ReportOptions &options,
                                                DiagEngine &diags) {
  FailureOr<DrawnMakespans> drawn =
      drawMakespans(schedule, options.model, *options.jitter, diags);
  if (failed(drawn))
    return failure();
  std::vector<int64_t> &ticks = drawn->ticks;
  llvm::sort(ticks);
  __int128 sum = 0;
  for (int64_t makespan : ticks)
    sum += makespan;
  auto quantile = [&](uint64_t percent) {
    uint64_t place = (ticks.size() * percent + 99) / 100;
    return roundedTime(ticks[place - 1], drawn->perUnit);
  };
  std::vector<Rational> critical;
  for (unsigned count : drawn->onPath)
    critical.push_back(*Rational::make(count, options.jitter->draws));
  return JitterReport{options.jitter->draws,
                      options.jitter->seed,
                      roundedTime(int64_t(sum / ticks.size()), drawn->perUnit),
                      quantile(50),
                      quantile(95),
                      quantile(99),
                      std::move(critical)};
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

FailureOr<Report> makeReport(const Schedule &schedule,
                             const ReportOptions &options, DiagEngine &diags) {
  FailureOr<Simulation> run = simulate(schedule, options.model, diags);
  if (failed(run) || failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  if (__int128(schedule.numRanks) * run->makespan() >
      std::numeric_limits<int64_t>::max())
    return diags.report(schedule.source, diag::TimesTooLarge);

  Causes causes(schedule, *run);
  Reporter reporter(schedule, *run, causes, *memory);
  Report &report = reporter.report;
  reporter.summarize();
  reporter.reportRanks();
  if (!reporter.countTransfers())
    return diags.report(schedule.source, diag::MemoryTooLarge);
  if (run->model()) {
    FailureOr<Simulation> free = simulate(schedule, diags);
    if (failed(free))
      return failure();
    report.freeMakespan = free->time(free->makespan());
  }
  if (options.jitter) {
    FailureOr<JitterReport> jitter = makeJitterReport(schedule, options, diags);
    if (failed(jitter))
      return failure();
    report.jitter = *jitter;
  }
  if (options.path)
    report.path = criticalPath(causes);
  report.gaps = largestGaps(schedule, *run, options.gaps);
  for (IdleGap &gap : report.gaps)
    explainGap(gap, causes, *memory);
  return std::move(report);
}

} // namespace pipec
