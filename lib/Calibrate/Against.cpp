//===- Against.cpp - A prediction against a real run ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything measured is of one training step, the one whose time is the
// median, so that its parts add up; only the times of single steps are medians
// over all training steps.
//
//===----------------------------------------------------------------------===//

#include "Calibrate/Against.h"

#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <limits>

using namespace llvm;

namespace pipec {

/// Steps that are shown.
static constexpr size_t shownSteps = 10;
/// Parts of a millisecond in which measured times are kept.
static constexpr int64_t nanosAMilli = 1000000;

/// A time rounded to the nanosecond, the unit of measured times. The
/// nanoseconds fit 62 bits.
static int64_t nanoseconds(Rational milliseconds) {
  __int128 twice = __int128(milliseconds.numerator()) * nanosAMilli * 2;
  __int128 divisor = milliseconds.denominator();
  return int64_t((twice + (twice < 0 ? -divisor : divisor)) / (2 * divisor));
}
static Rational rounded(Rational milliseconds) {
  return *Rational::make(nanoseconds(milliseconds), nanosAMilli);
}

/// Milliseconds with three decimals.
static std::string shownTime(Rational milliseconds) {
  std::string text;
  raw_string_ostream(text) << format("%.3f", milliseconds.toDouble());
  return text;
}

//===----------------------------------------------------------------------===//
// Finding steps
//===----------------------------------------------------------------------===//

/// Where the compute steps of one training step ran. A step that ran in an
/// overlap has the place of that.
class Against::Finder {
public:
  struct Found {
    unsigned rank;
    const StepSpan *span;
  };

  Finder(const DataFlow &flow, const Recording &recording,
         const Calibration &calibration, size_t training)
      : flow(flow), recording(recording), clocks(calibration.clocks),
        training(training) {
    for (auto [number, rank] : enumerate(recording.ranks))
      for (const StepSpan &span : rank.steps[training])
        for (Step step : recording.cells[span.cell])
          if (isCompute(step.kind()))
            places[stepKey(step)] = {unsigned(number), &span};
  }

  std::optional<Found> find(Step step) const {
    auto it = places.find(stepKey(step));
    return it == places.end() ? std::nullopt : std::optional(it->second);
  }
  /// The producer of an input, which may be a B or an I.
  std::optional<Found> findMaker(const DataFlow::Port &port,
                                 unsigned microbatch) const {
    Step maker = DataFlow::partner(port, microbatch);
    auto found = find(maker);
    if (found || maker.kind() != StepKind::B)
      return found;
    maker.setKind(StepKind::I);
    return find(maker);
  }
  /// The times of a span in the clock of rank 0. The waits of a step come
  /// before its work.
  int64_t start(const Found &found) const {
    return found.span->start + found.span->waited + clocks.offset[found.rank];
  }
  int64_t end(const Found &found) const {
    return found.span->end + clocks.offset[found.rank];
  }

