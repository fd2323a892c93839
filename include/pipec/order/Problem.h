//===- Problem.h - Lists and the weights of a batch -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists together with a batch: exact makespans and peaks of any order.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pipec/order/Lists.h"
#include "pipec/order/Proof.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

namespace pipec::order {

/// `order[k]` is the number, in the given batch, of micro-batch k of the lists.
using Order = std::vector<uint32_t>;

/// Sorts by `less`, then by number.
template <class Less> void sortBy(Order &order, Less less) {
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return less(a, b) || (!less(b, a) && a < b);
  });
}

/// Numbers in parts of 1/`unit`: one row, or one per stage.
struct Weights {
  std::vector<std::vector<int64_t>> rows;
  int64_t unit = 1;

  Weights() = default;
  Weights(const std::vector<double> &weights)
      : Weights(std::vector<std::vector<double>>{weights}) {}
  /// Takes decimals of up to six digits exactly, and rounds others to six.
  Weights(const std::vector<std::vector<double>> &weights) {
    int64_t common = parts;
    for (const std::vector<double> &row : weights) {
      rows.emplace_back();
      for (double weight : row) {
        // Also without a number there.
        bool fits = weight >= 0 && weight <= 1e12;
        int64_t value = fits ? int64_t(weight * double(parts) + 0.5) : -1;
        rows.back().push_back(value);
        common = std::gcd(common, value);
      }
    }
    unit = parts / common;
    for (std::vector<int64_t> &row : rows)
      for (int64_t &value : row)
        value = value < 0 ? value : value / common;
  }

  /// True if there is a number for each of `count`, and none is negative.
  bool fit(size_t stages, size_t count) const {
    if (unit < 1 || (rows.size() != 1 && rows.size() != stages))
      return false;
    for (const std::vector<int64_t> &row : rows)
      if (row.size() != count ||
          std::any_of(row.begin(), row.end(), [](int64_t w) { return w < 0; }))
        return false;
    return true;
  }

private:
  static constexpr int64_t parts = 1'000'000;
};

/// A size in parts of 1/`unit`.
struct Amount {
  Amount(int64_t parts, int64_t unit) : parts(parts), unit(unit) {}
  /// Takes decimals of up to six digits exactly, and rounds others to six.
  Amount(double value) {
    // Also without a number there.
    bool fits = value >= 0 && value <= 9e12;
    parts = fits        ? int64_t(value * 1e6 + 0.5)
            : value > 0 ? Memory::unlimited
                        : 0;
    int64_t common = std::gcd(parts, unit);
    parts /= common;
    unit /= common;
  }
  int64_t parts = 0;
  int64_t unit = 1'000'000;
};

struct Options {
  /// The number of thousands of steps of eight replays each, or four thousands
  /// under a limit; fewer for more than 1536 jobs, under a limit 640.
  uint64_t effort = 1;
  uint64_t seed = 1;
  /// One row with the sizes of the micro-batches; all 1 without rows.
  Weights sizes;
  /// The limit of each rank in units of size, which replaces the lists' limits.
  std::optional<Amount> limit;
  /// Filled with the proof of a bound, which is found with up to 8
  /// micro-batches too and then may be below that of the result.
  Proof *proof = nullptr;
};

/// The peaks of an order.
struct Peaks {
  /// The excess over the limit of the rank with the largest one, which may be
  /// negative; 0 if no rank has a limit.
  int64_t excess = 0;
  int64_t most = 0;
  /// The rank with the largest excess, else that with the largest peak, and its
  /// peak.
  uint32_t rank = 0;
  int64_t peak = 0;
};

/// The replays of one batch.
class Problem {
public:
  /// A part of the time of one job: `cost` for each part of the weight in `row`
  /// of its micro-batch.
  struct Term {
    int64_t cost;
    uint32_t row;
  };

  Problem(const Lists &lists, const Weights &weights, const Options &options)
      : lists(lists) {
    good = lists.isValid() && weights.fit(lists.stages, lists.microbatches) &&
           (options.sizes.rows.empty() ||
            options.sizes.fit(1, lists.microbatches));
    if (!good)
      return;
    setTimes(weights);
    setSizes(options);
  }

  /// False if numbers are missing, negative or out of range.
  bool isGood() const { return good; }
  /// False if a time or a size may need more than 61 bits.
  bool fits() const { return allFit; }

  size_t microbatches() const { return lists.microbatches; }
  const std::vector<Job> &jobs() const { return lists.jobs; }
  /// The parts of a unit of time and of size.
  int64_t timeUnit() const { return unit; }
  int64_t sizeUnit() const { return lists.sizeUnit * sizesUnit; }
  const std::vector<Term> &terms() const { return costTerms; }
  /// The weights, by row and micro-batch of the batch. No two rows are equal.
  const std::vector<std::vector<int64_t>> &rows() const { return weightRows; }
  const std::vector<int64_t> &sizes() const { return sizeOf; }
  int64_t lag(const Job &job) const { return job.lag * lagFactor; }
  int64_t time(uint32_t cost, uint32_t microbatch) const {
    const Term &term = costTerms[cost];
    return term.cost * weightRows[term.row][microbatch];
  }
  bool hasLimit() const { return limited; }
  int64_t limit(size_t rank) const { return limits[rank]; }
  int64_t base(size_t rank) const { return lists.ranks[rank].base * sizesUnit; }
  size_t ranks() const { return lists.ranks.size(); }
  const std::vector<Change> &changes(size_t rank) const {
    return lists.ranks[rank].changes;
  }
  int64_t change(const Change &change, uint32_t microbatch) const {
    return change.by * sizeOf[microbatch];
  }
  int64_t fixedChange(const Change &change) const {
    return change.by * sizesUnit;
  }
  /// True if two micro-batches of the batch are alike.
  bool areEqual(uint32_t a, uint32_t b) const {
    for (const std::vector<int64_t> &row : weightRows)
      if (row[a] != row[b])
        return false;
    return sizeOf[a] == sizeOf[b];
  }
  /// A measure of the work for a micro-batch.
  const std::vector<double> &work() const { return workOf; }

