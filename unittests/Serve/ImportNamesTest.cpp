//===- ImportNamesTest.cpp - Tests of the imports in a text ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/ImportNames.h"

#include "gtest/gtest.h"

using namespace pipec;

using Names = std::vector<std::string>;

TEST(ImportNamesTest, FindsWhatTheCompilerDoes) {
  EXPECT_EQ(importNames(R"(import "a.pipe"; import"b.pipe";)"),
            (Names{"a.pipe", "b.pipe"}));
  EXPECT_EQ(importNames("import // \"x\"\n  \"a.pipe\""), Names{"a.pipe"});
  EXPECT_EQ(importNames("1import\t\"a\""), Names{"a"});
  EXPECT_EQ(importNames(R"(;import "a\"b\\";)"), Names{"a\"b\\"});
}

TEST(ImportNamesTest, FindsNothingElse) {
  EXPECT_EQ(importNames(R"(// import "a")"), Names());
  EXPECT_EQ(importNames(R"(imports "a"; x_import "b"; alias "c";)"), Names());
  EXPECT_EQ(importNames(R"(alias "import"; "d")"), Names());
  for (const char *text : {"import", "import \"", "import \"a\nb\"", "\"\\"})
    EXPECT_EQ(importNames(text), Names()) << text;
}

TEST(ImportNamesTest, TellsWhatLeavesTheFolder) {
  for (const char *name : {"/a", "..", "../a", "a/../b", "a/.."})
    EXPECT_TRUE(leavesFolder(name)) << name;
  for (const char *name : {"a", "a/b", "..a", "a..", "a/b..c", ""})
    EXPECT_FALSE(leavesFolder(name)) << name;
}
