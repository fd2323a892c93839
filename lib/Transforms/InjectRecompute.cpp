//===- InjectRecompute.cpp - Recomputation within a memory limit ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the live activations of a rank would exceed the limit, the pass drops
// those that are used last, like the replacement policy of L. A. Belady (A
// Study of Replacement Algorithms for a Virtual-Storage Computer, IBM Systems
// Journal 5(2), 1966). For activations of one size no choice drops fewer.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"
#include "Transforms/UnitSpans.h"

#include "llvm/ADT/BitVector.h"

#include <queue>

using namespace llvm;

namespace pipec {

FailureOr<std::vector<int64_t>> activationLimits(const Schedule &schedule,
                                                 const MemoryModel &memory,
                                                 std::optional<Rational> limit,
                                                 StringRef pass,
                                                 DiagEngine &diags) {
  std::vector<int64_t> limits;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    std::optional<Rational> own = limit;
    if (!own && (own = schedule.memory.limit(rank)))
      own = Rational::sub(*own, memory.peaks(rank).parameters);
    if (!own)
      return diags.report(schedule.source, diag::PassNeedsLimit, pass);
    limits.push_back(memory.floorOf(*own));
  }
  return limits;
}

namespace {

/// Chooses the units of one rank to recompute, and places each R directly
/// before the step that needs it.
class RankRecompute {
public:
  RankRecompute(const Schedule &schedule, const MemoryModel &memory,
                unsigned rank, int64_t limit, const BitVector &stages,
                bool uncopies)
      : list(schedule.ranks[rank]), memory(memory), limit(limit),
        stages(stages), uncopies(uncopies), spans(list),
        dropped(spans.units.size()), away(spans.units.size()) {}

  /// True if the rank stays within the limit; otherwise `failedAt` is the step
  /// that does not, and `excess` is the memory that the rank would need there.
  bool run() {
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (isCompute(list[begin].kind())) {
        if (!compute(begin, end))
          return false;
        ++group;
      } else if (!copy(list[begin])) {
        return false;
      }
    }
    return true;
  }

  /// The steps of the list without the copies of recomputed units.
  StepList rest() const {
    StepList steps;
    steps.reserve(list.size());
    llvm::copy_if(list, std::back_inserter(steps), [&](Step step) {
      return objectOf(stateBefore(step.kind())) != Object::Copy ||
             !dropped[spans.unitOf(step)];
    });
    return steps;
  }

  std::vector<AddedStep> added;
  /// True if a unit with copies is recomputed instead.
  bool leavesCopies = false;
  Step failedAt;
  int64_t excess = 0;

private:
  /// The memory that an R of the unit adds.
  int64_t gain(const UnitSpan &unit) const {
    return memory.delta(unit.forward) - memory.stash(unit.forward);
  }

  /// Drops activations until `needed` more fit, at `step`; those with copies
  /// last.
  bool makeRoom(int64_t &needed, Step step) {
    while (level + needed > limit) {
      auto &from = live.empty() ? copied : live;
      if (from.empty()) {
        failedAt = step;
        excess = level + needed;
        return false;
      }
      uint32_t number = from.top().second;
      from.pop();
      const UnitSpan &unit = spans.units[number];
      if (unit.use <= group || away[number] || dropped[number])
        continue;
      dropped[number] = true;
      leavesCopies |= unit.moved;
      bool comes = unit.begin == group || (step.kind() == StepKind::Reload &&
                                           number == spans.unitOf(step));
      (comes ? needed : level) -= gain(unit);
    }
    return true;
  }

  bool compute(size_t begin, size_t end) {
    for (size_t i = begin; i != end; ++i) {
      if (!makesInputGradient(list[i].kind()))
        continue;
      uint32_t number = spans.unitOf(list[i]);
      if (!dropped[number])
        continue;
      const UnitSpan &unit = spans.units[number];
      Step again(StepKind::R, list[i].stage(), list[i].unit(), list[i].phase(),
                 list[i].source());
      int64_t needed = gain(unit) + memory.during(again);
      if (!makeRoom(needed, again))
        return false;
      level += gain(unit);
      added.push_back({begin, again});
    }
    int64_t needed = 0;
    Step first = list[begin];
    for (size_t i = begin; i != end; ++i) {
      Step step = list[i];
      bool isStashed = spans.isStashed(step);
      needed += memory.taken(step, isStashed);
      if (step.kind() != StepKind::F || isStashed)
        continue;
      uint32_t number = spans.unitOf(step);
      const UnitSpan &unit = spans.units[number];
      first = step;
      if (stages.test(step.stage()) && gain(unit) > 0 &&
          (uncopies || !unit.moved))
        (unit.moved ? copied : live).push({unit.use, number});
    }
    if (!makeRoom(needed, first))
      return false;
    for (size_t i = begin; i != end; ++i) {
      bool drops = list[i].kind() == StepKind::F &&
                   (dropped[spans.unitOf(list[i])] || spans.isStashed(list[i]));
      level += memory.change(list[i], drops);
    }
    return true;
  }

