//===- ColumnProgram.cpp - Linear programs that grow by columns -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/ColumnProgram.h"

#include <cmath>
#include <utility>

namespace pipec::search {

/// Smaller numbers are errors of rounding.
static constexpr double tolerance = 1e-9;

ColumnProgram::ColumnProgram(std::vector<double> theSums,
                             std::vector<Column> first)
    : sums(std::move(theSums)), columns(std::move(first)), amounts(sums) {
  unsigned rows = sums.size();
  isBasic.assign(rows, true);
  for (unsigned row = 0; row != rows; ++row)
    basis.push_back(row);
  // Begins with unit columns, and exchanges them for the first ones in the
  // order of the rows, which keeps the diagonal in place.
  inverse.assign(rows, std::vector<double>(rows, 0));
  for (unsigned row = 0; row != rows; ++row)
    inverse[row][row] = 1;
  for (unsigned row = 0; row != rows; ++row) {
    std::vector<double> entries(rows);
    for (unsigned place = 0; place != rows; ++place)
      for (unsigned i = 0; i != rows; ++i)
        entries[place] += inverse[place][i] * columns[row].entries[i];
    exchange(row, row, entries);
  }
  findPrices();
}

double ColumnProgram::priceOf(const Column &column) const {
  double sum = 0;
  for (unsigned row = 0; row != rowPrices.size(); ++row)
    sum += rowPrices[row] * column.entries[row];
  return sum;
}

void ColumnProgram::findPrices() {
  rowPrices.assign(sums.size(), 0);
  leastCost = 0;
  for (unsigned place = 0; place != basis.size(); ++place) {
    double cost = columns[basis[place]].cost;
    leastCost += cost * amounts[place];
    for (unsigned row = 0; row != sums.size(); ++row)
      rowPrices[row] += cost * inverse[place][row];
  }
}

/// Puts a column, which is `entries` in terms of the basis, at a place.
void ColumnProgram::exchange(unsigned place, unsigned column,
                             const std::vector<double> &entries) {
  double pivot = entries[place];
  for (double &value : inverse[place])
    value /= pivot;
  amounts[place] /= pivot;
  for (unsigned other = 0; other != basis.size(); ++other) {
    if (other == place || entries[other] == 0)
      continue;
    for (unsigned row = 0; row != sums.size(); ++row)
      inverse[other][row] -= entries[other] * inverse[place][row];
    amounts[other] -= entries[other] * amounts[place];
  }
  basis[place] = column;
}

void ColumnProgram::solve(unsigned most) {
  isBasic.assign(columns.size(), false);
  for (unsigned column : basis)
    isBasic[column] = true;
  std::vector<double> entries(sums.size());
  for (unsigned n = 0; n != most; ++n) {
    findPrices();
    double least = -tolerance;
    unsigned enters = columns.size();
    for (unsigned i = 0; i != columns.size(); ++i)
      if (!isBasic[i])
        if (double reduced = columns[i].cost - priceOf(columns[i]);
            reduced < least) {
          least = reduced;
          enters = i;
        }
    if (enters == columns.size())
      return;
    unsigned leaves = basis.size();
    double ratio = 0;
    for (unsigned place = 0; place != basis.size(); ++place) {
      entries[place] = 0;
      for (unsigned row = 0; row != sums.size(); ++row)
        entries[place] += inverse[place][row] * columns[enters].entries[row];
      if (entries[place] <= tolerance)
        continue;
      double own = amounts[place] / entries[place];
      // Of equal ones, the largest pivot loses least.
      if (leaves == basis.size() || own < ratio - tolerance ||
          (own <= ratio && entries[place] > entries[leaves])) {
        ratio = own;
        leaves = place;
      }
    }
    // Costs are not negative: there is a least one.
    if (leaves == basis.size())
      return;
    isBasic[basis[leaves]] = false;
    isBasic[enters] = true;
    exchange(leaves, enters, entries);
  }
  findPrices();
}

} // namespace pipec::search
