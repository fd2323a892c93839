//===- Calibration.cpp - Figures of a real run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Calibration.h"

#include "Cost/SettingsText.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

using namespace llvm;

namespace pipec {

Rational milliseconds(int64_t nanoseconds) {
  int64_t grain = nanoseconds >= 1000000  ? 1000
                  : nanoseconds >= 100000 ? 100
                                          : 1;
  return *Rational::make((nanoseconds + grain / 2) / grain, 1000000 / grain);
}

static Rational thousandths(int64_t value) {
  return *Rational::make(value, 1000);
}

namespace {

class Calibrator {
public:
  explicit Calibrator(const Recording &recording)
      : recording(recording), transfers(findTransfers(recording)) {
    result.clocks = setClocks(recording, transfers);
    measured = measureSteps(recording, result.clocks);
    result.numSteps = recording.numSteps();
  }
  Calibration run();

private:
  using Key = MeasuredSteps::Key;
  /// Converts samples, which are whole numbers.
  using Unit = Rational (*)(int64_t);

  void findRankFactors();
  void setSteps();
  void setOverlaps();
  void setTransfers();
  void setMemory();
  void setStepTime();
  void nameLeftOut();
  void nameSlowRanks();

  void add(FigureBlock block, Key key, int64_t value, ArrayRef<int64_t> sorted,
           Unit unit, Evidence evidence,
           const SmallVector<StepKind, 2> &members = {});
  void leaveOut(const Twine &text) { result.leftOut.push_back(text.str()); }

