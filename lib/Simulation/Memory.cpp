//===- Memory.cpp - The memory of each rank -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Memory.h"

#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

/// The kinds with figures of memory.
static constexpr StepKind computeKinds[] = {StepKind::F, StepKind::B,
                                            StepKind::I, StepKind::W};
static constexpr int64_t mostUnits = std::numeric_limits<int64_t>::max();

FailureOr<MemoryModel> MemoryModel::make(const Schedule &schedule,
                                         DiagEngine &diags) {
  MemoryModel model(schedule);
  model.columns = UnitColumns::ofMemory(schedule);
  model.oneColumn = model.columns.isOne();
  if (!model.findUnit() || !model.convert() || !model.findParameters() ||
      !model.sumsFit())
    return diags.report(schedule.source, diag::MemoryTooLarge);
  return model;
}

/// Calls `visit` with a place for each figure of one stage and unit, and the
/// figure. `anyStage` stands for all stages without settings of their own,
/// usually most of them.
template <typename Visitor>
bool MemoryModel::visitFigures(const MemorySettings &memory, unsigned stage,
                               UnitPlace unit, Stage &into, Visitor visit) {
  for (StepKind kind : computeKinds) {
    std::optional<Rational> delta = memory.delta(kind, stage, unit);
    if (!delta || !visit(into.delta[unsigned(kind)], *delta) ||
        !visit(into.during[unsigned(kind)], memory.during(kind, stage, unit)))
      return false;
  }
  return visit(into.parameters, memory.parameters(stage)) &&
         visit(into.sharded, memory.sharded(stage)) &&
         visit(into.receive, memory.receive(stage)) &&
         visit(into.stash, *memory.of(Figure::Stash, stage, unit)) &&
         visit(into.contextGradient,
               *memory.of(Figure::ContextGradient, stage));
}

bool MemoryModel::findUnit() {
  Stage unused;
  auto widen = [&](int64_t &, Rational value) {
    __int128 next = __int128(unit) / std::gcd(unit, value.denominator()) *
                    value.denominator();
    if (next > mostUnits)
      return false;
    unit = int64_t(next);
    return true;
  };
  const MemorySettings &memory = schedule->memory;
  // Places do not share figures, so each is enough by itself.
  return visitFigures(memory, anyStage, {}, unused, widen) &&
         all_of(memory.in(FigureScope::Stage),
                [&](const auto &entry) {
                  return visitFigures(memory, entry.first.number, {}, unused,
                                      widen);
                }) &&
         all_of(columns.places(), [&](UnitPlace unit) {
           return visitFigures(memory, anyStage, unit, unused, widen);
         });
}

bool MemoryModel::convert() {
  const MemorySettings &memory = schedule->memory;
  auto toUnits = [&](int64_t &into, Rational value) {
    __int128 units = __int128(value.numerator()) * (unit / value.denominator());
    into = int64_t(units);
    return units <= mostUnits && units >= -mostUnits;
  };
  size_t size = columns.size();
  stages.resize(schedule->numStages * size);
  auto convertStage = [&](unsigned stage, MutableArrayRef<Stage> into) {
    for (auto [unit, figures] : zip_equal(columns.places(), into)) {
      if (!visitFigures(memory, stage, unit, figures, toUnits))
        return false;
      constexpr unsigned f = unsigned(StepKind::F), r = unsigned(StepKind::R);
      figures.delta[r] = figures.delta[f] - figures.stash;
      figures.during[r] = figures.during[f];
    }
    return true;
  };
  SmallVector<Stage, 1> common(size);
  if (!convertStage(anyStage, common))
    return false;
  for (size_t begin = 0; begin != stages.size(); begin += size)
    llvm::copy(common, stages.begin() + begin);
  return all_of(memory.in(FigureScope::Stage), [&](const auto &entry) {
    unsigned stage = entry.first.number;
    return stage >= schedule->numStages ||
           convertStage(stage,
                        MutableArrayRef(stages).slice(stage * size, size));
  });
}

bool MemoryModel::findParameters() {
  std::vector<__int128> sums(schedule->numRanks);
  const Placement &placement = schedule->placement;
  for (unsigned d = 0; d != placement.numDirections(); ++d)
    for (auto [stage, rank] : enumerate(placement.map(d)))
      // A rank that holds a stage in both directions keeps it once.
      if (d == 0 || placement.rankOf(stage, 0) != rank)
        sums[rank] += whole(stage).parameters;
  // The last rank found to manage each stage, plus 1.
  std::vector<uint32_t> managedOn(schedule->numStages);
  constexpr uint32_t extras =
      step_facts::kindsOf(Object::Copy) | step_facts::bit(StepKind::R);
  for (auto [rank, list] : enumerate(schedule->ranks))
    for (Step step : list) {
      hasExtras |= step_facts::has(extras, step.kind());
      if ((step.kind() == StepKind::Unshard ||
           step.kind() == StepKind::Reshard) &&
          managedOn[step.stage()] != rank + 1) {
        managedOn[step.stage()] = uint32_t(rank + 1);
        const Stage &stage = whole(step.stage());
        sums[rank] += __int128(stage.sharded) - stage.parameters;
      }
    }
  for (__int128 sum : sums) {
    if (sum > mostUnits / 4 || sum < -mostUnits / 4)
      return false;
    resident.push_back(int64_t(sum));
  }
  return true;
}