  bool copy(Step step) {
    if (objectOf(stateBefore(step.kind())) != Object::Copy)
      return true;
    uint32_t number = spans.unitOf(step);
    if (dropped[number])
      return true;
    int64_t size = memory.delta(spans.units[number].forward);
    if (step.kind() == StepKind::WaitOffload) {
      away[number] = true;
      level -= size;
    } else if (step.kind() == StepKind::Reload) {
      away[number] = false;
      if (uncopies)
        copied.push({spans.units[number].use, number});
      if (!makeRoom(size, step))
        return false;
      level += size;
    }
    return true;
  }

  const StepList &list;
  const MemoryModel &memory;
  const int64_t limit;
  const BitVector &stages;
  /// Whether a unit with copies may be recomputed instead.
  const bool uncopies;
  UnitSpans spans;
  std::vector<bool> dropped;
  /// Whether a unit is on the host.
  std::vector<bool> away;
  /// Those that may be dropped, by use: without copies, and with copies.
  std::priority_queue<std::pair<uint32_t, uint32_t>> live, copied;
  int64_t level = 0;
  uint32_t group = 0;
};

/// Moves each R that delays its backward to an earlier group before which its
/// rank waits, if the limit permits.
class EarlyPlaces {
public:
  EarlyPlaces(const Schedule &schedule, const Simulation &run,
              const MemoryModel &memory, unsigned rank, int64_t limit)
      : list(schedule.ranks[rank]), run(run), memory(memory), rank(rank),
        limit(limit) {}

  StepList moved() {
    measure();
    // By group: the Rs to put before it.
    std::vector<std::pair<uint32_t, Step>> before;
    std::vector<bool> leaves(groups.size());
    for (uint32_t at = 1; at < groups.size(); ++at) {
      if (list[groups[at].begin].kind() != StepKind::R || !delays(at))
        continue;
      Step again = list[groups[at].begin];
      if (std::optional<uint32_t> to = place(at, again)) {
        before.push_back({*to, again});
        leaves[at] = true;
      }
    }
    llvm::stable_sort(before, llvm::less_first());
    StepList result;
    result.reserve(list.size());
    auto next = before.begin();
    size_t from = 0;
    for (uint32_t at = 0; at != groups.size(); ++at) {
      result.insert(result.end(), list.begin() + from,
                    list.begin() + groups[at].begin);
      for (; next != before.end() && next->first == at; ++next)
        result.push_back(next->second);
      if (!leaves[at])
        result.insert(result.end(), list.begin() + groups[at].begin,
                      list.begin() + groups[at].end);
      from = groups[at].end;
    }
    result.insert(result.end(), list.begin() + from, list.end());
    return result;
  }

private:
  struct Group {
    size_t begin, end;
    /// How long the rank waits before it.
    int64_t idle;
    /// The most activations from the end of the group before to its own end.
    int64_t level;
  };
  /// How many groups an R moves at most. More have no measurable effect.
  static constexpr uint32_t window = 64;

