//===- Anneal.h - A search for the best order of a batch --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight neighbours of the order at hand are replayed at once, one per lane, and
// an order that is better there is replayed exactly. Decisions use sums,
// maxima, products and quotients alone, so all machines find the same order.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pipec/order/Lanes.h"

namespace pipec::order {

/// Random numbers that are the same everywhere (xorshift64*).
class Random {
public:
  explicit Random(uint64_t seed) {
    // Spreads the bits of small seeds (splitmix64).
    state = seed + 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    state = (state ^ (state >> 31)) | 1;
  }
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
  }
  /// Less than `end`.
  uint32_t below(uint32_t end) { return uint32_t((next() >> 32) * end >> 32); }
  /// In [0, 1).
  double share() { return double(next() >> 11) / double(uint64_t(1) << 53); }

private:
  uint64_t state;
};

/// The best order that was found.
struct Best {
  Order order;
  int64_t makespan = std::numeric_limits<int64_t>::max();
  /// At most 0 for an order within the limit.
  Peaks peaks;

  bool fits() const { return !order.empty() && peaks.excess <= 0; }
  /// Takes an order if it is better: within the limit, then shorter, or with
  /// the smaller excess.
  bool take(const Problem &problem, const Order &other) {
    Peaks own = problem.peaks(other);
    if (own.excess > 0 &&
        (fits() || (!order.empty() && own.excess >= peaks.excess)))
      return false;
    int64_t time = problem.makespan(other);
    if (own.excess <= 0 && fits() && time >= makespan)
      return false;
    order = other;
    makespan = time;
    peaks = own;
    return true;
  }
};

/// Annealing from the best of some orders.
class Annealer {
public:
  Annealer(const Problem &problem, uint64_t seed, int64_t known)
      : problem(problem), m(uint32_t(problem.microbatches())), random(seed),
        lanes(problem, known) {}

  /// Changes `best` in `batches` steps of eight replays; ends if it is as good
  /// as `bound`. The first steps accept losses of about this many thousandths
  /// of the makespan.
  void run(Best &best, uint64_t batches, unsigned thousandths, int64_t bound) {
    order = best.order;
    for (uint32_t k = 0; k != m; ++k)
      lanes.place(k, order[k]);
    int64_t time = lanes.run()[0];
    int64_t excess = problem.hasLimit() ? lanes.excesses()[0] : 0;
    bestTime = best.fits() ? time : std::numeric_limits<int64_t>::max();
    uint64_t cooling = batches - batches / 5;
    double heat = double(time) * double(thousandths) / 1000;
    double step = 1 - 3.0 / double(std::max<uint64_t>(cooling, 4));
    for (uint64_t batch = 0; batch != batches; ++batch) {
      if (best.fits() && best.makespan <= bound)
        return;
      bool isLast = batch >= cooling;
      price = isLast ? 0 : priceAt(batch, cooling, time);
      strict = isLast;
      for (size_t lane = 0; lane != Lanes::count; ++lane)
        propose(lane);
      std::array<int64_t, Lanes::count> times = lanes.run(), over{};
      if (problem.hasLimit())
        over = lanes.excesses();
      size_t chosen = 0;
      for (size_t lane = 1; lane != Lanes::count; ++lane)
        if (value(times[lane], over[lane]) < value(times[chosen], over[chosen]))
          chosen = lane;
      int64_t worse = value(times[chosen], over[chosen]) - value(time, excess);
      bool accepted =
          worse <= 0 || (!isLast && isLucky(double(worse) / scale / heat));
      heat *= step;
      if (accepted) {
        apply(moves[chosen]);
        time = times[chosen];
        excess = over[chosen];
      }
      for (size_t lane = 0; lane != Lanes::count; ++lane)
        if (!accepted || lane != chosen)
          restore(moves[lane]);
      if (accepted)
        restoreAll(moves[chosen]);
      if (accepted && excess == 0 && time < bestTime &&
          best.take(problem, order))
        bestTime = time;
    }
  }

