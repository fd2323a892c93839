//===- Lanes.h - Replays of eight orders at once ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of all lanes are the same, and only the weights differ. Times are
// integers in floating point, rounded down so that those near the best makespan
// are exact sums.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pipec/order/Problem.h"

#include <cstring>

namespace pipec::order {

/// Numbers of entries that depend on the micro-batches of the entries'
/// positions, for eight orders.
template <class T> class LaneTable {
public:
  static constexpr size_t lanes = 8;
  using Row = std::array<T, lanes>;

  /// An entry per element of `entries`: its position, or none, and its kind.
  struct Entry {
    uint32_t position;
    uint32_t kind;
  };

  /// `values` are by kind and micro-batch.
  void set(const std::vector<Entry> &entries, std::vector<T> values, size_t m) {
    table = std::move(values);
    width = m;
    rows.assign(entries.size(), Row{});
    starts.assign(m + 1, 0);
    for (const Entry &entry : entries)
      if (entry.position < m)
        ++starts[entry.position + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    list.resize(starts.back());
    std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
    for (size_t i = 0; i != entries.size(); ++i)
      if (entries[i].position < m)
        list[next[entries[i].position]++] = {uint32_t(i), entries[i].kind};
      else
        rows[i].fill(table[entries[i].kind * m]);
  }
  /// Places a micro-batch in one lane.
  void place(size_t lane, uint32_t position, uint32_t data) {
    for (uint32_t i = starts[position]; i != starts[position + 1]; ++i)
      rows[list[i].row][lane] = table[list[i].kind * width + data];
  }
  /// The same in all lanes.
  void place(uint32_t position, uint32_t data) {
    for (uint32_t i = starts[position]; i != starts[position + 1]; ++i)
      rows[list[i].row].fill(table[list[i].kind * width + data]);
  }
  const Row *data() const { return rows.data(); }

private:
  struct Use {
    uint32_t row;
    uint32_t kind;
  };
  std::vector<T> table;
  size_t width = 0;
  std::vector<Row> rows;
  std::vector<uint32_t> starts;
  std::vector<Use> list;
};

/// Replays of eight orders at once.
class Lanes {
public:
  static constexpr size_t count = 8;

  /// `known` is the makespan of some order; makespans of orders that are not
  /// longer are exact up to `shift` bits.
  Lanes(const Problem &problem, int64_t known) : problem(problem) {
    size_t m = problem.microbatches();
    while ((known >> shift) >= (int64_t(1) << 22))
      ++shift;
    // Sums beyond are longer than any of interest.
    auto rounded = [&](int64_t ticks) {
      return float(std::min(ticks >> shift, int64_t(1) << 24));
    };
    std::vector<float> values;
    for (uint32_t cost = 0; cost != problem.terms().size(); ++cost)
      for (uint32_t data = 0; data != m; ++data)
        values.push_back(rounded(problem.time(cost, data)));
    std::vector<LaneTable<float>::Entry> entries;
    for (const Job &job : problem.jobs()) {
      entries.push_back({job.position, job.cost});
      steps.push_back({job.first, job.second, rounded(problem.lag(job))});
    }
    times.set(entries, std::move(values), m);
    ends.resize(steps.size());
    if (problem.hasLimit())
      setSizes(m);
  }

  /// The bits that times and sizes have lost.
  unsigned lostBits() const { return shift; }

  void place(size_t lane, uint32_t position, uint32_t data) {
    times.place(lane, position, data);
    if (!ranks.empty())
      sizes.place(lane, position, data);
  }
  void place(uint32_t position, uint32_t data) {
    times.place(position, data);
    if (!ranks.empty())
      sizes.place(position, data);
  }

  /// Replays all lanes. The result is the makespans.
  std::array<int64_t, count> run() {
    using Four = FourOf<float>;
    const auto *own = times.data();
    Four last[2] = {};
    for (size_t i = 1; i != steps.size(); ++i) {
      const Step step = steps[i];
      const Four lag = {step.lag, step.lag, step.lag, step.lag};
      for (size_t half = 0; half != 2; ++half) {
        Four later = load<float>(&ends[step.second][half * 4]) + lag;
        Four start = load<float>(&ends[step.first][half * 4]);
        Four end =
            (later > start ? later : start) + load<float>(&own[i][half * 4]);
        store<float>(&ends[i][half * 4], end);
        last[half] = end > last[half] ? end : last[half];
      }
    }
    std::array<int64_t, count> result;
    for (size_t lane = 0; lane != count; ++lane)
      result[lane] = int64_t(last[lane / 4][lane % 4]);
    return result;
  }

  /// The largest excess of all ranks over their limits in each lane, at least
  /// 0.
  std::array<int64_t, count> excesses() const {
    using Four = FourOf<int32_t>;
    Four most[2] = {};
    const auto *own = sizes.data();
    for (const Rank &rank : ranks) {
      Four level[2];
      for (Four &half : level)
        half = Four{rank.base, rank.base, rank.base, rank.base};
      for (size_t half = 0; half != 2; ++half)
        most[half] = level[half] > most[half] ? level[half] : most[half];
      for (size_t i = 0; i != rank.changes; ++i, ++own)
        for (size_t half = 0; half != 2; ++half) {
          level[half] += load<int32_t>(&(*own)[half * 4]);
          most[half] = level[half] > most[half] ? level[half] : most[half];
        }
    }
    std::array<int64_t, count> result;
    for (size_t lane = 0; lane != count; ++lane)
      result[lane] = most[lane / 4][lane % 4];
    return result;
  }
  /// The limit in the unit of `excesses`.
  int64_t limit() const { return limitUnits; }

private:
  struct Step {
    uint32_t first, second;
    float lag;
  };
  /// Vectors of GCC and Clang, which all processors have or that are lowered.
  template <class T> using FourOf [[gnu::vector_size(16)]] = T;
  template <class T> static FourOf<T> load(const T *from) {
    FourOf<T> value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T> static void store(T *to, FourOf<T> value) {
    std::memcpy(to, &value, sizeof value);
  }

  struct Rank {
    /// Minus the limit.
    int32_t base;
    size_t changes;
  };

  void setSizes(size_t m) {
    int64_t largest = 1;
    for (int64_t size : problem.sizes())
      largest = std::max(largest, size);
    Wide most = 1;
    for (size_t rank = 0; rank != problem.ranks(); ++rank) {
      auto size = [](int64_t by) { return Wide(by < 0 ? -by : by); };
      if (problem.limit(rank) == Memory::unlimited)
        continue;
      Wide sum = size(problem.base(rank)) + size(problem.limit(rank));
      for (const Change &each : problem.changes(rank))
        sum +=
            std::max(size(each.by) * largest, size(problem.fixedChange(each)));
      most = std::max(most, sum);
    }
    unsigned lost = 0;
    while ((most >> lost) >= (int64_t(1) << 29))
      ++lost;
    // Away from 0, so that a size is added and freed alike, and not too small.
    auto rounded = [&](int64_t value) {
      int64_t parts =
          ((value < 0 ? -value : value) + (int64_t(1) << lost) - 1) >> lost;
      return int32_t(value < 0 ? -parts : parts);
    };
    // A kind per change of another size.
    std::map<int64_t, uint32_t> kinds;
    std::vector<LaneTable<int32_t>::Entry> entries;
    std::vector<int32_t> values;
    for (size_t rank = 0; rank != problem.ranks(); ++rank) {
      int64_t limit = problem.limit(rank);
      if (limit == Memory::unlimited)
        continue;
      ranks.push_back({rounded(problem.base(rank)) - int32_t(limit >> lost),
                       problem.changes(rank).size()});
      limitUnits = std::max<int64_t>(limitUnits, limit >> lost);
      for (const Change &each : problem.changes(rank)) {
        bool isFixed = each.position == Change::fixed;
        // Fixed changes have kinds of their own.
        int64_t key = each.by * 2 + isFixed;
        auto [it, isNew] = kinds.insert({key, uint32_t(kinds.size())});
        if (isNew)
          for (uint32_t data = 0; data != m; ++data)
            values.push_back(rounded(isFixed ? problem.fixedChange(each)
                                             : problem.change(each, data)));
        entries.push_back({each.position, it->second});
      }
    }
    sizes.set(entries, std::move(values), m);
  }

  const Problem &problem;
  unsigned shift = 0;
  std::vector<Step> steps;
  LaneTable<float> times;
  std::vector<std::array<float, count>> ends;
  std::vector<Rank> ranks;
  LaneTable<int32_t> sizes;
  int64_t limitUnits = 1;
};

} // namespace pipec::order
