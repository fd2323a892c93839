//===- ColumnProgram.h - Linear programs that grow by columns ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The revised simplex method for programs of few rows: least cost of
// non-negative amounts of columns whose sum is a given vector. Columns are
// added between two solutions, and the prices of the rows say which would help.
// Prices are floating point numbers, so a proof needs a check of its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <vector>

namespace pipec::search {

class ColumnProgram {
public:
  struct Column {
    double cost;
    /// By row.
    std::vector<double> entries;
  };

  /// The sum of the columns by row. `basis` has a column per row, with
  /// non-negative amounts, and only its row and row 0 are not zero.
  ColumnProgram(std::vector<double> sums, std::vector<Column> basis);

  void add(Column column) { columns.push_back(std::move(column)); }
  /// Finds the least cost and the prices that show it, in at most `most` steps.
  void solve(unsigned most);

  /// The price of each row: no column costs less than its entries.
  const std::vector<double> &prices() const { return rowPrices; }
  double priceOf(const Column &column) const;
  /// The cost of the solution.
  double cost() const { return leastCost; }

private:
  void findPrices();
  void exchange(unsigned place, unsigned column,
                const std::vector<double> &entries);

  std::vector<double> sums;
  std::vector<Column> columns;
  /// By place in the basis: its column and its amount.
  std::vector<unsigned> basis;
  std::vector<double> amounts;
  std::vector<char> isBasic;
  /// The inverse of the matrix of the basis, by place and row.
  std::vector<std::vector<double>> inverse;
  std::vector<double> rowPrices;
  double leastCost = 0;
};

} // namespace pipec::search