  void measure() {
    int64_t last = 0;
    std::vector<int64_t> levels = memory.groupLevels(rank);
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      int64_t start = run.start(rank, begin);
      groups.push_back({begin, end, start - last, levels[groups.size()]});
      last = run.end(rank, begin);
    }
  }

  /// True if the group after the R at `at` starts when the R ends.
  bool delays(uint32_t at) const {
    return at + 1 != groups.size() && groups[at + 1].idle == 0;
  }

  /// The nearest group before which the rank waits long enough, or else the one
  /// before which it waits longest.
  std::optional<uint32_t> place(uint32_t at, Step again) {
    int64_t length =
        run.costs().duration(list, groups[at].begin, groups[at].end);
    int64_t more = memory.delta(again), extra = memory.during(again);
    std::optional<uint32_t> best;
    for (uint32_t to = at; to != 0 && at - to < window;) {
      --to;
      ArrayRef<Step> group = ArrayRef(list).slice(
          groups[to].begin, groups[to].end - groups[to].begin);
      if (groups[to].level + more + extra > limit ||
          llvm::any_of(group, [&](Step step) {
            return step.stage() == again.stage() && step.unit() == again.unit();
          }))
        break;
      if (groups[to].idle > 0 &&
          (!best || groups[to].idle > groups[*best].idle))
        best = to;
      if (best && groups[*best].idle >= length)
        break;
    }
    if (!best)
      return std::nullopt;
    groups[*best].idle = std::max<int64_t>(groups[*best].idle - length, 0);
    for (uint32_t to = *best; to != at; ++to)
      groups[to].level += more;
    return best;
  }

  const StepList &list;
  const Simulation &run;
  const MemoryModel &memory;
  const unsigned rank;
  const int64_t limit;
  std::vector<Group> groups;
};

} // namespace

/// Moves Rs as long as the makespan falls.
static LogicalResult placeEarly(Schedule &schedule, ArrayRef<int64_t> limits,
                                DiagEngine &diags) {
  constexpr unsigned rounds = 4;
  FailureOr<Simulation> run = simulate(schedule, diags);
  for (unsigned round = 0; succeeded(run) && round != rounds; ++round) {
    FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
    if (failed(memory))
      return failure();
    Schedule next = schedule;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      next.ranks[rank] =
          EarlyPlaces(schedule, *run, *memory, rank, limits[rank]).moved();
    int64_t before = run->makespan();
    FailureOr<Simulation> again = simulate(next, diags);
    if (failed(again))
      return failure();
    if (again->makespan() >= before)
      return success();
    schedule = std::move(next);
    run = simulate(schedule, diags);
  }
  return success(succeeded(run));
}

/// Adds the Rs of all ranks, late; sets `any` if there are any.
static LogicalResult addRecomputations(Schedule &schedule,
                                       std::optional<Rational> limit,
                                       const BitVector &stages, bool uncopies,
                                       std::vector<int64_t> &limits, bool &any,
                                       DiagEngine &diags) {
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  FailureOr<std::vector<int64_t>> found =
      activationLimits(schedule, *memory, limit, "inject-recompute", diags);
  if (failed(found))
    return failure();
  limits = std::move(*found);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    // A unit without its copies keeps its stash on the device, so the list is
    // walked again without them.
    for (bool again = true; again;) {
      RankRecompute recompute(schedule, *memory, rank, limits[rank], stages,
                              uncopies);
      if (!recompute.run())
        return diags.report(
            recompute.failedAt.source(), diag::LimitTooLow, rank,
            decimalText(limit.value_or(memory->size(limits[rank]))),
            stepText(schedule, recompute.failedAt),
            decimalText(memory->size(recompute.excess)));
      again = recompute.leavesCopies;
      if (again) {
        schedule.ranks[rank] = recompute.rest();
        continue;
      }
      any |= !recompute.added.empty();
      insertSteps(schedule, rank, recompute.added);
    }
  }
  return success();
}

LogicalResult recomputeRest(Schedule &schedule, std::optional<Rational> limit,
                            DiagEngine &diags) {
  bool any = false;
  std::vector<int64_t> limits;
  return addRecomputations(schedule, limit, BitVector(schedule.numStages, true),
                           /*uncopies=*/true, limits, any, diags);
}

LogicalResult runInjectRecompute(Schedule &schedule,
                                 const InjectRecomputeOptions &options,
                                 DiagEngine &diags) {
  constexpr uint32_t own = step_facts::bit(StepKind::R);
  std::optional<std::vector<unsigned>> chosen = options.stages;
  if (failed(checkNone(schedule, Stream::Link, "inject-recompute", diags)) ||
      failed(checkNoKinds(schedule, own, "inject-recompute", diags)) ||
      failed(checkKept(schedule, "inject-recompute", diags)) ||
      failed(checkStages(schedule, chosen, diags)))
    return failure();
  BitVector stages(schedule.numStages, !chosen);
  if (chosen)
    for (unsigned stage : *chosen)
      stages.set(stage);
  bool any = false;
  std::vector<int64_t> limits;
  if (failed(addRecomputations(schedule, options.limit, stages,
                               /*uncopies=*/false, limits, any, diags)))
    return failure();
  if (any && options.place == RecomputePlace::Early)
    return placeEarly(schedule, limits, diags);
  return success();
}

} // namespace pipec
