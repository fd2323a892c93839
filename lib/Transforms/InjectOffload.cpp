//===- InjectOffload.cpp - Copies to the host within a memory limit -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list is simulated without copies. Where a rank exceeds the limit, the
// pass chooses the live unit that lives longest, and places the copies of all
// chosen units by time: out in the order of their forwards, each as early as
// the stream is free, and in from the last backward to the first, each as late
// as the stream permits. So placed, copies delay no compute.
//
// The places of copies depend on the copies before and after them, so a new
// unit moves some others; only the moved ones are placed again. The level of a
// rank at each of its groups is kept in a tree, which finds the first one over
// the limit.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"
#include "Transforms/UnitSpans.h"

#include <queue>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// Levels by line, with additions to ranges of lines.
class LevelTree {
public:
  explicit LevelTree(ArrayRef<int64_t> levels) : size(levels.size()) {
    while (leaves < size)
      leaves *= 2;
    most.assign(2 * leaves, std::numeric_limits<int64_t>::min() / 2);
    more.assign(2 * leaves, 0);
    llvm::copy(levels, most.begin() + leaves);
    for (size_t node = leaves - 1; node != 0; --node)
      most[node] = std::max(most[2 * node], most[2 * node + 1]);
  }

  /// Adds `by` to the lines [begin, end).
  void add(size_t begin, size_t end, int64_t by) {
    add(begin, end, by, 1, 0, leaves);
  }
  /// The first line from `begin` on whose level exceeds `limit`, and its level;
  /// the number of lines if there is none.
  std::pair<size_t, int64_t> firstAbove(int64_t limit, size_t begin) const {
    size_t line = find(limit, begin, 0, 1, 0, leaves);
    return {std::min(line, size), found};
  }

private:
  void add(size_t begin, size_t end, int64_t by, size_t node, size_t from,
           size_t to) {
    if (begin >= to || end <= from)
      return;
    if (begin <= from && to <= end) {
      most[node] += by;
      more[node] += by;
      return;
    }
    size_t middle = (from + to) / 2;
    add(begin, end, by, 2 * node, from, middle);
    add(begin, end, by, 2 * node + 1, middle, to);
    most[node] = more[node] + std::max(most[2 * node], most[2 * node + 1]);
  }
  size_t find(int64_t limit, size_t begin, int64_t above, size_t node,
              size_t from, size_t to) const {
    if (to <= begin || most[node] + above <= limit)
      return leaves;
    if (to - from == 1) {
      found = most[node] + above;
      return from;
    }
    size_t middle = (from + to) / 2;
    above += more[node];
    size_t line = find(limit, begin, above, 2 * node, from, middle);
    return line != leaves ? line
                          : find(limit, begin, above, 2 * node + 1, middle, to);
  }

  size_t size;
  size_t leaves = 1;
  /// By node, the most below it, and the sum of additions to all of it.
  std::vector<int64_t> most, more;
  mutable int64_t found = 0;
};

/// Chooses and places the copies of one rank. Each compute group has two lines:
/// the steps between the group before and it, and the group itself.
class RankOffload {
public:
  RankOffload(const Schedule &schedule, const Simulation &run,
              const MemoryModel &memory, unsigned rank, int64_t limit,
              Rational longer)
      : list(schedule.ranks[rank]), memory(memory), limit(limit), spans(list),
        units(spans.units.size()), levels(measure()) {
    for (size_t begin : spans.groups) {
      starts.push_back(run.start(rank, begin));
      ends.push_back(run.end(rank, begin));
    }
    auto length = [&](StepKind kind, Step of) {
      Step copy(kind, of.stage(), of.unit());
      int64_t ticks = run.costs().posted(rank, copy);
      return ticks * longer.numerator() / longer.denominator();
    };
    for (auto [unit, span] : zip_equal(units, spans.units)) {
      unit.out = length(StepKind::Offload, span.forward);
      unit.in = length(StepKind::Reload, span.forward);
    }
  }

  /// True if the rank stays within the limit. Otherwise `failedAt` is the first
  /// step that exceeds it with all copies that there can be, and `excess` what
  /// the rank needs there; all further lines have their copies.
  bool run() {
    bool good = true;
    for (size_t from = 0;;) {
      auto [line, level] = levels.firstAbove(limit, from);
      if (line == 2 * spans.groups.size())
        break;
      if (choose(line / 2))
        continue;
      if (good) {
        failedAt = list[spans.groups[line / 2]];
        excess = level;
      }
      good = false;
      from = line + 1;
    }
    return good;
  }

  std::vector<AddedStep> steps() const;

  Step failedAt;
  int64_t excess = 0;

private:
  struct Unit {
    /// The times of its two copies.
    int64_t out = 0, in = 0;
    /// When the first one ends, and when the second one must start.
    int64_t left = 0, due = 0;
    /// The lines between which it is on the host.
    size_t wait = 0, reload = 0;
    bool refused = false;
  };

