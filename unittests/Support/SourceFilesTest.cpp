//===- SourceFilesTest.cpp - Positions in files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/SourceFiles.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

namespace {

class SourceFilesTest : public testing::Test {
protected:
  StringRef add(StringRef text, StringRef name) {
    auto added = files.add(MemoryBuffer::getMemBufferCopy(text, name));
    if (!added) {
      ADD_FAILURE() << toString(added.takeError());
      return {};
    }
    return *added;
  }
  SMLoc at(StringRef text, size_t offset) {
    return SMLoc::getFromPointer(text.data() + offset);
  }

  SourceFiles files;
};

TEST_F(SourceFilesTest, FourBytesAndBack) {
  StringRef one = add("first", "a");
  StringRef none = add("", "b");
  StringRef two = add("second\n", "c");
  for (StringRef text : {one, none, two})
    for (size_t i = 0; i <= text.size(); ++i) {
      SourceLoc loc = files.compress(at(text, i));
      ASSERT_TRUE(loc.isValid());
      EXPECT_EQ(files.expand(loc), at(text, i));
    }
  // The end of a file is not the start of the next one.
  EXPECT_NE(files.compress(at(one, 5)).offset,
            files.compress(at(none, 0)).offset);
  EXPECT_FALSE(files.compress(SMLoc()).isValid());
  EXPECT_FALSE(files.expand(SourceLoc()).isValid());
  char foreign = 0;
  EXPECT_FALSE(files.compress(SMLoc::getFromPointer(&foreign)).isValid());
}

TEST_F(SourceFilesTest, TextEndsInNul) {
  StringRef text = add("abc", "a");
  EXPECT_EQ(text.data()[3], '\0');
}

TEST_F(SourceFilesTest, LinesAndColumns) {
  StringRef text = add("ab\n\r\ncd\n", "name");
  struct {
    size_t offset;
    unsigned line, column;
  } cases[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1},
               {4, 2, 2}, {5, 3, 1}, {7, 3, 3}, {8, 4, 1}};
  for (auto &[offset, line, column] : cases) {
    LineColumn found = files.lineColumn(at(text, offset));
    EXPECT_EQ(found.file, "name");
    EXPECT_EQ(found.line, line) << offset;
    EXPECT_EQ(found.column, column) << offset;
  }
}

TEST_F(SourceFilesTest, LinesOfAPart) {
  StringRef whole = add("one\ntwo\n", "name");
  StringRef part = cantFail(
      files.add(MemoryBuffer::getMemBufferCopy("eight\nnine\n", "name"), 8));
  EXPECT_EQ(files.lineColumn(at(whole, 4)).line, 2u);
  EXPECT_EQ(files.lineColumn(at(part, 0)).line, 8u);
  LineColumn found = files.lineColumn(at(part, 8));
  EXPECT_EQ(found.line, 9u);
  EXPECT_EQ(found.column, 3u);
  EXPECT_EQ(files.lineColumn(files.expand(files.compress(at(part, 8)))).line,
            9u);
}

TEST_F(SourceFilesTest, TextOf) {
  StringRef one = add("one", "a");
  StringRef two = add("two", "b");
  EXPECT_EQ(files.textOf(at(one, 1)).data(), one.data());
  EXPECT_EQ(files.textOf(at(two, 3)), "two");
  EXPECT_EQ(files.textOf(SMLoc()), "");
}

TEST_F(SourceFilesTest, UnreadableFiles) {
  Expected<StringRef> missing = files.open("/no/such/file");
  EXPECT_FALSE(bool(missing));
  consumeError(missing.takeError());
  Expected<StringRef> folder = files.open("/");
  ASSERT_FALSE(bool(folder));
  EXPECT_EQ(StringRef(toString(folder.takeError())).lower(), "is a directory");
}

} // namespace