  /// The makespan of an order, in parts of `timeUnit`.
  int64_t makespan(const Order &order) const {
    int64_t last = 0;
    ends.resize(lists.jobs.size());
    for (size_t i = 1; i != lists.jobs.size(); ++i) {
      const Job &job = lists.jobs[i];
      ends[i] = std::max(ends[job.first], ends[job.second] + lag(job)) +
                time(job.cost, order[job.position]);
      last = std::max(last, ends[i]);
    }
    return last;
  }

  Peaks peaks(const Order &order) const {
    Peaks peaks;
    bool any = false;
    for (size_t rank = 0; rank != ranks(); ++rank) {
      int64_t level = base(rank), peak = level;
      for (const Change &each : changes(rank)) {
        level += each.position == Change::fixed
                     ? fixedChange(each)
                     : change(each, order[each.position]);
        peak = std::max(peak, level);
      }
      int64_t excess = limit(rank) == Memory::unlimited
                           ? std::numeric_limits<int64_t>::min()
                           : peak - limit(rank);
      if (!any || (limited ? excess > peaks.excess : peak > peaks.most)) {
        peaks.excess = excess;
        peaks.rank = uint32_t(rank);
        peaks.peak = peak;
      }
      peaks.most = any ? std::max(peaks.most, peak) : peak;
      any = true;
    }
    if (!limited)
      peaks.excess = 0;
    return peaks;
  }

private:
  static constexpr Wide most = Wide(1) << 61;

  void setTimes(const Weights &weights) {
    Wide factor = Wide(lists.factorUnit) * weights.unit;
    if (factor * lists.ticksPerUnit > most) {
      allFit = false;
      return;
    }
    lagFactor = int64_t(factor);
    unit = lagFactor * lists.ticksPerUnit;
    std::map<std::vector<int64_t>, uint32_t> numbers;
    for (const Cost &cost : lists.costs) {
      const auto &own = weights.rows[weights.rows.size() == 1 ? 0 : cost.stage];
      std::vector<int64_t> row(own);
      if (!lists.factors.empty())
        for (size_t i = 0; i != row.size(); ++i) {
          Wide product = Wide(row[i]) * lists.factors[cost.row][i];
          allFit = allFit && product <= most;
          row[i] = int64_t(product);
        }
      auto [it, isNew] = numbers.insert({row, uint32_t(numbers.size())});
      if (isNew)
        weightRows.push_back(row);
      costTerms.push_back({cost.ticks, it->second});
    }
    std::vector<int64_t> heaviest;
    for (const auto &row : weightRows)
      heaviest.push_back(*std::max_element(row.begin(), row.end()));
    // All of any run, one after the other.
    Wide sum = 0;
    workOf.assign(microbatches(), 0);
    std::vector<double> costs(weightRows.size());
    for (const Job &job : lists.jobs) {
      const Term &term = costTerms[job.cost];
      sum += Wide(term.cost) * heaviest[term.row] + Wide(job.lag) * lagFactor;
      allFit = allFit && sum <= most;
      costs[term.row] += &job == lists.jobs.data() ? 0 : double(term.cost);
    }
    for (size_t row = 0; row != weightRows.size(); ++row)
      for (size_t i = 0; i != microbatches(); ++i) {
        // On its own, so that no machine joins the two operations.
        volatile double product = costs[row] * double(weightRows[row][i]);
        workOf[i] += product;
      }
  }

  void setSizes(const Options &options) {
    const Weights &sizes = options.sizes;
    sizesUnit = sizes.rows.empty() ? 1 : sizes.unit;
    sizeOf = sizes.rows.empty() ? std::vector<int64_t>(microbatches(), 1)
                                : sizes.rows.front();
    if (Wide(lists.sizeUnit) * sizesUnit > most) {
      allFit = false;
      return;
    }
    int64_t largest =
        std::max(sizesUnit, *std::max_element(sizeOf.begin(), sizeOf.end()));
    for (const Memory &rank : lists.ranks) {
      auto size = [](int64_t by) { return Wide(by < 0 ? -by : by); };
      Wide sum = size(rank.base) * sizesUnit;
      for (const Change &each : rank.changes) {
        sum += size(each.by) * largest;
        allFit = allFit && sum <= most;
      }
      Wide limit = Memory::unlimited;
      if (options.limit)
        limit =
            options.limit->parts == Memory::unlimited
                ? Memory::unlimited
                : Wide(options.limit->parts) * sizeUnit() / options.limit->unit;
      else if (rank.limit != Memory::unlimited)
        limit = Wide(rank.limit) * sizesUnit;
      // A limit above all sums is none.
      bool binds = limit <= most;
      limits.push_back(binds ? int64_t(limit) : Memory::unlimited);
      limited = limited || binds;
    }
  }
  const Lists &lists;
  bool good = false;
  bool allFit = true;
  bool limited = false;
  int64_t lagFactor = 1, unit = 1, sizesUnit = 1;
  std::vector<std::vector<int64_t>> weightRows;
  std::vector<Term> costTerms;
  std::vector<int64_t> sizeOf, limits;
  std::vector<double> workOf;
  mutable std::vector<int64_t> ends;
};

} // namespace pipec::order