  const Recording &recording;
  std::vector<MeasuredTransfer> transfers;
  Calibration result;
  MeasuredSteps measured;
  /// Steps of a stage alone, in nanoseconds.
  std::map<Key, int64_t> alone;
};

} // namespace

/// Adds a figure with the quartiles of its samples.
void Calibrator::add(FigureBlock block, Key key, int64_t value,
                     ArrayRef<int64_t> sorted, Unit unit, Evidence evidence,
                     const SmallVector<StepKind, 2> &members) {
  if (!members.empty())
    result.costs.set(
        CostSettings::Overlap{members, unit(value), /*isFactor=*/true});
  else if (block == FigureBlock::Cost)
    result.costs.set(key.first, unit(value), key.second);
  else
    result.memory.set(key.first, unit(value), key.second);
  result.figures.push_back({block, key.first, key.second, members, unit(value),
                            unit(quartile(sorted, 1)),
                            unit(quartile(sorted, 3)), sorted.size(),
                            evidence});
}

//===----------------------------------------------------------------------===//
// Compute steps and collectives
//===----------------------------------------------------------------------===//

/// Where several ranks run a stage, their speeds differ by factors that are
/// close to 1 for all but slow ranks; sets those, and leaves the times of one
/// rank of factor 1.
void Calibrator::findRankFactors() {
  constexpr int64_t notable = 1050;
  std::map<unsigned, std::vector<int64_t>> ratios;
  for (auto &[key, byRank] : measured.steps) {
    if (byRank.size() < 2)
      continue;
    int64_t least = std::numeric_limits<int64_t>::max();
    std::map<unsigned, int64_t> typical;
    for (auto &[rank, samples] : byRank) {
      typical[rank] = samples.typical();
      least = std::min(least, typical[rank]);
    }
    for (auto [rank, time] : typical)
      if (least > 0)
        ratios[rank].push_back(
            std::llround(1000.0 * double(time) / double(least)));
  }
  for (auto &[rank, all] : ratios) {
    llvm::sort(all);
    if (quartile(all, 2) >= notable)
      add(FigureBlock::Cost, {Figure::Factor, Place{FigureScope::Rank, rank}},
          quartile(all, 2), all, thousandths, Evidence::Executor);
  }
}

void Calibrator::setSteps() {
  for (auto &[key, byRank] : measured.steps) {
    // With a factor, the times of the rank as one without.
    Samples all;
    for (auto &[rank, samples] : byRank) {
      (void)samples.typical();
      Rational factor =
          result.costs.get(Figure::Factor, Place{FigureScope::Rank, rank})
              .value_or(1);
      for (int64_t time : samples.all)
        all.all.push_back(std::llround(double(time) / factor.toDouble()));
      all.evidence = samples.evidence;
    }
    int64_t typical = all.typical();
    alone[key] = typical;
    add(FigureBlock::Cost, key, typical, all.all, milliseconds, all.evidence);
  }
}

/// The time of an overlap, as a factor of the times of its members.
void Calibrator::setOverlaps() {
  std::map<SmallVector<StepKind, 2>, std::vector<int64_t>> ratios;
  std::set<std::string> unknown;
  for (const StepSpan &span : measured.overlaps) {
    SmallVector<StepKind, 2> kinds;
    int64_t sum = 0;
    bool known = true;
    for (Step step : recording.cells[span.cell]) {
      kinds.push_back(step.kind());
      auto it = alone.find(
          {costFigure(step.kind()), Place{FigureScope::Stage, step.stage()}});
      known &= it != alone.end();
      sum += it == alone.end() ? 0 : it->second;
    }
    if (known && sum > 0)
      ratios[kinds].push_back(
          std::llround(1000.0 * double(span.work()) / double(sum)));
    else
      unknown.insert(overlapText(kinds));
  }
  for (auto &[kinds, all] : ratios) {
    llvm::sort(all);
    const RecordedRank &rank = recording.ranks.front();
    add(FigureBlock::Cost, {Figure::Factor, Place{FigureScope::Overlap}},
        quartile(all, 2), all, thousandths, evidenceOf(rank, rank.hasDevice),
        kinds);
  }
  for (const std::string &kinds : unknown)
    if (!any_of(ratios, [&](const auto &entry) {
          return overlapText(entry.first) == kinds;
        }))
      leaveOut("overlap " + shortened(kinds) + ": its members never run alone");
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

void Calibrator::setTransfers() {
  const Clocks &clocks = result.clocks;
  std::vector<int64_t> latencies, occupancies;
  std::vector<std::string> withoutOccupancy;
  for (const auto &[ends, edge] : measureEdges(transfers, clocks)) {
    Place place{FigureScope::Edge, ends.first, ends.second};
    std::string name = utostr(ends.first) + " -> " + utostr(ends.second);
    if (!clocks.known[ends.first] || !clocks.known[ends.second]) {
      leaveOut("p2p of edge " + name +
               ": no transfers in both directions set the clocks");
      continue;
    }
    if (edge.times.empty()) {
      leaveOut("p2p of edge " + name +
               ": no receive waited for a send that came after it");
      continue;
    }
    int64_t time = edge.times.front();
    int64_t uncertainty = 0;
    if (clocks.clock[ends.first] != clocks.clock[ends.second])
      uncertainty =
          clocks.uncertainty[ends.first] + clocks.uncertainty[ends.second];
    if (time < 0 || uncertainty > time) {
      leaveOut("p2p of edge " + name + ": the clocks are uncertain by " +
               utostr(uint64_t(uncertainty) / 1000) +
               " us, the transfer takes " + itostr(time / 1000) + " us");
      continue;
    }
    int64_t occupancy = edge.gaps.empty() ? 0 : edge.gaps.front();
    occupancy = std::min(occupancy, time);
    latencies.push_back(time - occupancy);
    std::vector<int64_t> free = edge.times;
    for (int64_t &each : free)
      each -= occupancy;
    add(FigureBlock::Cost, {Figure::P2P, place}, free.front(), free,
        milliseconds, Evidence::Transfers);
    if (edge.gaps.empty()) {
      withoutOccupancy.push_back(name);
      continue;
    }
    occupancies.push_back(occupancy);
    add(FigureBlock::Cost, {Figure::Occupancy, place}, occupancy, edge.gaps,
        milliseconds, Evidence::Transfers);
  }
  if (!withoutOccupancy.empty())
    leaveOut("occupancy of edge" +
             Twine(withoutOccupancy.size() > 1 ? "s " : " ") +
             join(withoutOccupancy, ", ") +
             ": no transfers followed each other closely; it is part of p2p");
  // Other edges get the median.
  for (auto [figure, all] : {std::pair(Figure::P2P, &latencies),
                             std::pair(Figure::Occupancy, &occupancies)}) {
    if (all->empty())
      continue;
    llvm::sort(*all);
    add(FigureBlock::Cost, {figure, Place{}}, quartile(*all, 2), *all,
        milliseconds, Evidence::Transfers);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Calibrator::setMemory() {
  std::map<Key, std::vector<int64_t>> sizes = measureMemory(recording);
  if (sizes.empty())
    return leaveOut("memory: the traces have no allocations");
  auto bytes = [](int64_t number) { return Rational(number); };
  for (auto &[key, all] : sizes)
    add(FigureBlock::Memory, key, quartile(all, 2), all, bytes,
        Evidence::Allocations);
  leaveOut("parameters, sharded and limit of memory: not in traces");
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Every other step needs the output of a forward of stage 0, so a training
/// step begins with one; spans of the others may begin with waits.
static bool isFirstForward(ArrayRef<Step> members) {
  return any_of(members, [](Step step) {
    return step.kind() == StepKind::F && step.stage() == 0;
  });
}

void Calibrator::setStepTime() {
  if (!recording.stepsAgree || is_contained(result.clocks.known, false))
    return;
  std::vector<int64_t> times;
  for (size_t i = 0; i != recording.numSteps(); ++i) {
    int64_t first = std::numeric_limits<int64_t>::max();
    int64_t last = std::numeric_limits<int64_t>::min();
    for (auto [number, rank] : enumerate(recording.ranks))
      for (const StepSpan &span : rank.steps[i]) {
        ArrayRef<Step> members = recording.cells[span.cell];
        if (!isCompute(members[0].kind()) || (rank.hasDevice && !span.isDevice))
          continue;
        int64_t offset = result.clocks.offset[number];
        if (isFirstForward(members))
          first = std::min(first, span.start + span.waited + offset);
        last = std::max(last, span.end + offset);
      }
    // A trace of some other model part has no forward of stage 0.
    if (first > last)
      return;
    times.push_back(last - first);
    result.spans.push_back({first, last});
  }
  llvm::sort(times);
  result.stepTime = {milliseconds(times.front()),
                     milliseconds(quartile(times, 2)),
                     milliseconds(times.back())};
}

void Calibrator::nameLeftOut() {
  std::vector<StringRef> missing;
  std::vector<std::string> partial;
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W}) {
    std::vector<unsigned> stages;
    for (unsigned stage = 0; stage != recording.numStages; ++stage)
      if (!measured.steps.count(
              {costFigure(kind), Place{FigureScope::Stage, stage}}))
        stages.push_back(stage);
    if (stages.size() == recording.numStages)
      missing.push_back(stepKindName(kind));
    else if (!stages.empty())
      partial.push_back((stepKindName(kind) + " of stages " + listText(stages) +
                         ": not in the traces")
                            .str());
  }
  // The summary says what costs that are not in the profile will be.
  bool hasB = !is_contained(missing, "B");
  bool hasHalf = !is_contained(missing, "I") || !is_contained(missing, "W");
  if (!missing.empty())
    leaveOut(join(missing, ", ") + ": not in the traces");
  if (hasB && !hasHalf)
    leaveOut("I, W: whole backwards do not tell them; they are taken as half "
             "of B, while I + W is about 1.5 B in PyTorch; a run of zb1p "
             "measures them");
  else if (hasHalf && !hasB)
    leaveOut("B: split backwards do not tell it; it is taken as I + W, which "
             "is about 1.5 B in PyTorch; a run of 1F1B measures it");
  append_range(result.leftOut, partial);
  if (!measured.hostCollectives.empty())
    leaveOut(
        join(map_range(measured.hostCollectives, stepKindName), ", ") +
        ": the spans show when a collective or a copy starts, not how long "
        "it takes");
  if (!recording.stepsAgree)
    leaveOut("p2p: the ranks have different numbers of training steps");
  else if (transfers.empty() && recording.ranks.size() > 1)
    leaveOut("p2p: the traces do not show when receives end; spans `PPWAIT:`, "
             "which pipec.torch.profile adds, do");
}

/// Lists ranks with slow forwards. If no other rank runs their stages, a slow
/// rank cannot be distinguished from a large stage.
void Calibrator::nameSlowRanks() {
  constexpr double notable = 1.1;
  std::map<unsigned, std::pair<int64_t, unsigned>> sums;
  for (const auto &[key, byRank] : measured.steps) {
    if (key.first != Figure::F)
      continue;
    if (byRank.size() > 1)
      return;
    auto &[time, stages] = sums[byRank.begin()->first];
    time += alone[key];
    ++stages;
  }
  if (sums.empty())
    return;
  std::vector<int64_t> means;
  for (auto &[rank, sum] : sums)
    means.push_back(sum.first / sum.second);
  llvm::sort(means);
  int64_t middle = quartile(means, 2);
  for (auto &[rank, sum] : sums) {
    double ratio = double(sum.first) / double(sum.second) /
                   double(std::max<int64_t>(middle, 1));
    if (ratio >= notable)
      leaveOut("factor of rank " + Twine(rank) + ": its forwards take " +
               formatv("{0:f2}", ratio).str() +
               " times those of the median rank; no other rank runs its "
               "stages, so this is in their figures");
  }
}

Calibration Calibrator::run() {
  findRankFactors();
  setSteps();
  setOverlaps();
  nameLeftOut();
  nameSlowRanks();
  setTransfers();
  setMemory();
  setStepTime();
  std::ranges::stable_sort(result.figures, {}, [](const MeasuredFigure &each) {
    return std::tuple(each.block, each.figure, each.place);
  });
  return std::move(result);
}

Calibration calibrate(const Recording &recording) {
  return Calibrator(recording).run();
}

} // namespace pipec
