//===- OrderCases.cpp - The cases of a proof about orders -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/OrderChecker.h"
#include "Support/Decimal.h"

using namespace llvm;

namespace pipec {

/// `mean 0*3 5*7`
bool OrderChecker::readMean(Mean &mean) {
  mean.shares.resize(weights.size() * m);
  for (; at != words.size(); ++at) {
    auto [chainText, countText] = words[at].split('*');
    unsigned chain = 0, count = 0;
    if (chainText.getAsInteger(10, chain) || chain >= chains.size() ||
        countText.getAsInteger(10, count) || count > 1u << 20)
      return wrong("a path and how often it counts, such as 0*3");
    for (auto [i, ticks] : chains[chain].shares)
      mean.shares[i] += Wide(ticks) * count;
    mean.fixed += Wide(chains[chain].fixed) * weightUnit * count;
    mean.total += count;
    if (mean.total > 1u << 24)
      return wrong("paths that count 2^24 times at most");
  }
  return mean.total != 0 || wrong("a path and how often it counts");
}

/// The least sum over all orders of the case: of each share times the weight of
/// the micro-batch at its position.
Wide OrderChecker::leastOf(const Mean &mean) const {
  Wide sum = mean.fixed;
  for (auto [data, position] : fixed)
    for (unsigned row = 0; row != weights.size(); ++row)
      sum += mean.shares[row * m + position] * weights[row][data];
  SmallVector<unsigned> positions, data;
  for (unsigned i = 0; i != m; ++i) {
    if (!isFixed[i])
      positions.push_back(i);
    if (!isPlaced[i])
      data.push_back(i);
  }
  if (weights.size() != 1)
    return sum + assigned(mean, positions, data);
  llvm::sort(positions, [&](unsigned a, unsigned b) {
    return mean.shares[a] > mean.shares[b];
  });
  llvm::sort(data, [&](unsigned a, unsigned b) {
    return weights[0][a] < weights[0][b];
  });
  for (auto [position, own] : zip_equal(positions, data))
    sum += mean.shares[position] * weights[0][own];
  return sum;
}

/// The value of prices of positions and micro-batches whose sums nowhere exceed
/// the cost of the pair, which no assignment is below. They are raised by
/// shortest augmenting paths, and checked at the end.
Wide OrderChecker::assigned(const Mean &mean, ArrayRef<unsigned> positions,
                            ArrayRef<unsigned> data) const {
  size_t n = positions.size();
  std::vector<Wide> cost(n * n), u(n), v(n);
  for (size_t i = 0; i != n; ++i)
    for (size_t j = 0; j != n; ++j)
      for (unsigned row = 0; row != weights.size(); ++row)
        cost[i * n + j] +=
            mean.shares[row * m + positions[i]] * weights[row][data[j]];
  constexpr size_t none = ~size_t(0);
  std::vector<size_t> rowOf(n, none);
  for (size_t start = 0; start != n; ++start) {
    std::vector<std::optional<Wide>> distance(n);
    std::vector<size_t> before(n, none);
    std::vector<bool> done(n);
    size_t row = start, column = none;
    Wide length = 0;
    do {
      size_t best = none;
      for (size_t j = 0; j != n; ++j) {
        if (done[j])
          continue;
        Wide through = length + cost[row * n + j] - u[row] - v[j];
        if (!distance[j] || through < *distance[j]) {
          distance[j] = through;
          before[j] = column;
        }
        if (best == none || *distance[j] < *distance[best])
          best = j;
      }
      column = best;
      done[column] = true;
      length = *distance[column];
      row = rowOf[column];
    } while (row != none);
    u[start] += length;
    for (size_t j = 0; j != n; ++j)
      if (done[j] && rowOf[j] != none) {
        u[rowOf[j]] += length - *distance[j];
        v[j] -= length - *distance[j];
      }
    // Move the rows along the path.
    while (column != none) {
      size_t previous = before[column];
      rowOf[column] = previous == none ? start : rowOf[previous];
      column = previous;
    }
  }
  Wide sum = 0, excess = 0;
  for (size_t i = 0; i != n; ++i) {
    sum += u[i] + v[i];
    Wide worst = 0;
    for (size_t j = 0; j != n; ++j)
      worst = std::max(worst, u[i] + v[j] - cost[i * n + j]);
    excess += worst;
  }
  return sum - excess;
}

/// Checks a case from its line `mean ...` or `same`, and the cases in it.
bool OrderChecker::readCase(const Mean &around) {
  Mean own;
  bool isSame = accept("same");
  if (!isSame && !word("mean"))
    return false;
  if (isSame ? !end() : !readMean(own))
    return false;
  const Mean &mean = isSame ? around : own;
  if (mean.total == 0)
    return at = 0, wrong("a line `mean`");
  SMRange atCase = place();
  if (!next() || words[0] != "split") {
    // A makespan is a whole number of parts.
    Wide unit = Wide(timeUnit) * weightUnit;
    Wide parts = (leastOf(mean) + mean.total - 1) / mean.total;
    Wide needed = Wide(result.bound.numerator()) * unit;
    int64_t divisor = result.bound.denominator();
    if (parts >= (needed + divisor - 1) / divisor)
      return true;
    auto shown = Rational::make(int64_t(parts), int64_t(unit));
    (void)diags.report(atCase, diag::OrderCaseOpen,
                       shown ? decimalText(*shown) : "another time",
                       decimalText(result.bound));
    return false;
  }
  at = 1;
  unsigned data = 0;
  if (!number(data, m - 1) || !end())
    return false;
  if (isPlaced[data] || fixed.size() + 1 > 1000)
    return at = 1, wrong("another micro-batch");
  // Of equal micro-batches, the first one is at the first position.
  unsigned least = !fixed.empty() && isEqual(fixed.back().first, data)
                       ? fixed.back().second
                       : 0;
  (void)next();
  isPlaced[data] = true;
  for (unsigned position = least; position < m; ++position) {
    if (isFixed[position])
      continue;
    if (words.size() < 2 || words[0] != "at" || words[1] != utostr(position))
      return at = 0, wrong("a line `at " + Twine(position) + "`");
    at = 2;
    isFixed[position] = true;
    fixed.push_back({data, position});
    if (!readCase(mean))
      return false;
    fixed.pop_back();
    isFixed[position] = false;
  }
  isPlaced[data] = false;
  return true;
}

bool OrderChecker::readCases() {
  isFixed.assign(m, false);
  isPlaced.assign(m, false);
  if (!next() || words[0] == "at")
    return at = 0, wrong("a line `mean`");
  at = 0;
  if (!readCase({}))
    return false;
  return words.empty() || (at = 0, wrong("the end of the certificate"));
}

} // namespace pipec
