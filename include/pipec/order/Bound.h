//===- Bound.h - A lower bound for all orders of a batch --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A makespan is at least the length of every path through the jobs, and so of
// every weighted mean of paths. Under the best order for such a mean, it is as
// long as the latencies of the paths plus the least sum of coefficients times
// weights, which is a sorted sum or, with several rows of weights, an
// assignment. A game makes a good mean: each round replays the lists under the
// mean of the orders so far, adds the longest path to the mean of paths, and
// the best order against that to the mean of orders. Round t counts t times.
//
// A micro-batch of four times the mean weight cannot be mixed, so the bound is
// raised by cases: the position of the micro-batch with the most work, then of
// the next one. The bound is the least one of all cases, and the case that has
// it is split next.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pipec/order/Problem.h"
#include "pipec/order/Proof.h"

#include <queue>

namespace pipec::order {

/// The bound of one problem. Adds its cases to `proof`, if that is not null.
class Bound {
public:
  explicit Bound(const Problem &problem, Proof *proof = nullptr)
      : problem(problem), proof(proof), m(problem.microbatches()),
        jobs(problem.jobs()), rows(problem.rows().size()) {
    if (proof)
      proof->cases.emplace_back();
    byWork.resize(m);
    std::iota(byWork.begin(), byWork.end(), 0);
    sortBy(byWork, [&](uint32_t a, uint32_t b) {
      return problem.work()[a] > problem.work()[b];
    });
  }

  /// Plays `rounds` rounds of the game of all orders. The best known order
  /// takes `known`. Returns an order like the mean of the orders.
  Order relax(unsigned rounds, int64_t known) {
    setScale(known);
    root.value = 0;
    Order likeMean;
    play(root, rounds, known, &likeMean);
    record(root, false);
    return likeMean;
  }

  /// Raises the bound by cases until it is `known`, or for `work` replays.
  void split(uint64_t work, int64_t known) {
    if (root.value >= known || m < 2)
      return;
    std::priority_queue<Case, std::vector<Case>, Later> open;
    uint64_t serial = 0;
    root.serial = serial++;
    open.push(root);
    uint64_t most = work * jobs.size();
    spent = 0;
    while (!open.empty() && open.top().value < known && spent < most) {
      Case parent = open.top();
      if (parent.fixed.size() == m)
        break;
      open.pop();
      prepare(parent);
      uint32_t data = byWork[parent.fixed.size()];
      if (proof)
        proof->split(parent.number, data);
      // Before the games of the cases, which sort the positions again.
      std::vector<std::pair<uint32_t, int64_t>> values;
      for (uint32_t position = 0; position != m; ++position)
        if (!isFixed[position] && !isSymmetric(parent, data, position))
          values.push_back({position, valueWith(parent, data, position)});
      for (auto [position, value] : values) {
        Case child = parent;
        child.fixed.push_back(position);
        child.value = std::max(parent.value, value);
        child.serial = serial++;
        bool better = child.value < known && spent < most &&
                      play(child, 20, known, nullptr);
        addCase(child, parent, !better);
        if (child.value < known)
          open.push(std::move(child));
      }
    }
    root.value = open.empty() ? known : std::min(open.top().value, known);
    if (proof)
      proof->bound = root.value;
  }

  /// No order is shorter, in parts of the problem's `timeUnit`.
  int64_t value() const { return root.value; }

private:
  /// The micro-batches with the most work are fixed at these positions.
  struct Case {
    std::vector<uint32_t> fixed;
    int64_t value = 0;
    uint64_t serial = 0;
    /// The mean of paths that gives the value: coefficients by row and
    /// position, latencies, and the sum of the weights of the paths.
    std::vector<int64_t> coefficients;
    int64_t latency = 0;
    int64_t total = 0;
    /// Its place in the proof, and the paths of the mean by round.
    uint32_t number = 0;
    std::vector<uint32_t> mean;
  };
  struct Later {
    bool operator()(const Case &a, const Case &b) const {
      return a.value != b.value ? a.value > b.value : a.serial > b.serial;
    }
  };