  const DataFlow &flow;
  const Recording &recording;
  const Clocks &clocks;
  const size_t training;

private:
  DenseMap<std::pair<uint64_t, unsigned>, Found> places;
};

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Splits the idle time of a rank in the training step by cause, if other spans
/// show it.
void Against::measureRank(unsigned number, const Finder &finder) {
  const RecordedRank &rank = recording->ranks[number];
  int64_t work = 0, dependency = 0, latency = 0, wait = 0, gather = 0,
          other = 0;
  int64_t free = begin, waitedSpans = 0;
  size_t nextWait = 0;
  const std::vector<TraceSpan> &waits = rank.waits[finder.training];
  for (const StepSpan &span : rank.steps[finder.training]) {
    ArrayRef<Step> members = recording->cells[span.cell];
    if (isWait(members[0].kind()))
      waitedSpans += span.hostEnd - span.hostStart;
    if (!isCompute(members[0].kind()) || (rank.hasDevice && !span.isDevice))
      continue;
    int64_t start = finder.start({number, &span});
    int64_t left = std::max<int64_t>(start - free, 0);
    auto take = [&](int64_t &part, int64_t most) {
      int64_t taken = std::clamp<int64_t>(most, 0, left);
      part += taken;
      left -= taken;
    };
    take(wait, waitedSpans);
    waitedSpans = 0;
    int64_t gathered = 0;
    for (; nextWait != waits.size() && waits[nextWait].start < span.hostEnd;
         ++nextWait)
      if (recording->cells[waits[nextWait].cell][0].stream() == Stream::Gather)
        gathered += waits[nextWait].length();
    take(gather, gathered);
    // The input that was made last, and how long its way is.
    int64_t made = free, there = free;
    for (Step step : members)
      for (const DataFlow::Port &port : finder.flow.inputs(step)) {
        auto maker = finder.findMaker(port, step.unit());
        if (!maker || maker->rank == number)
          continue;
        const CostSettings &costs = calibration->costs;
        int64_t way = nanoseconds(costs.latency(maker->rank, number)) +
                      nanoseconds(costs.occupancyOf(maker->rank, number));
        made = std::max(made, finder.end(*maker));
        there = std::max(there, finder.end(*maker) + way);
      }
    take(dependency, std::min(made, start) - free);
    take(latency, std::min(there, start) - std::max(made, free));
    take(other, left);
    work += span.end - span.start - span.waited + span.host;
    free = std::max(free, finder.end({number, &span}) + span.host);
  }
  TimeUse use;
  use.work = milliseconds(work);
  use.waiting = {milliseconds(dependency),
                 milliseconds(latency),
                 0,
                 milliseconds(wait),
                 milliseconds(gather),
                 0,
                 0};
  use.other = milliseconds(other);
  use.done = milliseconds(std::max<int64_t>(end - free, 0));
  use.idle = milliseconds(std::max<int64_t>(end - begin - work, 0));
  measured.push_back(use);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Compares the times of all compute steps.
void Against::findDeviations(const Simulation &run, const DataFlow &flow) {
  std::vector<Finder> finders;
  for (size_t i = 0; i != recording->numSteps(); ++i)
    finders.emplace_back(flow, *recording, *calibration, i);
  for (unsigned rank = 0; rank != schedule->numRanks; ++rank) {
    const StepList &list = schedule->ranks[rank];
    for (size_t from = 0, to = 0; from != list.size(); from = to) {
      to = Schedule::groupEnd(list, from);
      if (!isCompute(list[from].kind()))
        continue;
      std::vector<int64_t> lengths;
      for (const Finder &finder : finders)
        if (auto found = finder.find(list[from]))
          lengths.push_back(found->span->work());
      auto shown = finders[typical].find(list[from]);
      if (lengths.empty() || !shown)
        continue;
      llvm::sort(lengths);
      ++numGroups;
      deviations.push_back(
          {StepRef{rank, uint32_t(from)},
           rounded(run.time(run.end(rank, from) - run.start(rank, from))),
           milliseconds(lengths[(lengths.size() - 1) / 2]),
           rounded(run.time(run.start(rank, from) - run.begin())),
           milliseconds(finders[typical].start(*shown) - begin)});
    }
  }
  auto size = [](const StepDeviation &deviation) {
    Rational difference = deviation.difference();
    return difference.isNegative() ? *Rational::sub(0, difference) : difference;
  };
  llvm::stable_sort(deviations,
                    [&](const StepDeviation &a, const StepDeviation &b) {
                      return size(b) < size(a);
                    });
  if (deviations.size() > shownSteps)
    deviations.resize(shownSteps);
}

/// Makes the schedule that the pictures show as the measured one.
void Against::makeMeasured(const Finder &finder) {
  ran = Schedule(static_cast<const ScheduleHeader &>(*schedule));
  ran.name += ", measured";
  // The simulation of costs has no part in it.
  ran.costs = CostSettings();
  ran.ranks.resize(schedule->numRanks);
  times.resize(schedule->numRanks);
  for (unsigned rank = 0; rank != schedule->numRanks; ++rank) {
    const StepList &list = schedule->ranks[rank];
    for (size_t from = 0, to = 0; from != list.size(); from = to) {
      to = Schedule::groupEnd(list, from);
      auto found =
          isCompute(list[from].kind()) ? finder.find(list[from]) : std::nullopt;
      if (!found)
        continue;
      RecordedTime time{finder.start(*found) - begin,
                        finder.end(*found) - begin};
      // Two members of an overlap that the schedule does not have follow each
      // other.
      if (!times[rank].empty())
        time.start = std::max(time.start, times[rank].back().end);
      time.end = std::max(time.start, time.end);
      for (size_t i = from; i != to; ++i) {
        ran.ranks[rank].push_back(list[i]);
        times[rank].push_back(time);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

FailureOr<Against> Against::make(const Schedule &schedule,
                                 const Recording &recording,
                                 const Calibration &calibration,
                                 std::optional<CommModel> model,
                                 DiagEngine &diags) {
  if (!calibration.stepTime)
    return diags.report(DiagLoc(), diag::TraceNoClock,
                        recording.stepsAgree
                            ? "the traces do not show how their clocks differ"
                            : "they have different numbers of training steps");
  Against result(schedule, recording, calibration);
  result.model = model;
  FailureOr<Simulation> run = simulate(schedule, model, diags);
  ReportOptions options;
  options.model = model;
  options.path = false;
  options.gaps = 0;
  if (failed(run))
    return failure();
  FailureOr<Report> report = makeReport(schedule, options, diags);
  if (failed(report))
    return failure();
  // No time of the simulation is longer than its makespan.
  if (*Rational::make(int64_t(1) << 62, nanosAMilli) <= report->makespan)
    return diags.report(schedule.source, diag::TimesTooLarge);
  result.predictedMakespan = rounded(report->makespan);
  for (const RankReport &rank : report->ranks) {
    TimeUse use;
    use.work = rounded(rank.work);
    use.idle = rounded(rank.idle);
    use.waiting = rank.waiting;
    // The parts are those before steps.
    Rational parts = *Rational::add(rounded(rank.waiting.dependency),
                                    rounded(rank.waiting.exposed));
    use.done = *Rational::sub(use.idle, std::min(parts, use.idle));
    result.predicted.push_back(use);
  }

  const auto &spans = calibration.spans;
  std::vector<size_t> order;
  for (size_t i = 0; i != spans.size(); ++i)
    order.push_back(i);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return spans[a].second - spans[a].first < spans[b].second - spans[b].first;
  });
  result.typical = order[(order.size() - 1) / 2];
  std::tie(result.begin, result.end) = spans[result.typical];
  const DataFlow flow(schedule);
  Finder finder(flow, recording, calibration, result.typical);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    result.measureRank(rank, finder);
  result.findDeviations(*run, flow);
  result.makeMeasured(finder);
  return result;
}

void Against::print(raw_ostream &os) const {
  os << terminalText(schedule->name) << ": " << sizesText(*schedule)
     << "; times in milliseconds\n\n";
  TextTable head("<|predicted|measured|difference");
  Rational time = milliseconds(end - begin);
  std::string percent;
  if (!predictedMakespan.isZero())
    raw_string_ostream(percent) << format(
        "%+.1f %%", 100 * (time.toDouble() / predictedMakespan.toDouble() - 1));
  head.row({"training step", shownTime(predictedMakespan), shownTime(time),
            percent});
  head.print(os);
  os << "measured: training step " << typical + 1 << " of "
     << recording->numSteps() << ", whose time is the median\n";
  if (any_of(recording->ranks, [](const RecordedRank &rank) {
        return rank.origin == TraceOrigin::Kineto && !rank.hasDevice &&
               !rank.hasWaits;
      }))
    os << "the traces have no spans of waits: waits for inputs are in the "
          "work\n";
  os << '\n';

  TextTable table("rank|<|work|idle|dependency|latency|queue|wait|gather|copy|"
                  "other|done");
  auto row = [&](std::string rank, const char *what, const TimeUse &use) {
    std::vector<std::string> cells = {std::move(rank), what,
                                      shownTime(use.work), shownTime(use.idle)};
    auto part = [&](StringRef, Rational time) {
      cells.push_back(time.isZero() ? "" : shownTime(time));
    };
    use.waiting.forEachPart(part);
    part("other", use.other);
    part("done", use.done);
    table.row(std::move(cells));
  };
  for (auto [rank, both] : enumerate(zip_equal(predicted, measured))) {
    row(std::to_string(rank), "predicted", std::get<0>(both));
    row("", "measured", std::get<1>(both));
  }
  table.print(os);

  os << "\nsteps that deviate most, of " << numGroups << '\n';
  TextTable steps("rank|<step|predicted|measured|difference|predicted start|"
                  "measured start");
  StepPlaces places(*schedule);
  for (const StepDeviation &deviation : deviations) {
    std::string difference;
    raw_string_ostream(difference)
        << format("%+.3f", deviation.difference().toDouble());
    steps.row({std::to_string(deviation.step.rank),
               places.groupText(deviation.step.rank, deviation.step.index),
               shownTime(deviation.predictedTime),
               shownTime(deviation.measuredTime), difference,
               shownTime(deviation.predictedStart),
               shownTime(deviation.measuredStart)});
  }
  steps.print(os);
}

LogicalResult Against::emit(EmitFunction emitter, raw_ostream &os,
                            DiagEngine &diags) const {
  EmitOptions options;
  options.model = model;
  options.with = &ran;
  FailureOr<Simulation> run = recordedRun(ran, times, nanosAMilli, diags);
  if (failed(run))
    return failure();
  options.withRun = &*run;
  return emitter(*schedule, options, os, diags);
}

} // namespace pipec
