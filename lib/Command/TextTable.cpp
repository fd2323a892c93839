//===- TextTable.cpp - Aligned columns -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/TextTable.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

void TextTable::print(raw_ostream &os) const {
  std::vector<size_t> widths;
  for (const Row &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i != row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row &row : rows) {
    std::string line;
    for (size_t i = 0; i != row.size(); ++i) {
      std::string space(widths[i] - row[i].size(), ' ');
      line += i ? "  " : "";
      line += i < leftColumns ? row[i] + space : space + row[i];
    }
    os << StringRef(line).rtrim() << '\n';
  }
}

} // namespace pipec