  /// Chooses the shifts with which sums of all rounds fit 64 bits, and the
  /// fraction bits of means.
  void setScale(int64_t known) {
    shift = 0;
    while ((known >> shift) >= (int64_t(1) << 42))
      ++shift;
    fraction = 0;
    while (fraction < 20 && (known >> shift) < (int64_t(1) << (44 - fraction)))
      ++fraction;
    steps.clear();
    for (const Job &job : jobs) {
      const Problem::Term &term = problem.terms()[job.cost];
      steps.push_back({job.first, job.second,
                       uint32_t(term.row * m) + job.position,
                       term.cost >> shift, problem.lag(job) >> shift});
    }
  }

  int64_t weight(size_t row, uint32_t data) const {
    return problem.rows()[row][data];
  }
  bool isSymmetric(const Case &parent, uint32_t data, uint32_t position) const {
    size_t depth = parent.fixed.size();
    // Of equal micro-batches, the first one is at the first position. Sizes do
    // not count: the bound ignores limits.
    auto areAlike = [&](uint32_t a, uint32_t b) {
      for (const std::vector<int64_t> &row : problem.rows())
        if (row[a] != row[b])
          return false;
      return true;
    };
    return depth != 0 && position < parent.fixed.back() &&
           areAlike(byWork[depth - 1], data);
  }

  /// Notes which positions and micro-batches a case has fixed.
  void note(const Case &at) {
    isFixed.assign(m, false);
    isPlaced.assign(m, false);
    for (size_t i = 0; i != at.fixed.size(); ++i) {
      isFixed[at.fixed[i]] = true;
      isPlaced[byWork[i]] = true;
    }
  }

  /// Writes the mean of a case to the proof.
  void record(const Case &at, bool isSame) {
    if (!proof)
      return;
    proof->cases[at.number].isSame = isSame;
    if (!isSame)
      proof->cases[at.number].mean = at.mean;
    proof->bound = root.value;
  }
  void addCase(Case &child, const Case &parent, bool isSame) {
    if (!proof)
      return;
    child.number = uint32_t(proof->cases.size());
    proof->cases.emplace_back().position = child.fixed.back();
    proof->cases[parent.number].cases.push_back(child.number);
    record(child, isSame);
  }

  /// The game of a case, with at most `rounds` rounds. Returns true if it has
  /// raised the bound.
  bool play(Case &at, unsigned rounds, int64_t known, Order *likeMean) {
    note(at);
    bool raised = false;
    std::vector<uint32_t> mean;
    std::vector<int64_t> coefficients(rows * m), sums(rows * m);
    int64_t latency = 0, total = 0;
    Order order(m);
    // Start with the micro-batches as given.
    uint32_t next = 0;
    for (uint32_t k = 0; k != m; ++k)
      if (!isFixed[k]) {
        while (isPlaced[next])
          ++next;
        order[k] = next++;
      }
    for (size_t i = 0; i != at.fixed.size(); ++i)
      order[at.fixed[i]] = byWork[i];
    // Sums of weights times rounds, divided by the number of these.
    for (int64_t round = 1; round <= int64_t(rounds); ++round) {
      int64_t before = total;
      total += round;
      for (size_t row = 0; row != rows; ++row)
        for (size_t k = 0; k != m; ++k) {
          // Heavier ones belong to costs of 0.
          int64_t scaled = std::min(weight(row, order[k]), int64_t(1) << 42)
                           << fraction;
          size_t i = row * m + k;
          // The mean moves by round / total of the difference.
          sums[i] =
              before == 0
                  ? scaled
                  : sums[i] + int64_t(Wide(scaled - sums[i]) * round / total);
        }
      for (int64_t &price : v)
        price = before == 0 ? 0 : int64_t(Wide(price) * total / before);
      addPath(sums, round, coefficients, latency, mean);
      int64_t value = latency + answer(coefficients, order);
      spent += jobs.size() + answerWork();
      int64_t bound = ceiling(value, total);
      if (bound > at.value || at.coefficients.empty()) {
        at.value = std::max(at.value, bound);
        raised = true;
        at.mean = mean;
        at.coefficients = coefficients;
        at.latency = latency;
        at.total = total;
      }
      if (at.value >= known)
        break;
    }
    if (likeMean)
      *likeMean = rankedLike(sums);
    return raised;
  }

