//===- TextTable.cpp - Aligned columns of text ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/TextTable.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace pipec {

TextTable::TextTable(StringRef headings, unsigned indent) : indent(indent) {
  for (StringRef heading : split(headings, '|')) {
    bool left = heading.consume_front("<");
    column(heading.str(), left ? Align::Left : Align::Right);
  }
}

void TextTable::column(std::string heading, Align align) {
  columns.push_back({std::move(heading), align});
}

void TextTable::row(std::vector<std::string> cells) {
  assert(cells.size() == columns.size());
  for (std::string &cell : cells)
    cell = terminalText(cell);
  for (auto [column, cell] : zip(columns, cells))
    column.width = std::max(column.width, cell.size());
  rows.push_back(std::move(cells));
}

void TextTable::line(std::string text) { rows.push_back({std::move(text)}); }

size_t TextTable::Column::shownWidth() const {
  return width == 0 || omitted ? 0 : std::max(width, heading.size());
}

std::vector<std::string> TextTable::fit(size_t width,
                                        ArrayRef<StringRef> headings) {
  size_t used = indent;
  for (const Column &column : columns)
    if (size_t shown = column.shownWidth())
      used += shown + 2;
  for (StringRef heading : headings) {
    auto it = find_if(columns, [&](const Column &column) {
      return column.heading == heading && column.shownWidth() != 0;
    });
    if (used <= width + 2) // the last column has no space after it
      break;
    if (it == columns.end())
      continue;
    used -= it->shownWidth() + 2;
    it->omitted = true;
  }
  std::vector<std::string> omitted;
  for (const Column &column : columns)
    if (column.omitted)
      omitted.push_back(column.heading);
  return omitted;
}

void TextTable::printRow(raw_ostream &os,
                         const std::vector<std::string> &cells) const {
  std::string text(indent, ' ');
  for (auto [column, cell] : zip(columns, cells)) {
    size_t width = column.shownWidth();
    if (width == 0)
      continue;
    if (column.align == Align::Right)
      text.append(width - cell.size(), ' ');
    text += cell;
    if (column.align == Align::Left)
      text.append(width - cell.size(), ' ');
    text += "  ";
  }
  os << StringRef(text).rtrim(' ') << '\n';
}

void TextTable::print(raw_ostream &os) const {
  std::vector<std::string> headings;
  for (const Column &column : columns)
    headings.push_back(column.heading);
  if (any_of(columns,
             [](const Column &column) { return !column.heading.empty(); }))
    printRow(os, headings);
  for (const std::vector<std::string> &cells : rows) {
    if (cells.size() == columns.size())
      printRow(os, cells);
    else
      os.indent(indent) << cells.front() << '\n';
  }
}

} // namespace pipec