/// True if the sum of everything that the steps of a rank allocate, or free,
/// fits.
bool MemoryModel::sumsFit() const {
  auto size = [](int64_t value) {
    return __int128(value < 0 ? -value : value);
  };
  // More than any step changes, with which most lists fit.
  __int128 most = 0;
  for (const Stage &stage : stages)
    for (auto [delta, during] : zip_equal(stage.delta, stage.during))
      most =
          std::max(most, size(delta) + during + size(stage.stash) +
                             size(stage.contextGradient) * schedule->numSlices +
                             size(stage.receive) + size(stage.parameters));
  for (const StepList &list : schedule->ranks) {
    if (most <= mostUnits / 4 / std::max<size_t>(list.size(), 1))
      continue;
    __int128 sum = 0;
    for (Step step : list) {
      const Stage &stage = whole(step.stage());
      if (isCompute(step.kind()))
        sum += size(delta(step)) + during(step) + stash(step) +
               __int128(stage.contextGradient) * schedule->numSlices;
      else if (isRecv(step.kind()))
        sum += size(stage.receive);
      else if (step.stream() == Stream::Gather)
        sum += size(stage.parameters);
    }
    if (sum > mostUnits / 4)
      return false;
  }
  return true;
}

namespace {

/// The memory of each unit of a rank, for lists with an R or copies.
class KeptUnits {
public:
  explicit KeptUnits(const StepList &list) {
    for (Step step : list)
      if (step.kind() == StepKind::R)
        kept[unitKey(step)].recomputed = true;
  }
  bool isRecomputed(Step step) const {
    auto it = kept.find(unitKey(step));
    return it != kept.end() && it->second.recomputed;
  }
  /// The memory of the unit of a step, on the device or on the host.
  int64_t &sizeOf(Step step) { return kept[unitKey(step)].size; }
  void drop(Step step) { kept.erase(unitKey(step)); }

private:
  struct Unit {
    int64_t size = 0;
    bool recomputed = false;
  };
  DenseMap<uint64_t, Unit> kept;
};

} // namespace

/// Calls `visit(begin, end, atEnd, level)` after every change made by the group
/// [begin, end) of the rank's list: at its start, and for compute steps also at
/// its end.
template <typename Visitor>
void MemoryModel::walk(unsigned rank, Visitor visit) const {
  if (hasExtras)
    walkList<true>(rank, visit);
  else
    walkList<false>(rank, visit);
}

/// The same for a list with an R or copies, and for another one, in less time.
template <bool extras, typename Visitor>
void MemoryModel::walkList(unsigned rank, Visitor visit) const {
  const StepList &list = schedule->ranks[rank];
  bool receives = any_of(list, [](Step step) { return isRecv(step.kind()); });
  // The number of inputs of a step that were received. For a W these are those
  // of its I, which keeps them.
  auto received = [&](Step step) -> unsigned {
    if (!receives || step.kind() == StepKind::I)
      return 0;
    if (extras && step_facts::has(step_facts::extras, step.kind()))
      return 0;
    StepKind taker = step.kind() == StepKind::F ? StepKind::F : StepKind::B;
    return count_if(
        flow.inputs(Step(taker, step.stage(), step.unit())),
        [&](const DataFlow::Port &input) { return input.rank != rank; });
  };

  std::optional<KeptUnits> kept;
  if (extras)
    kept.emplace(list);
  auto isStashed = [&](Step step) {
    return extras && step.kind() == StepKind::F && kept->isRecomputed(step);
  };

  MemoryLevel level;
  level.parameters = resident[rank];
  for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    ArrayRef<Step> group = ArrayRef(list).slice(begin, end - begin);
    StepKind kind = list[begin].kind();
    if (isCompute(kind)) {
      int64_t after = level.activations;
      for (Step step : group) {
        int64_t by = change(step, isStashed(step));
        level.activations += allocated(step, by);
        after += by;
      }
      visit(begin, end, /*atEnd=*/false, level);
      level.activations = after;
      for (Step step : group) {
        if (extras && makesWeightGradient(step.kind()))
          kept->drop(step);
        else if (extras && hasUnit(step.kind()))
          kept->sizeOf(step) += isStashed(step) ? stash(step) : delta(step);
        unsigned freed = received(step);
        level.receives -= freed * whole(step.stage()).receive;
        level.receiveCount -= freed;
      }
      visit(begin, end, /*atEnd=*/true, level);
      continue;
    }
    for (Step step : group) {
      if (isRecv(step.kind())) {
        level.receives += whole(step.stage()).receive;
        ++level.receiveCount;
      } else if (step.kind() == StepKind::Unshard) {
        level.parameters += whole(step.stage()).parameters;
      } else if (step.kind() == StepKind::Reshard) {
        level.parameters -= whole(step.stage()).parameters;
      } else if (extras && step.kind() == StepKind::WaitOffload) {
        level.activations -= kept->sizeOf(step);
        level.host += kept->sizeOf(step);
      } else if (extras && step.kind() == StepKind::Reload) {
        level.activations += kept->sizeOf(step);
        level.host -= kept->sizeOf(step);
      }
    }
    if (kind != StepKind::Bubble)
      visit(begin, end, /*atEnd=*/false, level);
  }
}