  int64_t ceiling(int64_t value, int64_t total) const {
    return ((value + total - 1) / total) << shift;
  }

  /// Replays the lists under `means` and adds `times` the longest path.
  void addPath(const std::vector<int64_t> &means, int64_t times,
               std::vector<int64_t> &coefficients, int64_t &latency,
               std::vector<uint32_t> &mean) {
    ends.resize(steps.size());
    size_t last = 0;
    for (size_t i = 1; i != steps.size(); ++i) {
      const Step &step = steps[i];
      ends[i] = std::max(ends[step.first],
                         ends[step.second] + (step.lag << fraction)) +
                step.cost * means[step.mean];
      last = ends[i] > ends[last] ? i : last;
    }
    std::vector<uint32_t> path;
    while (last != 0) {
      if (proof)
        path.push_back(uint32_t(last));
      const Step &step = steps[last];
      coefficients[step.mean] += times * step.cost;
      bool isLater =
          ends[step.second] + (step.lag << fraction) > ends[step.first];
      latency += isLater ? times * step.lag : 0;
      last = isLater ? step.second : step.first;
    }
    if (!proof)
      return;
    std::reverse(path.begin(), path.end());
    mean.push_back(proof->add(std::move(path)));
  }

  uint64_t answerWork() const { return rows == 1 ? m * 4 : m * m * m / 4; }

  /// Sets the free positions of `order` to the order with the least sum of
  /// coefficients times weights, which it returns.
  int64_t answer(const std::vector<int64_t> &coefficients, Order &order) {
    if (rows > 1)
      assign(coefficients, order);
    else
      sort(coefficients, order);
    int64_t sum = 0;
    for (size_t row = 0; row != rows; ++row)
      for (size_t k = 0; k != m; ++k)
        sum += coefficients[row * m + k] * weight(row, order[k]);
    return sum;
  }

  /// The largest coefficients get the least weights.
  void sort(const std::vector<int64_t> &coefficients, Order &order) {
    positions.clear();
    for (uint32_t k = 0; k != m; ++k)
      if (!isFixed[k])
        positions.push_back(k);
    sortBy(positions, [&](uint32_t a, uint32_t b) {
      return coefficients[a] < coefficients[b];
    });
    size_t next = 0;
    for (uint32_t data : byWork)
      if (!isPlaced[data])
        order[positions[next++]] = data;
  }

  /// The least assignment of micro-batches to positions, by shortest augmenting
  /// paths.
  void assign(const std::vector<int64_t> &coefficients, Order &order) {
    positions.clear();
    data.clear();
    for (uint32_t k = 0; k != m; ++k) {
      if (!isFixed[k])
        positions.push_back(k);
      if (!isPlaced[k])
        data.push_back(k);
    }
    size_t n = positions.size();
    matrix.assign(n * n, 0);
    for (size_t row = 0; row != rows; ++row)
      for (size_t i = 0; i != n; ++i) {
        int64_t coefficient = coefficients[row * m + positions[i]];
        if (coefficient != 0)
          for (size_t j = 0; j != n; ++j)
            matrix[i * n + j] += coefficient * weight(row, data[j]);
      }
    constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 2;
    u.assign(n + 1, 0);
    // Any prices of columns are right; those of the round before need less
    // work.
    if (v.size() != n + 1)
      v.assign(n + 1, 0);
    match.assign(n + 1, 0);
    for (size_t i = 1; i <= n; ++i) {
      size_t column = 0;
      match[0] = i;
      least.assign(n + 1, infinite);
      before.assign(n + 1, 0);
      used.assign(n + 1, false);
      do {
        used[column] = true;
        size_t row = match[column], next = 0;
        int64_t delta = infinite;
        for (size_t j = 1; j <= n; ++j) {
          if (used[j])
            continue;
          int64_t reduced = matrix[(row - 1) * n + j - 1] - u[row] - v[j];
          if (reduced < least[j]) {
            least[j] = reduced;
            before[j] = column;
          }
          if (least[j] < delta) {
            delta = least[j];
            next = j;
          }
        }
        for (size_t j = 0; j <= n; ++j)
          if (used[j]) {
            u[match[j]] += delta;
            v[j] -= delta;
          } else {
            least[j] -= delta;
          }
        column = next;
      } while (match[column] != 0);
      do {
        size_t previous = before[column];
        match[column] = match[previous];
        column = previous;
      } while (column != 0);
    }
    for (size_t j = 1; j <= n; ++j)
      order[positions[match[j] - 1]] = data[j - 1];
  }

