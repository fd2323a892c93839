//===- CertificateGaps.cpp - All orders of F and I of one rank ------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of the F and I that a rank can have done. W is work that fills the
// gaps between them: a state has the earliest time at which the rank is done
// with it, and the least time less the W that has run before. Memory says how
// much W must have run before an F (docs/Rationale/Bounds.md).
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

class GapOrders {
public:
  GapOrders(ProofWindows &windows, unsigned rank)
      : windows(windows), certificate(*windows.certificate), rank(rank),
        stages(windows.stagesOf[rank]), cap(certificate.caps[rank]),
        chunks(stages.size()), bits(std::bit_width(windows.m)),
        counts(2 * chunks) {
    for (unsigned chunk = 0; chunk != chunks; ++chunk) {
      const Certificate::Stage &own = certificate.model[stages[chunk]];
      allWork += own.times[2] * windows.m;
      unit = std::gcd(unit, own.given[1]);
      if (own.given[1])
        givers.push_back(chunk);
    }
    // Those that give back most for their time first.
    llvm::stable_sort(givers, [&](unsigned a, unsigned b) {
      const Certificate::Stage &x = certificate.model[stages[a]];
      const Certificate::Stage &y = certificate.model[stages[b]];
      return __int128(x.times[2]) * y.given[1] <
             __int128(y.times[2]) * x.given[1];
    });
  }

  OrdersLeft narrow() {
    if (2 * chunks * bits > 60)
      return OrdersLeft::TooManyStates;
    before = windows.lettersBefore(rank);
    OrdersLeft left = findEarliest();
    return left == OrdersLeft::Some ? findLatest() : left;
  }

private:
  /// Times, and times less the W that has run before.
  struct State {
    uint64_t key;
    int64_t earliest, earliestLess;
    int64_t latest = none, latestLess = none;
  };
  /// A step that can come next.
  struct Next {
    size_t step;
    int64_t time;
    uint64_t key;
    /// The W that can have run before its end, and that must have before its
    /// start.
    int64_t most, least;
  };
  static constexpr int64_t none = -(int64_t(1) << 62);
  static constexpr size_t maxStates = 3'000'000;

  uint64_t key() const {
    uint64_t key = 0;
    for (unsigned count : counts)
      key = key << bits | count;
    return key;
  }
  const Certificate::Stage &stageOf(unsigned chunk) const {
    return certificate.model[stages[chunk]];
  }
  bool hasRoom(int64_t taken) const;
  int64_t leastWork(int64_t taken) const;
  OrdersLeft findEarliest();
  OrdersLeft findLatest();
  template <typename Visitor> void forNext(const State &state, Visitor visit);

  ProofWindows &windows;
  const Certificate &certificate;
  unsigned rank;
  const std::vector<unsigned> &stages;
  int64_t cap;
  unsigned chunks;
  unsigned bits;
  int64_t allWork = 0, unit = 0;
  std::vector<unsigned> givers;
  /// Of F, then of I, by chunk.
  std::vector<unsigned> counts;
  /// What precedes each letter.
  std::vector<std::vector<unsigned>> before;
  /// The states after as many steps as the index.
  std::vector<std::vector<State>> layers;
};

} // namespace

/// The cap before a step, with all W run at once.
bool GapOrders::hasRoom(int64_t taken) const {
  int64_t held = taken;
  for (unsigned chunk = 0; chunk != chunks; ++chunk)
    held += stageOf(chunk).taken() *
            (int64_t(counts[chunk]) - int64_t(counts[chunks + chunk]));
  return held <= cap;
}

/// The least time of the W without which the rank could not take so much.
int64_t GapOrders::leastWork(int64_t taken) const {
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
void GapOrders::forNext(const State &state, Visitor visit) {
  uint64_t rest = state.key;
  for (unsigned i = 2 * chunks; i-- != 0; rest >>= bits)
    counts[i] = unsigned(rest & ((1u << bits) - 1));
  int64_t most = 0;
  for (unsigned chunk = 0; chunk != chunks; ++chunk)
    most += stageOf(chunk).times[2] * counts[chunks + chunk];
  for (unsigned letter = 0; letter != 2 * chunks; ++letter) {
    unsigned kind = letter / chunks, chunk = letter % chunks;
    unsigned j = counts[letter];
    if (j == windows.m || any_of(before[letter], [&](unsigned other) {
          return counts[other] <= j;
        }))
      continue;
    int64_t taken = stageOf(chunk).takenBy(kind);
    if (!hasRoom(taken))
      continue;
    int64_t least = taken || kind == 0 ? leastWork(taken) : 0;
    ++counts[letter];
    if (kind != 0 || windows.canFollow(rank, counts))
      visit(Next{windows.step(kind, stages[chunk], j),
                 windows.time(kind, stages[chunk]), key(), most, least});
    --counts[letter];
  }
}

OrdersLeft GapOrders::findEarliest() {
  layers = {{{key(), 0, 0}}};
  DenseMap<uint64_t, uint32_t> numbers;
  size_t total = 0;
  for (unsigned done = 0; done != 2 * chunks * windows.m; ++done) {
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

OrdersLeft GapOrders::findLatest() {
  KeptWindows kept(windows);
  State &last = layers.back().front();
  last.latest = certificate.refuted;
  last.latestLess = certificate.refuted - allWork;
  if (last.earliestLess > last.latestLess)
    return OrdersLeft::None;
  DenseMap<uint64_t, uint32_t> numbers;
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
  kept.store(windows, rank, /*kinds=*/2);
  return OrdersLeft::Some;
}

OrdersLeft narrowRankWithoutW(ProofWindows &windows, unsigned rank) {
  return GapOrders(windows, rank).narrow();
}

} // namespace pipec
