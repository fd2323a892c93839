//===- CertificateRank.cpp - All orders of one rank -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of everything that a rank can have done, with the earliest time of
// each state and the latest: what no path through the table does is outside of
// the window of its step (docs/Rationale/Bounds.md).
//
//===----------------------------------------------------------------------===//

#include "Certificate/CertificateWindows.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>

using namespace llvm;

namespace pipec {

namespace {

class RankOrders {
public:
  RankOrders(ProofWindows &windows, unsigned rank)
      : windows(windows), certificate(*windows.certificate), rank(rank),
        stages(windows.stagesOf[rank]), cap(certificate.caps[rank]),
        chunks(stages.size()), letters(windows.kinds * chunks),
        bits(std::bit_width(windows.m)), counts(letters) {}

  OrdersLeft narrow() {
    // One value of a table is never a key.
    if (letters * bits > 120)
      return OrdersLeft::TooManyStates;
    before = windows.lettersBefore(rank);
    OrdersLeft left = findEarliest();
    if (left != OrdersLeft::Some)
      return left;
    return findLatest();
  }

private:
  /// The counts of the letters, packed.
  using Key = std::pair<uint64_t, uint64_t>;
  struct State {
    Key key;
    int64_t earliest;
    int64_t latest = -1;
  };
  static constexpr size_t maxStates = 3'000'000;

  Key key() const {
    unsigned __int128 key = 0;
    for (unsigned count : counts)
      key = key << bits | count;
    return Key(uint64_t(key >> 64), uint64_t(key));
  }
  void setCounts(Key key) {
    unsigned __int128 rest = (unsigned __int128)key.first << 64 | key.second;
    for (unsigned i = letters; i-- != 0; rest >>= bits)
      counts[i] = unsigned(rest & ((1u << bits) - 1));
  }
  int64_t taken(unsigned chunk) const {
    return certificate.model[stages[chunk]].taken();
  }
  int64_t held() const;
  OrdersLeft findEarliest();
  OrdersLeft findLatest();

  /// Calls `visit(step, time, next)` for each letter that can come next in a
  /// state by the order of the letters and the cap, with the key of the state
  /// after it.
  template <typename Visitor> void forNext(const State &state, Visitor visit) {
    setCounts(state.key);
    int64_t now = held();
    for (unsigned letter = 0; letter != letters; ++letter) {
      unsigned j = counts[letter];
      if (j == windows.m || any_of(before[letter], [&](unsigned other) {
            return counts[other] <= j;
          }))
        continue;
      unsigned kind = letter / chunks, stage = stages[letter % chunks];
      if (now + certificate.model[stage].takenBy(kind) > cap)
        continue;
      ++counts[letter];
      visit(windows.step(kind, stage, j), windows.time(kind, stage), key());
      --counts[letter];
    }
  }

  ProofWindows &windows;
  const Certificate &certificate;
  unsigned rank;
  ArrayRef<unsigned> stages;
  int64_t cap;
  unsigned chunks;
  /// By kind and chunk.
  unsigned letters;
  unsigned bits;
  std::vector<unsigned> counts;
  /// What precedes each letter.
  std::vector<std::vector<unsigned>> before;
  /// The states by how many steps were run.
  std::vector<std::vector<State>> layers;
};

} // namespace

/// What the rank holds between steps.
int64_t RankOrders::held() const {
  int64_t held = 0;
  for (unsigned chunk = 0; chunk != chunks; ++chunk) {
    int64_t f = counts[chunk], i = counts[chunks + chunk];
    held += taken(chunk) * (f - i);
    if (windows.kinds == 3)
      held += certificate.model[stages[chunk]].given[1] *
              (i - int64_t(counts[2 * chunks + chunk]));
  }
  return held;
}

OrdersLeft RankOrders::findEarliest() {
  layers = {{{key(), 0}}};
  DenseMap<Key, uint32_t> numbers;
  size_t total = 0;
  unsigned length = letters * windows.m;
  for (unsigned done = 0; done != length; ++done) {
    std::vector<State> next;
    numbers.clear();
    for (const State &state : layers.back())
      forNext(state, [&](size_t step, int64_t time, Key key) {
        int64_t end = std::max(state.earliest, windows.starts[step]) + time;
        if (end > windows.ends[step] || !windows.canFollow(rank, counts))
          return;
        auto [it, isNew] = numbers.try_emplace(key, next.size());
        if (isNew)
          next.push_back({key, end});
        else
          next[it->second].earliest = std::min(next[it->second].earliest, end);
      });
    if (next.empty())
      return OrdersLeft::None;
    total += next.size();
    if (total > maxStates)
      return OrdersLeft::TooManyStates;
    layers.push_back(std::move(next));
  }
  return OrdersLeft::Some;
}

OrdersLeft RankOrders::findLatest() {
  KeptWindows kept(windows);
  layers.back().front().latest = certificate.refuted;
  DenseMap<Key, uint32_t> numbers;
  for (size_t done = layers.size() - 1; done-- != 0;) {
    numbers.clear();
    for (auto [i, state] : enumerate(layers[done + 1]))
      numbers.try_emplace(state.key, uint32_t(i));
    for (State &state : layers[done])
      forNext(state, [&](size_t step, int64_t time, Key key) {
        auto it = numbers.find(key);
        if (it == numbers.end())
          return;
        int64_t start = std::max(state.earliest, windows.starts[step]);
        int64_t end =
            std::min(layers[done + 1][it->second].latest, windows.ends[step]);
        int64_t last = end - time;
        if (start > last)
          return;
        state.latest = std::max(state.latest, last);
        kept.add(step, start, end);
      });
  }
  if (layers.front().front().latest < 0)
    return OrdersLeft::None;
  kept.store(windows, rank, windows.kinds);
  return OrdersLeft::Some;
}

OrdersLeft narrowRank(ProofWindows &windows, unsigned rank) {
  return RankOrders(windows, rank).narrow();
}

} // namespace pipec