  /// Solves a case, so that `valueWith` can be called.
  void prepare(const Case &parent) {
    note(parent);
    Order order(m);
    for (size_t i = 0; i != parent.fixed.size(); ++i)
      order[parent.fixed[i]] = byWork[i];
    caseValue = parent.latency + answer(parent.coefficients, order);
    placeOf.assign(m, 0);
    for (size_t i = 0; i != positions.size(); ++i)
      placeOf[positions[i]] = i;
    if (rows == 1)
      return;
    reducedCosts.assign(m, 0);
    size_t n = positions.size();
    size_t j =
        std::find(data.begin(), data.end(), byWork[parent.fixed.size()]) -
        data.begin();
    for (size_t i = 0; i != n; ++i)
      reducedCosts[i] = matrix[i * n + j] - u[i + 1] - v[j + 1];
  }

  /// A bound of the case that has `data` at `position` as well, by the paths of
  /// the parent.
  int64_t valueWith(const Case &parent, uint32_t data, uint32_t position) {
    size_t place = placeOf[position];
    if (rows > 1)
      return ceiling(caseValue + reducedCosts[place], parent.total);
    // The positions are sorted by coefficient, and `data` has the largest
    // weight. It moves from the first place to this one, and those between
    // move up.
    Wide value = caseValue;
    size_t next = parent.fixed.size();
    auto coefficient = [&](size_t i) {
      return parent.coefficients[positions[i]];
    };
    value -= Wide(coefficient(0)) * weight(0, data);
    for (size_t i = 1; i <= place; ++i)
      value += Wide(coefficient(i - 1) - coefficient(i)) *
               weight(0, byWork[next + i]);
    value += Wide(coefficient(place)) * weight(0, data);
    return ceiling(int64_t(value), parent.total);
  }

  /// The order whose work has the ranks of the mean work of positions.
  Order rankedLike(const std::vector<int64_t> &means) const {
    std::vector<double> work(m);
    std::vector<double> costs(rows);
    for (size_t i = 1; i < steps.size(); ++i)
      costs[steps[i].mean / m] += double(steps[i].cost);
    for (size_t row = 0; row != rows; ++row)
      for (size_t k = 0; k != m; ++k) {
        volatile double product = costs[row] * double(means[row * m + k]);
        work[k] += product;
      }
    Order places(m), order(m);
    std::iota(places.begin(), places.end(), 0);
    sortBy(places, [&](uint32_t a, uint32_t b) { return work[a] > work[b]; });
    for (size_t i = 0; i != m; ++i)
      order[places[i]] = byWork[i];
    return order;
  }

  /// A job, with the index of its weight.
  struct Step {
    uint32_t first, second, mean;
    int64_t cost, lag;
  };

  const Problem &problem;
  Proof *const proof;
  const size_t m;
  const std::vector<Job> &jobs;
  const size_t rows;
  unsigned shift = 0, fraction = 0;
  /// The micro-batches by their work, the most first.
  Order byWork;
  Case root;
  uint64_t spent = 0;
  int64_t caseValue = 0;
  // Of the case at hand.
  std::vector<bool> isFixed, isPlaced;
  std::vector<uint32_t> positions, data;
  std::vector<size_t> placeOf;
  std::vector<int64_t> reducedCosts;
  // Of the run at hand.
  std::vector<Step> steps;
  std::vector<int64_t> ends, matrix, u, v, least;
  std::vector<size_t> match, before;
  std::vector<bool> used;
};

} // namespace pipec::order