MemoryPeaks MemoryModel::peaks(unsigned rank) const {
  MemoryLevel most;
  most.parameters = resident[rank];
  int64_t total = most.total();
  walk(rank, [&](size_t, size_t, bool, const MemoryLevel &level) {
    most.activations = std::max(most.activations, level.activations);
    most.receives = std::max(most.receives, level.receives);
    most.parameters = std::max(most.parameters, level.parameters);
    most.host = std::max(most.host, level.host);
    most.receiveCount = std::max(most.receiveCount, level.receiveCount);
    total = std::max(total, level.total());
  });
  return {size(most.activations), size(most.receives),
          size(most.parameters),  size(total),
          size(most.host),        most.receiveCount};
}

std::vector<int64_t> MemoryModel::groupLevels(unsigned rank) const {
  std::vector<int64_t> levels;
  int64_t most = 0;
  walk(rank, [&](size_t, size_t, bool atEnd, const MemoryLevel &level) {
    most = std::max(most, level.activations);
    if (atEnd) {
      levels.push_back(most);
      most = level.activations;
    }
  });
  return levels;
}

void MemoryModel::changes(unsigned rank,
                          function_ref<void(size_t, int64_t)> change) const {
  const StepList &list = schedule->ranks[rank];
  int64_t before = resident[rank];
  walk(rank,
       [&](size_t begin, size_t end, bool atEnd, const MemoryLevel &level) {
         int64_t by = level.total() - before;
         before = level.total();
         if (isCompute(list[begin].kind()))
           for (size_t i = begin; i + 1 < end; ++i) {
             int64_t own = atEnd ? this->change(list[i]) - taken(list[i])
                                 : taken(list[i]);
             change(i, own);
             by -= own;
           }
         if (by != 0)
           change(end - 1, by);
       });
}

MemoryModel::Highest MemoryModel::highest(unsigned rank) const {
  Highest highest{resident[rank], 0};
  walk(rank, [&](size_t begin, size_t, bool, const MemoryLevel &level) {
    if (level.total() > highest.total)
      highest = {level.total(), begin};
  });
  return highest;
}

void MemoryModel::curve(
    const Simulation &simulation, unsigned rank,
    function_ref<void(int64_t, const MemoryLevel &)> point) const {
  MemoryLevel first;
  first.parameters = resident[rank];
  point(0, first);
  // When the rank reached the current step that is not a compute.
  int64_t now = 0;
  walk(rank, [&](size_t begin, size_t, bool atEnd, const MemoryLevel &level) {
    // Steps of several streams change the memory in the order of the list.
    StepKind kind = schedule->ranks[rank][begin].kind();
    if (atEnd || kind == StepKind::WaitOffload)
      now = std::max(now, simulation.end(rank, begin));
    else if (isCompute(kind))
      now = std::max(now, simulation.start(rank, begin));
    point(now, level);
  });
}

int64_t MemoryModel::floorOf(Rational size) const {
  __int128 units = __int128(size.numerator()) * unit;
  __int128 floor = units / size.denominator();
  floor -= floor * size.denominator() > units;
  return int64_t(std::clamp<__int128>(floor, -mostUnits / 4, mostUnits / 4));
}

Rational MemoryModel::size(int64_t units) const {
  return *Rational::make(units, unit);
}

FailureOr<std::vector<Rational>> peakMemory(const Schedule &schedule,
                                            DiagEngine &diags) {
  FailureOr<MemoryModel> model = MemoryModel::make(schedule, diags);
  if (failed(model))
    return failure();
  std::vector<Rational> peaks;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    peaks.push_back(model->peaks(rank).activations);
  return peaks;
}

} // namespace pipec