  /// Reduces the peaks of `best` until it is within the limit, by at most
  /// `batches` steps of eight tries.
  void reduce(Best &best, uint64_t batches) {
    order = best.order;
    for (uint32_t k = 0; k != m; ++k)
      lanes.place(k, order[k]);
    int64_t excess = lanes.excesses()[0];
    double heat = double(lanes.limit()) / 50;
    double step = 1 - 6.0 / double(std::max<uint64_t>(batches, 8));
    for (uint64_t batch = 0; batch != batches && !best.fits(); ++batch) {
      for (size_t lane = 0; lane != Lanes::count; ++lane)
        propose(lane);
      std::array<int64_t, Lanes::count> over = lanes.excesses();
      size_t chosen = std::min_element(over.begin(), over.end()) - over.begin();
      int64_t worse = over[chosen] - excess;
      bool accepted = worse <= 0 || isLucky(double(worse) / heat);
      heat *= step;
      if (accepted) {
        apply(moves[chosen]);
        excess = over[chosen];
      }
      for (size_t lane = 0; lane != Lanes::count; ++lane)
        if (!accepted || lane != chosen)
          restore(moves[lane]);
      if (accepted) {
        restoreAll(moves[chosen]);
        best.take(problem, order);
      }
    }
  }

private:
  /// An exchange of two positions, or a move from one to the other.
  struct Move {
    size_t lane;
    uint32_t from, to;
    bool isExchange;
  };

  /// Values are times in these parts, plus prices.
  static constexpr int64_t scale = 1024;

  /// The price of a unit of excess: 0.3 to 2 times the makespan over the limit.
  int64_t priceAt(uint64_t batch, uint64_t batches, int64_t time) const {
    int64_t percent = 30 + int64_t(batch * 170 / batches);
    return std::max<int64_t>(1, time * scale / 100 * percent / lanes.limit());
  }
  int64_t value(int64_t time, int64_t excess) const {
    if (strict && excess > 0)
      return excess + (int64_t(1) << 50);
    return time * scale + price * excess;
  }
  /// True with the probability exp(-x).
  bool isLucky(double x) {
    double share = random.share();
    if (!(x < 30))
      return false;
    double power = 1 - x / 1024;
    for (int i = 0; i != 10; ++i)
      power *= power;
    return share < power;
  }

  void propose(size_t lane) {
    Move &move = moves[lane];
    for (int attempt = 0; attempt != 4; ++attempt) {
      uint32_t kind = random.below(12);
      uint32_t from = random.below(m), to;
      if (kind < 3) {
        uint32_t far = 1 + random.below(std::min<uint32_t>(4, m - 1));
        to = random.next() >> 63 ? from + far : from - far;
        if (to >= m)
          to = from >= far ? from - far : from + far;
        to = std::min(to, m - 1);
      } else if (kind < 9) {
        to = random.below(m);
      } else {
        // A move changes all positions on its way.
        uint32_t least = from > 16 ? from - 16 : 0;
        to = least + random.below(std::min(from + 17, m) - least);
      }
      move = {lane, from, to, kind < 9};
      if (from != to && !problem.areEqual(order[from], order[to]))
        break;
    }
    auto [first, last] = std::minmax(move.from, move.to);
    if (move.isExchange) {
      lanes.place(lane, move.from, order[move.to]);
      lanes.place(lane, move.to, order[move.from]);
      return;
    }
    bool isUp = move.from < move.to;
    for (uint32_t k = first; k <= last; ++k)
      lanes.place(lane, k,
                  order[k == move.to ? move.from
                        : isUp       ? k + 1
                                     : k - 1]);
  }
  void apply(const Move &move) {
    auto at = [&](uint32_t k) { return order.begin() + k; };
    if (move.isExchange)
      std::swap(order[move.from], order[move.to]);
    else if (move.from < move.to)
      std::rotate(at(move.from), at(move.from) + 1, at(move.to) + 1);
    else
      std::rotate(at(move.to), at(move.from), at(move.from) + 1);
  }
  template <class Each> void forEachPosition(const Move &move, Each each) {
    auto [first, last] = std::minmax(move.from, move.to);
    if (move.isExchange) {
      each(first);
      each(last);
    } else {
      for (uint32_t k = first; k <= last; ++k)
        each(k);
    }
  }
  void restore(const Move &move) {
    forEachPosition(move,
                    [&](uint32_t k) { lanes.place(move.lane, k, order[k]); });
  }
  void restoreAll(const Move &move) {
    forEachPosition(move, [&](uint32_t k) { lanes.place(k, order[k]); });
  }

  const Problem &problem;
  const uint32_t m;
  Random random;
  Lanes lanes;
  Order order;
  int64_t bestTime = 0, price = 0;
  bool strict = false;
  std::array<Move, Lanes::count> moves;
};

} // namespace pipec::order
