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
// Where copies are slower than computes, each unit moves most others. So that
// time stays linear, the number of moves is limited. Beyond it, a unit that
// would move many takes the nearest time at which its stream is idle. Units of
// one size free the same memory at the same times in both ways.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/CopyTimes.h"
#include "Transforms/Passes.h"
#include "Transforms/UnitSpans.h"

#include <queue>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

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
      unit.ready = ends[span.begin];
      unit.latest = span.use == ~0u ? 0 : starts[span.use];
    }
  }

  /// True if the rank stays within the limit. Otherwise `failedAt` is the first
  /// step that exceeds it with all copies that there can be, and `excess` what
  /// the rank needs there; all further lines have their copies.
  bool run() {
    bool good = true;
    for (;;) {
      auto [line, level] = levels.firstAbove(limit, from);
      if (line == 2 * spans.groups.size())
        break;
      if (!limited && moves > maxMoves(units.size()))
        limitMoves();
      current = line;
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
    /// When the first one may start, and when the second one must have ended.
    int64_t ready = 0, latest = 0;
    /// When the first one ends, and when the second one must start.
    int64_t left = 0, due = 0;
    /// The lines between which it is on the host.
    size_t wait = 0, reload = 0;
    bool refused = false;
  };

  /// The times of a unit before it was moved.
  struct Move {
    uint32_t number;
    int64_t left, due;
  };
  /// Orders by the time at which copies are ready, and by their latest ends.
  using OutKey = std::pair<int64_t, uint32_t>;
  using InKey = std::tuple<int64_t, uint32_t, uint32_t>;

  /// How many moves there are before their number per unit is limited, and how
  /// many a unit then causes per stream.
  static constexpr size_t maxMoves(size_t units) { return 32 * units + 250000; }
  static constexpr size_t fewMoves = 64;

  LevelTree measure() const;
  bool choose(uint32_t group);
  bool insert(uint32_t number);
  bool insertLimited(uint32_t number, bool idle);
  void limitMoves();
  void remove(uint32_t number);
  bool relaxOut(uint32_t number, std::vector<Move> &moved, size_t most = ~0ul);
  bool relaxIn(uint32_t number, std::vector<Move> &moved, size_t most = ~0ul);
  void place(Unit &unit, const UnitSpan &span);
  void replace(uint32_t number) {
    count(number, +1);
    place(units[number], spans.units[number]);
    count(number, -1);
  }
  OutKey outKey(uint32_t number) const { return {units[number].ready, number}; }
  InKey inKey(uint32_t number) const {
    return {units[number].latest, spans.units[number].use, number};
  }
  static void undo(std::vector<Unit> &units, std::vector<Move> &moved) {
    for (const Move &move : llvm::reverse(moved)) {
      units[move.number].left = move.left;
      units[move.number].due = move.due;
    }
    moved.clear();
  }
  static void once(std::vector<Move> &moved) {
    llvm::stable_sort(moved, [](const Move &a, const Move &b) {
      return a.number < b.number;
    });
    moved.erase(
        llvm::unique(moved, [](const Move &a,
                               const Move &b) { return a.number == b.number; }),
        moved.end());
  }
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
  /// The chosen units, in the orders of their copies.
  std::set<OutKey> byOut;
  std::set<InKey> byIn;
  /// The line over the limit, and the one from which on they are examined.
  size_t current = 0, from = 0;
  size_t moves = 0;
  /// Whether the number of moves per unit is limited. Then the streams: the
  /// second one in the time that runs backward from its end.
  bool limited = false;
  BusyTimes out, in;
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
      taken += memory.taken(list[i], spans.isStashed(list[i]));
    lines.push_back(level + taken);
    for (size_t i = begin; i != end; ++i)
      level += memory.change(list[i], spans.isStashed(list[i]));
  }
  return LevelTree(lines);
}

