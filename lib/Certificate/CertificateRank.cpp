//===- CertificateRank.cpp - The orders of one rank in a proof ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of the states of a rank, each with its earliest and its latest time:
// times of a step that no path through the table has are outside of its window
// (docs/Rationale/Bounds.md).
//
// A table with W has the counts of all letters. A table without W has the
// counts of F and I; W fills the gaps between them. Its states also have times
// less the W that has run before, and memory determines how much W must have
// run before a step. With W, that work is 0, and the two kinds of times are
// equal.
//
//===----------------------------------------------------------------------===//

#include "Certificate/CertificateWindows.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

class RankOrders {
public:
  RankOrders(ProofWindows &windows, unsigned rank, bool withW)
      : windows(windows), certificate(*windows.certificate), rank(rank),
        stages(windows.stagesOf[rank]), cap(certificate.caps[rank]),
        chunks(stages.size()), kinds(withW ? windows.kinds : 2),
        bits(std::bit_width(windows.m)), counts(kinds * chunks) {
    if (!withW)
      findGivers();
  }

  OrdersLeft narrow() {
    if (!hasKeys())
      return OrdersLeft::TooManyStates;
    OrdersLeft left = findEarliest();
    return left == OrdersLeft::Some ? findLatest() : left;
  }
  OrdersLeft findLeast(function_ref<int64_t(const LetterCounts &)> costOf,
                       __int128 &least);

private:
  bool hasKeys() {
    before = windows.lettersBefore(rank);
    // One value of a table is never a key.
    return counts.size() * bits <= 120;
  }
  /// The counts of the letters, packed.
  using Key = std::pair<uint64_t, uint64_t>;
  static constexpr int64_t none = -(int64_t(1) << 62);
  /// Times, and times less the W that has run before.
  struct State {
    Key key;
    int64_t earliest, earliestLess;
    int64_t latest = none, latestLess = none;
  };
  /// A step that can come next.
  struct Next {
    size_t step;
    int64_t time;
    Key key;
    /// The W that can have run before its end, and the W that must have run
    /// before its start.
    int64_t most, least;
  };
  static constexpr size_t maxStates = 3'000'000;
  /// If only the states after two numbers of steps are kept.
  static constexpr size_t maxStatesInTurn = 12'000'000;

  Key key() const {
    unsigned __int128 key = 0;
    for (unsigned count : counts)
      key = key << bits | count;
    return Key(uint64_t(key >> 64), uint64_t(key));
  }
  void setCounts(Key key) {
    unsigned __int128 rest = (unsigned __int128)key.first << 64 | key.second;
    for (size_t i = counts.size(); i-- != 0; rest >>= bits)
      counts[i] = unsigned(rest & ((1u << bits) - 1));
  }
  const Certificate::Stage &stageOf(unsigned chunk) const {
    return certificate.model[stages[chunk]];
  }
  bool hasW() const { return kinds == windows.kinds; }
  void findGivers();
  int64_t held() const;
  int64_t leastWork(int64_t taken) const;
  template <typename Visitor> void forNext(const State &state, Visitor visit);
  OrdersLeft findEarliest();
  OrdersLeft findLatest();

  ProofWindows &windows;
  const Certificate &certificate;
  unsigned rank;
  ArrayRef<unsigned> stages;
  int64_t cap;
  unsigned chunks;
  /// The number of kinds in the table.
  unsigned kinds;
  unsigned bits;
  /// By kind and chunk.
  std::vector<unsigned> counts;
  /// Without W: the time of all W, the unit of the sizes that they free, and
  /// the chunks whose W free any, first those that free most for their time.
  int64_t allWork = 0, unit = 0;
  std::vector<unsigned> givers;
  /// What precedes each letter.
  std::vector<std::vector<unsigned>> before;
  /// The states by the number of steps that have run.
  std::vector<std::vector<State>> layers;
};

} // namespace

