//===- CsvText.h - The text of the cells of a CSV ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells are read as Python's csv module and `strip` do for PyTorch.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace pipec {

/// The number of commas and semicolons in `line`. Sums of blocks fit a byte,
/// which allows the compiler to vectorize the comparison.
size_t countSeparators(llvm::StringRef line);

/// `text` without the blanks at its beginning.
llvm::StringRef trimmedFront(llvm::StringRef text);

/// The text of a cell without blanks around it. As for Python's csv module, a
/// quote directly after a comma begins a quoted cell. The quotes of one that
/// contains commas or quotes are left, so that it is not a step.
llvm::StringRef cellTextOf(llvm::StringRef cell);
inline llvm::StringRef cellText(llvm::StringRef cell) {
  auto isPlain = [](unsigned char c) {
    return c > ' ' && c < 0x80 && c != '"';
  };
  // As almost all cells are.
  if (!cell.empty() && isPlain(cell.front()) && isPlain(cell.back()))
    return cell;
  return cellTextOf(cell);
}

/// The length of the cell at the beginning of `rest`, without trailing blanks.
size_t csvCellLength(llvm::StringRef rest);

} // namespace pipec