/// Chooses the live unit that lives longest; false if there is none.
bool RankOffload::choose(uint32_t group) {
  if (group < lastGroup) {
    live = {};
    moves += entered;
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
        !byOut.contains(outKey(number)) && insert(number))
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

/// Places the first copies of a unit and of those that it moves, which are
/// appended. False, in an undefined state, if they are more than `most`.
bool RankOffload::relaxOut(uint32_t number, std::vector<Move> &moved,
                           size_t most) {
  auto at = byOut.lower_bound(outKey(number));
  int64_t free = at == byOut.begin() ? 0 : units[std::prev(at)->second].left;
  for (; at != byOut.end(); ++at) {
    uint32_t other = at->second;
    Unit &unit = units[other];
    int64_t left = std::max(free, unit.ready) + unit.out;
    if (other != number && left == unit.left)
      break;
    if (most-- == 0)
      return false;
    ++moves;
    moved.push_back({other, unit.left, unit.due});
    free = unit.left = left;
  }
  return true;
}

/// The same for the second copies.
bool RankOffload::relaxIn(uint32_t number, std::vector<Move> &moved,
                          size_t most) {
  auto next = byIn.upper_bound(inKey(number));
  int64_t until = next == byIn.end() ? std::numeric_limits<int64_t>::max()
                                     : units[std::get<2>(*next)].due;
  for (auto it = next; it != byIn.begin();) {
    uint32_t other = std::get<2>(*--it);
    Unit &unit = units[other];
    int64_t due = std::min(until, unit.latest) - unit.in;
    if (other != number && due == unit.due)
      break;
    if (most-- == 0)
      return false;
    ++moves;
    moved.push_back({other, unit.left, unit.due});
    until = unit.due = due;
  }
  return true;
}

/// Adds a unit to the chosen ones; false if its copies have no time. Others
/// that lose theirs are given up.
bool RankOffload::insert(uint32_t number) {
  if (limited) {
    units[number].refused =
        !insertLimited(number, false) && !insertLimited(number, true);
    return !units[number].refused;
  }
  byOut.insert(outKey(number));
  byIn.insert(inKey(number));
  std::vector<Move> moved;
  relaxOut(number, moved);
  relaxIn(number, moved);
  once(moved);
  bool good = true;
  std::vector<uint32_t> lost;
  for (auto [other, left, due] : moved) {
    replace(other);
    if (units[other].wait >= units[other].reload)
      lost.push_back(other);
  }
  for (uint32_t other : lost) {
    good &= other != number;
    remove(other);
  }
  return good;
}

void RankOffload::limitMoves() {
  limited = true;
  for (auto [ready, number] : byOut) {
    out.add(ready, units[number].out);
    in.add(-units[number].latest, units[number].in);
  }
}

/// Adds a unit to the chosen ones. It moves few others, or its copies are where
/// the streams are idle, both with `idle`. False if it has no place, another
/// one loses its place, or a line before the current one exceeds the limit.
bool RankOffload::insertLimited(uint32_t number, bool idle) {
  Unit &unit = units[number];
  const Unit before = unit;
  std::vector<Move> moved;
  bool placed = true, added = false;
  byOut.insert(outKey(number));
  if (idle || !relaxOut(number, moved, fewMoves)) {
    undo(units, moved);
    byOut.erase(outKey(number));
    std::optional<int64_t> time = out.idleFrom(unit.ready, unit.out);
    placed = time.has_value();
    unit.ready = time.value_or(0);
    byOut.insert(outKey(number));
    placed = placed && relaxOut(number, moved, 1);
  }
  byIn.insert(inKey(number));
  std::vector<Move> back;
  if (placed && (idle || !relaxIn(number, back, fewMoves))) {
    undo(units, back);
    byIn.erase(inKey(number));
    std::optional<int64_t> time = in.idleFrom(-unit.latest, unit.in);
    placed = time.has_value();
    unit.latest = -time.value_or(0);
    byIn.insert(inKey(number));
    placed = placed && relaxIn(number, back, 1);
  }
  moved.insert(moved.end(), back.begin(), back.end());
  if (placed) {
    std::vector<Move> places = moved;
    once(places);
    for (const Move &move : places) {
      replace(move.number);
      placed &= units[move.number].wait < units[move.number].reload;
    }
    added = true;
    placed = placed && levels.firstAbove(limit, from).first >= current;
  }
  if (placed) {
    out.add(unit.ready, unit.out);
    in.add(-unit.latest, unit.in);
    return true;
  }
  byOut.erase(outKey(number));
  byIn.erase(inKey(number));
  std::vector<Move> places = moved;
  once(places);
  undo(units, moved);
  for (const Move &move : places)
    if (added && move.number != number)
      replace(move.number);
  if (added)
    count(number, +1);
  unit = before;
  return false;
}

void RankOffload::remove(uint32_t number) {
  if (units[number].refused)
    return;
  units[number].refused = true;
  count(number, +1);
  auto after = byOut.erase(byOut.find(outKey(number)));
  auto later = byIn.erase(byIn.find(inKey(number)));
  std::vector<Move> moved;
  if (after != byOut.end())
    relaxOut(after->second, moved);
  if (later != byIn.begin())
    relaxIn(std::get<2>(*std::prev(later)), moved);
  once(moved);
  for (const Move &move : moved)
    replace(move.number);
}

/// The copies, in the order of the list. Between two groups, a WAIT_OFFLOAD of
/// a copy that has ended precedes the RELOADs, which must not wait for others.
std::vector<AddedStep> RankOffload::steps() const {
  struct Place {
    size_t before;
    unsigned order;
    int64_t time;
    uint32_t key;
    Step step;
    bool operator<(const Place &other) const {
      return std::tie(before, order, time, key) <
             std::tie(other.before, other.order, other.time, other.key);
    }
  };
  std::vector<Place> places;
  for (auto [ready, number] : byOut) {
    const UnitSpan &span = spans.units[number];
    const Unit &unit = units[number];
    auto copy = [&](StepKind kind) {
      return Step(kind, span.forward.stage(), span.forward.unit(),
                  span.forward.phase(), span.forward.source());
    };
    size_t last = span.begin;
    if (ready != ends[last])
      last = llvm::upper_bound(ends, ready) - ends.begin() - 1;
    size_t after = Schedule::groupEnd(list, spans.groups[last]);
    places.push_back({after, 0, ready, number, copy(StepKind::Offload)});
    places.push_back({spans.groups[unit.wait / 2], unit.wait % 2 == 0 ? 1u : 3u,
                      0, number, copy(StepKind::WaitOffload)});
    places.push_back({spans.groups[unit.reload / 2], 2, unit.latest, span.use,
                      copy(StepKind::Reload)});
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
