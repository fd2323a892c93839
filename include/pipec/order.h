//===- order.h - The best order of the micro-batches of a batch -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   #include <pipec/order.h>      // C++17, without dependencies
//
//   pipec::order::Lists lists;
//   lists.read(file);             // pipec order zb1p ... --lists -o zb1p.lists
//   auto best = pipec::order::find(lists, std::vector<double>{1, 2.5, ...});
//   best.order, best.makespan, best.given, best.bound
//
// Micro-batch k of the lists is to be number `best.order[k]` of the batch. The
// lists do not change. The same input, effort and seed give the same order on
// all machines. docs/Order.md has the algorithm.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pipec/order/Anneal.h"
#include "pipec/order/Bound.h"

namespace pipec::order {

struct Result {
  enum class State {
    Found,
    /// No order within the limit was found; `order` has the smallest excess.
    NoneFits,
    /// Numbers are missing, negative or out of range; nothing else is set.
    Invalid,
    /// Times or sizes need more than 61 bits; nothing else is set.
    TooLarge
  };
  State state = State::Invalid;
  /// `order[k]` is the number, in the batch, of micro-batch k of the lists.
  Order order;
  /// In the unit of the costs: of that order, of the batch as given, and a
  /// value that no order within the limit is below.
  double makespan = 0, given = 0, bound = 0;
  bool optimal = false;
  /// The same times as integers in parts of 1/`timeUnit`.
  int64_t makespanTicks = 0, givenTicks = 0, boundTicks = 0, timeUnit = 1;
  /// The peaks of the order in parts of 1/`sizeUnit`, if the lists have memory.
  Peaks peaks;
  int64_t sizeUnit = 1;
};

namespace detail {

/// Small, large, small: ascending to the middle, then descending; `large` is
/// the opposite.
inline Order waveOf(const Order &ascending, bool largeOutside) {
  Order order(ascending.size());
  size_t front = 0, back = ascending.size();
  for (size_t i = 0; i != ascending.size(); ++i) {
    uint32_t data = ascending[largeOutside ? ascending.size() - 1 - i : i];
    order[i % 2 == 0 ? front++ : --back] = data;
  }
  return order;
}

/// Takes the best of all orders. At most 8 micro-batches.
inline void tryAll(const Problem &problem, Best &best) {
  size_t m = problem.microbatches();
  // Of equal micro-batches, one order is enough.
  Order alike(m), order(m);
  for (uint32_t i = 0; i != m; ++i) {
    alike[i] = i;
    for (uint32_t j = 0; j != i && alike[i] == i; ++j)
      if (problem.areEqual(i, j))
        alike[i] = j;
  }
  std::sort(alike.begin(), alike.end());
  Lanes lanes(problem, best.makespan);
  std::array<Order, Lanes::count> orders;
  bool more = true;
  while (more) {
    size_t count = 0;
    for (; count != Lanes::count && more; ++count) {
      // The k-th micro-batch alike is the k-th use of the first one.
      std::vector<uint32_t> next(m);
      std::iota(next.begin(), next.end(), 0);
      orders[count] = alike;
      for (uint32_t &data : orders[count]) {
        uint32_t first = data;
        data = next[first]++;
        while (next[first] < m && !problem.areEqual(next[first], first))
          ++next[first];
      }
      for (uint32_t k = 0; k != m; ++k)
        lanes.place(count, k, orders[count][k]);
      more = std::next_permutation(alike.begin(), alike.end());
    }
    auto times = lanes.run();
    for (size_t lane = 0; lane != count; ++lane)
      // Times of lanes are rounded down.
      if (!best.fits() || (times[lane] << lanes.lostBits()) < best.makespan)
        best.take(problem, orders[lane]);
  }
}

} // namespace detail

/// Finds the best order of a batch with these weights. A weight multiplies the
/// times of the steps of its micro-batch, and a size their changes of memory.
inline Result find(const Lists &lists, const Weights &weights,
                   const Options &options = {}) {
  Result result;
  Problem problem(lists, weights, options);
  if (!problem.isGood() || !problem.fits()) {
    result.state =
        problem.isGood() ? Result::State::TooLarge : Result::State::Invalid;
    return result;
  }
  size_t m = problem.microbatches();
  Order given(m);
  std::iota(given.begin(), given.end(), 0);
  const std::vector<double> &work = problem.work();
  Order ascending = given, descending = given;
  sortBy(ascending, [&](uint32_t a, uint32_t b) { return work[a] < work[b]; });
  sortBy(descending, [&](uint32_t a, uint32_t b) { return work[a] > work[b]; });
  // By the plain sum of weights, which differs if stages do.
  std::vector<Wide> sums(m);
  for (const std::vector<int64_t> &row : weights.rows)
    for (size_t i = 0; i != m; ++i)
      sums[i] += row[i];
  Order largest = given;
  sortBy(largest, [&](uint32_t a, uint32_t b) { return sums[a] > sums[b]; });
  Best best;
  for (const Order &start :
       {given, largest, descending, ascending, detail::waveOf(ascending, false),
        detail::waveOf(ascending, true)})
    best.take(problem, start);

  result.givenTicks = problem.makespan(given);
  int64_t bound = 0;
  // Longer paths than the shortest of these are of no interest.
  int64_t known = std::max(best.makespan, result.givenTicks);
  if (m <= 8) {
    detail::tryAll(problem, best);
    bound = best.makespan;
    if (options.proof) {
      Bound lower(problem, options.proof);
      lower.relax(200, known);
      if (best.fits())
        lower.split(7000 * options.effort, best.makespan);
    }
  } else {
    Bound lower(problem, options.proof);
    best.take(problem,
              lower.relax(problem.rows().size() == 1 ? 200 : 100, known));
    Annealer annealer(problem, options.seed, known);
    // Tight limits take more work, and long lists fewer replays.
    bool hard = problem.hasLimit();
    uint64_t runs = std::min<uint64_t>(options.effort, 8) * (hard ? 2 : 1);
    uint64_t most = hard ? 4000 : 1000;
    uint64_t replays = std::clamp<uint64_t>(
        (hard ? 2'560'000 : 1'536'000) / problem.jobs().size(), 250, most);
    uint64_t batches = replays * options.effort / runs;
    if (!best.fits())
      annealer.reduce(best, 5000 * options.effort);
    // Every second run is hot, to leave the places where cold ones end.
    for (uint64_t run = 0; run != runs && best.fits(); ++run)
      annealer.run(best, batches, run % 2 == 0 ? 3 : 12, lower.value());
    if (best.fits())
      lower.split(700 * replays / most * options.effort, best.makespan);
    bound = std::min(lower.value(), best.makespan);
  }

  result.state = best.fits() ? Result::State::Found : Result::State::NoneFits;
  result.order = best.order;
  result.makespanTicks = best.makespan;
  result.boundTicks = bound;
  result.timeUnit = problem.timeUnit();
  result.sizeUnit = problem.sizeUnit();
  result.peaks = best.peaks;
  result.optimal = best.fits() && bound == best.makespan;
  auto time = [&](int64_t ticks) {
    return double(ticks) / double(problem.timeUnit());
  };
  result.makespan = time(result.makespanTicks);
  result.given = time(result.givenTicks);
  result.bound = time(result.boundTicks);
  return result;
}

} // namespace pipec::order