  LevelTree measure() const;
  bool choose(uint32_t group);
  bool insert(uint32_t number);
  void remove(uint32_t number);
  void relax(uint32_t number, std::vector<uint32_t> &moved);
  void place(Unit &unit, const UnitSpan &span);
  int64_t size(uint32_t number) const {
    return memory.delta(spans.units[number].forward);
  }
  void count(uint32_t number, int64_t sign) {
    const Unit &unit = units[number];
    if (unit.wait < unit.reload)
      levels.add(unit.wait, unit.reload, sign * size(number));
  }
  int64_t endBefore(size_t group) const {
    return group == 0 ? 0 : ends[group - 1];
  }

  const StepList &list;
  const MemoryModel &memory;
  const int64_t limit;
  UnitSpans spans;
  std::vector<Unit> units;
  LevelTree levels;
  /// By compute group.
  std::vector<int64_t> starts, ends;
  /// The chosen units, in the order of their forwards and of their uses.
  std::set<uint32_t> chosen;
  std::set<std::pair<uint32_t, uint32_t>> byUse;
  /// The units that are live at the group of the last choice, and perhaps some
  /// that are not any more, by the time that they live.
  std::priority_queue<std::pair<int64_t, uint32_t>> live;
  uint32_t entered = 0, lastGroup = 0;
};

} // namespace

LevelTree RankOffload::measure() const {
  std::vector<int64_t> lines;
  lines.reserve(2 * spans.groups.size());
  int64_t level = 0;
  for (size_t begin : spans.groups) {
    lines.push_back(level);
    size_t end = Schedule::groupEnd(list, begin);
    int64_t taken = 0;
    for (size_t i = begin; i != end; ++i)
      taken += memory.taken(list[i]);
    lines.push_back(level + taken);
    for (size_t i = begin; i != end; ++i)
      level += memory.change(list[i]);
  }
  return LevelTree(lines);
}

/// Chooses the live unit that lives longest; false if there is none.
bool RankOffload::choose(uint32_t group) {
  if (group < lastGroup) {
    live = {};
    entered = 0;
  }
  lastGroup = group;
  for (; entered != units.size() && spans.units[entered].begin <= group;
       ++entered) {
    const UnitSpan &span = spans.units[entered];
    if (span.use != ~0u && !span.moved && size(entered) > 0)
      live.push({starts[span.use] - ends[span.begin], entered});
  }
  while (!live.empty()) {
    uint32_t number = live.top().second;
    live.pop();
    if (spans.units[number].use > group && !units[number].refused &&
        !chosen.contains(number) && insert(number))
      return true;
  }
  return false;
}

/// The lines of a unit by the times of its copies. The rank reaches a RELOAD
/// before its copy must start, and a WAIT_OFFLOAD when the copy has ended.
void RankOffload::place(Unit &unit, const UnitSpan &span) {
  size_t group = llvm::lower_bound(starts, unit.left) - starts.begin();
  group = std::max<size_t>(group, span.begin + 1);
  // Whether the copy has ended when the rank gets there.
  bool over = group < starts.size() && unit.left <= endBefore(group);
  unit.wait = 2 * group + !over;
  // The last group before which the rank is early enough.
  size_t slot = llvm::upper_bound(ends, unit.due) - ends.begin();
  slot = std::min<size_t>(slot, span.use);
  unit.reload = group < slot ? 2 * slot : 0;
}

/// Places the copies of a unit and of those that they move. The moved ones are
/// appended.
void RankOffload::relax(uint32_t number, std::vector<uint32_t> &moved) {
  auto at = chosen.lower_bound(number);
  int64_t free = at == chosen.begin() ? 0 : units[*std::prev(at)].left;
  for (; at != chosen.end(); ++at) {
    Unit &unit = units[*at];
    int64_t left = std::max(free, ends[spans.units[*at].begin]) + unit.out;
    if (*at != number && left == unit.left)
      break;
    free = unit.left = left;
    moved.push_back(*at);
  }
  std::pair<uint32_t, uint32_t> key(spans.units[number].use, number);
  auto next = byUse.upper_bound(key);
  int64_t until = next == byUse.end() ? std::numeric_limits<int64_t>::max()
                                      : units[next->second].due;
  for (auto it = next; it != byUse.begin();) {
    --it;
    Unit &unit = units[it->second];
    int64_t due =
        std::min(until, starts[spans.units[it->second].use]) - unit.in;
    if (it->second != number && due == unit.due)
      break;
    until = unit.due = due;
    moved.push_back(it->second);
  }
}

/// Adds a unit to the chosen ones; false if its copies have no time. Others
/// that lose theirs are given up.
bool RankOffload::insert(uint32_t number) {
  chosen.insert(number);
  byUse.insert({spans.units[number].use, number});
  std::vector<uint32_t> moved;
  relax(number, moved);
  llvm::sort(moved);
  moved.erase(llvm::unique(moved), moved.end());
  bool good = true;
  std::vector<uint32_t> lost;
  for (uint32_t other : moved) {
    if (other != number)
      count(other, +1);
    place(units[other], spans.units[other]);
    count(other, -1);
    if (units[other].wait >= units[other].reload)
      lost.push_back(other);
  }
  for (uint32_t other : lost) {
    good &= other != number;
    remove(other);
  }
  return good;
}

