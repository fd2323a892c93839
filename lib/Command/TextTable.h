//===- TextTable.h - Aligned columns -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_TEXTTABLE_H
#define PIPEC_COMMAND_TEXTTABLE_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec {

/// Rows of cells, printed in columns that are as wide as their widest cell.
class TextTable {
public:
  using Row = std::vector<std::string>;

  /// The first `leftColumns` columns are flush left, the others flush right.
  explicit TextTable(unsigned leftColumns) : leftColumns(leftColumns) {}

  void add(Row row) { rows.push_back(std::move(row)); }
  void print(llvm::raw_ostream &os) const;

private:
  unsigned leftColumns;
  std::vector<Row> rows;
};

} // namespace pipec

#endif // PIPEC_COMMAND_TEXTTABLE_H
