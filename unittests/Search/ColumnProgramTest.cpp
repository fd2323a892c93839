//===- ColumnProgramTest.cpp - Linear programs against their duals --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/ColumnProgram.h"
#include "Search/Random.h"

#include "gtest/gtest.h"

#include <limits>

using namespace pipec::search;

namespace {

using Column = ColumnProgram::Column;

/// The least cost of two rows, over all pairs of columns.
double leastOfPairs(const std::vector<double> &sums,
                    const std::vector<Column> &columns) {
  double least = std::numeric_limits<double>::max();
  for (const Column &a : columns)
    for (const Column &b : columns) {
      double det = a.entries[0] * b.entries[1] - a.entries[1] * b.entries[0];
      if (det > -1e-9 && det < 1e-9)
        continue;
      double x = (sums[0] * b.entries[1] - sums[1] * b.entries[0]) / det;
      double y = (a.entries[0] * sums[1] - a.entries[1] * sums[0]) / det;
      if (x >= -1e-9 && y >= -1e-9)
        least = std::min(least, x * a.cost + y * b.cost);
    }
  return least;
}

} // namespace

TEST(ColumnProgram, TwoRowsHaveTheLeastCostOfAllPairs) {
  Random random(31);
  for (unsigned round = 0; round != 300; ++round) {
    std::vector<double> sums = {1, 0.001};
    double first = double(random.below(9)) - 4;
    double amount = sums[1] - first;
    std::vector<Column> columns = {
        {double(random.below(9)), {1, first}},
        {double(random.below(9)), {0, amount < 0 ? -1.0 : 1.0}}};
    ColumnProgram program(sums, columns);
    for (unsigned n = random.below(8); n != 0; --n) {
      columns.push_back(
          {double(random.below(9)),
           {double(random.below(3)), double(random.below(9)) - 4}});
      program.add(columns.back());
    }
    program.solve(100);
    ASSERT_NEAR(program.cost(), leastOfPairs(sums, columns), 1e-6) << round;
  }
}

/// Prices below all costs whose sum is the cost of a solution show that it is
/// the least.
TEST(ColumnProgram, PricesShowTheLeastCost) {
  Random random(32);
  for (unsigned round = 0; round != 100; ++round) {
    unsigned rows = 2 + random.below(12);
    std::vector<double> sums(rows, 0.001);
    sums[0] = 1;
    std::vector<Column> columns(1, {1, std::vector<double>(rows)});
    columns[0].entries[0] = 1;
    for (unsigned row = 1; row != rows; ++row) {
      double entry = double(random.below(9)) - 4;
      columns[0].entries[row] = entry;
      Column &own = columns.emplace_back(Column{0, std::vector<double>(rows)});
      own.entries[row] = sums[row] < entry ? -1 : 1;
      own.cost = sums[row] < entry ? 0 : 5;
    }
    ColumnProgram program(sums, columns);
    for (unsigned n = 40; n != 0; --n) {
      Column own = {double(random.below(9)), std::vector<double>(rows)};
      for (double &entry : own.entries)
        entry = double(random.below(9)) - 3;
      columns.push_back(own);
      program.add(own);
      program.solve(1000);
      double sum = 0;
      for (unsigned row = 0; row != rows; ++row)
        sum += sums[row] * program.prices()[row];
      ASSERT_NEAR(sum, program.cost(), 1e-6) << round;
    }
    for (const Column &column : columns)
      ASSERT_LE(program.priceOf(column), column.cost + 1e-6) << round;
  }
}