void RankOffload::remove(uint32_t number) {
  if (!chosen.contains(number))
    return;
  units[number].refused = true;
  count(number, +1);
  auto after = chosen.erase(chosen.find(number));
  auto later = byUse.erase(byUse.find({spans.units[number].use, number}));
  std::vector<uint32_t> moved;
  if (after != chosen.end())
    relax(*after, moved);
  if (later != byUse.begin())
    relax(std::prev(later)->second, moved);
  llvm::sort(moved);
  moved.erase(llvm::unique(moved), moved.end());
  for (uint32_t other : moved) {
    count(other, +1);
    place(units[other], spans.units[other]);
    count(other, -1);
  }
}

/// The copies, in the order of the list. Between two groups, a WAIT_OFFLOAD of
/// a copy that has ended precedes the RELOADs, which must not wait for others.
std::vector<AddedStep> RankOffload::steps() const {
  struct Place {
    size_t before;
    unsigned order;
    uint32_t key;
    Step step;
    bool operator<(const Place &other) const {
      return std::tie(before, order, key) <
             std::tie(other.before, other.order, other.key);
    }
  };
  std::vector<Place> places;
  for (uint32_t number : chosen) {
    const UnitSpan &span = spans.units[number];
    const Unit &unit = units[number];
    auto copy = [&](StepKind kind) {
      return Step(kind, span.forward.stage(), span.forward.unit(),
                  span.forward.phase(), span.forward.source());
    };
    size_t after = Schedule::groupEnd(list, spans.groups[span.begin]);
    places.push_back({after, 0, number, copy(StepKind::Offload)});
    places.push_back({spans.groups[unit.wait / 2], unit.wait % 2 == 0 ? 1u : 3u,
                      number, copy(StepKind::WaitOffload)});
    places.push_back(
        {spans.groups[unit.reload / 2], 2, span.use, copy(StepKind::Reload)});
  }
  llvm::sort(places);
  std::vector<AddedStep> added;
  added.reserve(places.size());
  for (const Place &place : places)
    added.push_back({place.before, place.step});
  return added;
}

/// How many ranks share the stream of copies to the host or from it.
static unsigned sharedBy(const CostSettings &costs) {
  unsigned most = 1;
  for (const CostSettings::Share &share : costs.shares)
    if (is_contained(share.streams, Stream::Out) ||
        is_contained(share.streams, Stream::In))
      most = std::max(most, share.ranks);
  return most;
}

LogicalResult runInjectOffload(Schedule &schedule,
                               const InjectOffloadOptions &options,
                               DiagEngine &diags) {
  uint32_t own = step_facts::kindsOf(Object::Copy);
  if (failed(checkNone(schedule, Stream::Link, "inject-offload", diags)) ||
      failed(checkNoKinds(schedule, own, "inject-offload", diags)) ||
      failed(checkKept(schedule, "inject-offload", diags)))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  FailureOr<Simulation> run = simulate(schedule, diags);
  if (failed(memory) || failed(run))
    return failure();
  FailureOr<std::vector<int64_t>> limits = activationLimits(
      schedule, *memory, options.limit, "inject-offload", diags);
  if (failed(limits))
    return failure();
  std::optional<Schedule> best;
  std::optional<Rational> bestTime;
  // With a shared stream, a copy may last as long as the copies of all ranks.
  for (unsigned ranks = sharedBy(schedule.costs); ranks != 0; ranks /= 2) {
    Schedule next = schedule;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      RankOffload offload(schedule, *run, *memory, rank, (*limits)[rank],
                          Rational(ranks));
      if (!offload.run() && options.otherwise == OffloadElse::Fail) {
        if (best || ranks > 1)
          break;
        return diags.report(
            offload.failedAt.source(), diag::LimitTooLow, rank,
            decimalText(options.limit.value_or(memory->size((*limits)[rank]))),
            stepText(schedule, offload.failedAt),
            decimalText(memory->size(offload.excess)));
      }
      insertSteps(next, rank, offload.steps());
    }
    bool fits = true;
    if (options.otherwise == OffloadElse::Recompute) {
      if (failed(recomputeRest(next, options.limit, diags)))
        return failure();
    } else {
      FailureOr<MemoryModel> placed = MemoryModel::make(next, diags);
      for (unsigned rank = 0; succeeded(placed) && rank != next.numRanks;
           ++rank)
        fits &=
            placed->peaks(rank).activations <= memory->size((*limits)[rank]);
    }
    FailureOr<Simulation> placed = simulate(next, diags);
    if (failed(placed))
      return failure();
    Rational time = placed->time(placed->makespan());
    if (fits && (!best || time < *bestTime)) {
      best = std::move(next);
      bestTime = time;
    }
    if (best && *bestTime <= run->time(run->makespan()))
      break;
  }
  schedule = std::move(*best);
  return success();
}

} // namespace pipec