void RankOrders::findGivers() {
  for (unsigned chunk = 0; chunk != chunks; ++chunk) {
    const Certificate::Stage &own = stageOf(chunk);
    allWork += own.times[2] * windows.m;
    unit = std::gcd(unit, own.given[1]);
    if (own.given[1])
      givers.push_back(chunk);
  }
  llvm::stable_sort(givers, [&](unsigned a, unsigned b) {
    const Certificate::Stage &x = stageOf(a), &y = stageOf(b);
    return __int128(x.times[2]) * y.given[1] <
           __int128(y.times[2]) * x.given[1];
  });
}

/// The memory between steps; in a table without W, if all possible W have run.
int64_t RankOrders::held() const {
  int64_t held = 0;
  for (unsigned chunk = 0; chunk != chunks; ++chunk) {
    int64_t f = counts[chunk], i = counts[chunks + chunk];
    held += stageOf(chunk).taken() * (f - i);
    if (kinds == 3)
      held +=
          stageOf(chunk).given[1] * (i - int64_t(counts[2 * chunks + chunk]));
  }
  return held;
}

/// The least time of the W without which the rank could not allocate `taken`.
int64_t RankOrders::leastWork(int64_t taken) const {
  int64_t needed = taken - cap;
  for (unsigned chunk = 0; chunk != chunks; ++chunk)
    needed += stageOf(chunk).taken() * int64_t(counts[chunk]) -
              stageOf(chunk).given[0] * int64_t(counts[chunks + chunk]);
  if (needed <= 0)
    return 0;
  if (unit)
    needed = (needed + unit - 1) / unit * unit;
  int64_t work = 0;
  for (unsigned chunk : givers) {
    int64_t time = stageOf(chunk).times[2], gives = stageOf(chunk).given[1];
    int64_t all = gives * counts[chunks + chunk];
    if (needed <= all)
      return work + int64_t(__int128(time) * needed / gives);
    needed -= all;
    work += time * counts[chunks + chunk];
  }
  return work;
}

/// Calls `visit` for each step that can come next by the order of the letters
/// and the memory.
template <typename Visitor>
void RankOrders::forNext(const State &state, Visitor visit) {
  setCounts(state.key);
  int64_t now = held(), most = 0;
  for (unsigned chunk = 0; !hasW() && chunk != chunks; ++chunk)
    most += stageOf(chunk).times[2] * counts[chunks + chunk];
  for (unsigned letter = 0; letter != counts.size(); ++letter) {
    unsigned kind = letter / chunks, chunk = letter % chunks;
    unsigned j = counts[letter];
    if (j == windows.m || any_of(before[letter], [&](unsigned other) {
          return counts[other] <= j;
        }))
      continue;
    int64_t taken = stageOf(chunk).takenBy(kind);
    if (now + taken > cap)
      continue;
    int64_t least = !hasW() && (taken || kind == 0) ? leastWork(taken) : 0;
    ++counts[letter];
    if (kind != 0 || windows.canFollow(rank, counts))
      visit(Next{windows.step({kind, stages[chunk]}, j),
                 windows.time({kind, stages[chunk]}), key(), most, least});
    --counts[letter];
  }
}

OrdersLeft RankOrders::findEarliest() {
  layers = {{{key(), 0, 0}}};
  DenseMap<Key, uint32_t> numbers;
  size_t total = 0;
  for (unsigned done = 0; done != counts.size() * windows.m; ++done) {
    std::vector<State> made;
    numbers.clear();
    for (const State &state : layers.back())
      forNext(state, [&](const Next &next) {
        int64_t release = windows.starts[next.step];
        int64_t end = std::max({state.earliest, release,
                                state.earliestLess + next.least}) +
                      next.time;
        if (end > windows.ends[next.step])
          return;
        int64_t less =
            std::max(state.earliestLess, release - next.most) + next.time;
        auto [it, isNew] = numbers.try_emplace(next.key, made.size());
        if (isNew)
          made.push_back({next.key, end, less});
        State &to = made[it->second];
        to.earliest = std::min(to.earliest, end);
        to.earliestLess = std::min(to.earliestLess, less);
      });
    total += made.size();
    if (made.empty())
      return OrdersLeft::None;
    if (total > maxStates)
      return OrdersLeft::TooManyStates;
    layers.push_back(std::move(made));
  }
  return OrdersLeft::Some;
}

