//===- TextTableTest.cpp - Aligned columns of text ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TextTable.h"

#include <gtest/gtest.h>

using namespace pipec;

static std::string textOf(const TextTable &table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  table.print(os);
  return text;
}

TEST(TextTable, AlignsColumnsAndLeavesOutEmptyOnes) {
  TextTable table(2);
  table.column("rank");
  table.column("what", TextTable::Align::Left);
  table.column("nothing");
  table.column("end");
  table.row({"0", "F s0 m0", "", "12"});
  table.line("... 9 more ...");
  table.row({"10", "B", "", "3.5"});
  EXPECT_EQ(textOf(table), "  rank  what     end\n"
                           "     0  F s0 m0   12\n"
                           "  ... 9 more ...\n"
                           "    10  B        3.5\n");
}

TEST(TextTable, HasNoSpacesAtTheEndOfALine) {
  TextTable table;
  table.column("a", TextTable::Align::Left);
  table.column("long heading", TextTable::Align::Left);
  table.row({"x", "y"});
  table.row({"x", ""});
  EXPECT_EQ(textOf(table), "a  long heading\nx  y\nx\n");
}
