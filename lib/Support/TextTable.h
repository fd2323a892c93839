//===- TextTable.h - Aligned columns of text --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace pipec {

/// A table with a line of headings. Each column is as wide as its widest cell,
/// and columns are two spaces apart. A column whose cells are all empty is
/// omitted, as is the line of headings if there are none.
///
///   rank  work  step
///      0    24  F s0 m0
///     10     3  B s0 m0
class TextTable {
public:
  enum class Align { Left, Right };

  /// Every line is indented by `indent` spaces.
  explicit TextTable(unsigned indent = 0) : indent(indent) {}
  /// With these columns: their headings, which are separated by `|`. A `<`
  /// before a heading aligns its column to the left.
  explicit TextTable(llvm::StringRef headings, unsigned indent = 0);

  /// Adds a column. All columns must be added before the first row.
  void column(std::string heading = {}, Align align = Align::Right);
  /// Adds a row with one cell per column.
  void row(std::vector<std::string> cells);
  /// Adds a line of free text, which does not affect the widths.
  void line(std::string text);

  /// Omits columns with these headings, one after the other, until the lines
  /// are at most `width` wide or there is none left. Returns the headings of
  /// those that were omitted and have cells, in the order of the columns.
  std::vector<std::string> fit(size_t width,
                               llvm::ArrayRef<llvm::StringRef> headings);

  void print(llvm::raw_ostream &os) const;

private:
  struct Column {
    std::string heading;
    Align align;
    size_t width = 0;
    bool omitted = false;
    /// The width with the heading; 0 for a column that is not printed.
    size_t shownWidth() const;
  };
  void printRow(llvm::raw_ostream &os,
                const std::vector<std::string> &cells) const;

  unsigned indent;
  std::vector<Column> columns;
  /// A row with one cell, in a table of several columns, is a free line.
  std::vector<std::vector<std::string>> rows;
};

} // namespace pipec