OrdersLeft RankOrders::findLatest() {
  KeptWindows kept(windows);
  State &last = layers.back().front();
  last.latest = certificate.refuted;
  last.latestLess = certificate.refuted - allWork;
  if (last.earliestLess > last.latestLess)
    return OrdersLeft::None;
  DenseMap<Key, uint32_t> numbers;
  for (size_t done = layers.size() - 1; done-- != 0;) {
    numbers.clear();
    for (auto [i, state] : enumerate(layers[done + 1]))
      numbers.try_emplace(state.key, uint32_t(i));
    for (State &state : layers[done])
      forNext(state, [&](const Next &next) {
        auto it = numbers.find(next.key);
        if (it == numbers.end())
          return;
        const State &to = layers[done + 1][it->second];
        if (to.latest == none)
          return;
        int64_t release = windows.starts[next.step];
        int64_t start = std::max(
            {state.earliest, release, state.earliestLess + next.least});
        int64_t less = to.latestLess - next.time;
        int64_t lastStart = std::min({to.latest, to.latestLess + next.most,
                                      windows.ends[next.step]}) -
                            next.time;
        if (start > lastStart ||
            std::max(state.earliestLess, release - next.most) > less)
          return;
        state.latest = std::max(state.latest, lastStart);
        state.latestLess =
            std::max(state.latestLess, std::min(less, lastStart - next.least));
        kept.add(next.step, start, lastStart + next.time);
      });
  }
  if (layers.front().front().latest == none)
    return OrdersLeft::None;
  kept.store(windows, rank, kinds);
  return OrdersLeft::Some;
}

OrdersLeft
RankOrders::findLeast(function_ref<int64_t(const LetterCounts &)> costOf,
                      __int128 &least) {
  if (!hasKeys())
    return OrdersLeft::TooManyStates;
  struct Reached {
    Key key;
    __int128 cost;
    /// Per unit of time of the steps that lead here.
    int64_t rate;
  };
  // Nothing has started.
  if (costOf(counts) < 0)
    return OrdersLeft::None;
  std::vector<Reached> last = {{key(), 0, 0}}, made;
  DenseMap<Key, uint32_t> numbers;
  size_t total = 0;
  for (unsigned done = 0; done != counts.size() * windows.m; ++done) {
    made.clear();
    numbers.clear();
    for (const Reached &from : last)
      forNext({from.key, 0, 0}, [&](const Next &next) {
        auto [it, isNew] = numbers.try_emplace(next.key, made.size());
        if (isNew)
          made.push_back({next.key, -1, costOf(counts)});
        Reached &to = made[it->second];
        __int128 cost = from.cost + __int128(next.time) * to.rate;
        if (to.cost < 0 || cost < to.cost)
          to.cost = cost;
      });
    total += made.size();
    if (any_of(made, [](const Reached &to) { return to.rate < 0; }))
      return OrdersLeft::None;
    if (total > maxStatesInTurn)
      return OrdersLeft::TooManyStates;
    std::swap(last, made);
  }
  least = last.front().cost;
  return OrdersLeft::Some;
}

OrdersLeft narrowRank(ProofWindows &windows, unsigned rank, bool withW) {
  return RankOrders(windows, rank, withW).narrow();
}

OrdersLeft leastCost(ProofWindows &windows, unsigned rank, bool withW,
                     function_ref<int64_t(const LetterCounts &)> costOf,
                     __int128 &least) {
  return RankOrders(windows, rank, withW).findLeast(costOf, least);
}

} // namespace pipec
