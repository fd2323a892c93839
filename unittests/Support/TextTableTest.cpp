//===- TextTableTest.cpp - Aligned columns of text ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
TEST(TextTable, OmitsColumnsUntilTheLinesFit) {
  auto make = [] {
    TextTable table(1);
    for (const char *heading : {"a", "long", "empty", "b", "c"})
      table.column(heading);
    table.row({"1", "2", "", "33", "4"});
    return table;
  };
  EXPECT_EQ(textOf(make()), " a  long   b  c\n 1     2  33  4\n");
  TextTable whole = make();
  EXPECT_TRUE(whole.fit(15, {"b", "a"}).empty());
  EXPECT_EQ(textOf(whole), textOf(make()));
  // One column is enough; one without cells has no width.
  TextTable narrow = make();
  EXPECT_EQ(narrow.fit(14, {"empty", "none", "b", "a"}),
            std::vector<std::string>{"b"});
  EXPECT_EQ(textOf(narrow), " a  long  c\n 1     2  4\n");
  // In the order of the columns, also where the lines stay too long.
  TextTable least = make();
  EXPECT_EQ(least.fit(1, {"long", "b", "a"}),
            (std::vector<std::string>{"a", "long", "b"}));
  EXPECT_EQ(textOf(least), " c\n 4\n");
}
