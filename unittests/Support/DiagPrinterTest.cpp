//===- DiagPrinterTest.cpp - Diagnostics as text --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/DiagPrinter.h"

#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

namespace {

/// The output for an error at [begin, end) of `text`, with the edit that puts
/// `fixIt` in place of [fixBegin, fixEnd).
std::string print(StringRef text, size_t begin, size_t end,
                  StringRef fixIt = "", size_t fixBegin = 0,
                  size_t fixEnd = 0) {
  SourceFiles files;
  auto added = files.add(MemoryBuffer::getMemBufferCopy(text, "f"));
  if (!added) {
    ADD_FAILURE() << toString(added.takeError());
    return "";
  }
  std::string result;
  raw_string_ostream os(result);
  DiagEngine diags(files, DiagPrinter(os, files, "tool"));
  const char *data = added->data();
  auto range = [&](size_t from, size_t to) {
    return SMRange(SMLoc::getFromPointer(data + from),
                   SMLoc::getFromPointer(data + to));
  };
  {
    InFlightDiagnostic error =
        diags.report(range(begin, end), diag::UnusableOption, "wrong");
    if (!fixIt.empty())
      error.fixIt(range(fixBegin, fixEnd), fixIt);
  } // It is printed.
  return result;
}

TEST(DiagPrinter, CaretAndRange) {
  EXPECT_EQ(print("let x = y;\n", 8, 9), "f:1:9: error: wrong\n"
                                         "let x = y;\n"
                                         "        ^\n");
  EXPECT_EQ(print("\nlet wide = y;", 5, 9), "f:2:5: error: wrong\n"
                                            "let wide = y;\n"
                                            "    ^~~~\n");
  // A range over several lines is underlined up to the end of its first line.
  EXPECT_EQ(print("ab\ncd\n", 1, 5), "f:1:2: error: wrong\nab\n ^\n");
}

TEST(DiagPrinter, EndsOfFiles) {
  EXPECT_EQ(print("", 0, 0), "f:1:1: error: wrong\n\n^\n");
  EXPECT_EQ(print("ab", 2, 2), "f:1:3: error: wrong\nab\n  ^\n");
  EXPECT_EQ(print("ab\n", 3, 3), "f:2:1: error: wrong\n\n^\n");
}

TEST(DiagPrinter, FixIt) {
  // An insertion, at its own place.
  EXPECT_EQ(print("a bc d", 2, 4, "xy", 2, 2), "f:1:3: error: wrong\n"
                                               "a bc d\n"
                                               "  ^~\n"
                                               "  xy\n");
  EXPECT_EQ(print("a bc d", 2, 4, " xy ", 4, 4), "f:1:3: error: wrong\n"
                                                 "a bc d\n"
                                                 "  ^~\n"
                                                 "    xy\n");
  EXPECT_EQ(print("a bc d", 2, 4, "xy", 1, 1), "f:1:3: error: wrong\n"
                                               "a bc d\n"
                                               "  ^~\n"
                                               " xy\n");
  // A replacement, and an insertion in another line, are not shown.
  StringRef plain = "f:1:3: error: wrong\na bc d\n  ^~\n";
  EXPECT_EQ(print("a bc d", 2, 4, "xy", 2, 4), plain);
  EXPECT_EQ(print("a bc d\ne", 2, 4, "xy", 7, 7), plain);
}

TEST(DiagPrinter, LineEndOfCrLf) {
  EXPECT_EQ(print("one\r\ntwo\r\n", 5, 8), "f:2:1: error: wrong\ntwo\n^~~\n");
}

TEST(DiagPrinter, TabsCountOne) {
  EXPECT_EQ(print("\tx\ty", 3, 4), "f:1:4: error: wrong\n x y\n   ^\n");
}

TEST(DiagPrinter, OtherAlphabets) {
  // The column counts bytes; the caret is below the character.
  EXPECT_EQ(print("äö x", 5, 6), "f:1:6: error: wrong\näö x\n   ^\n");
  // Characters of two columns.
  EXPECT_EQ(print("日本 x", 7, 8), "f:1:8: error: wrong\n日本 x\n     ^\n");
  EXPECT_EQ(print("日本", 0, 6), "f:1:1: error: wrong\n日本\n^~~~\n");
}

TEST(DiagPrinter, BytesThatAreNoText) {
  EXPECT_EQ(print("\x1b[31m\xff x", 7, 8),
            "f:1:8: error: wrong\n?[31m? x\n       ^\n");
  EXPECT_EQ(print(StringRef("a\0b", 3), 2, 3),
            "f:1:3: error: wrong\na?b\n  ^\n");
}

TEST(DiagPrinter, LongLines) {
  std::string line(10'000'000, 'a');
  std::string middle = print(line, 5'000'000, 5'000'001);
  EXPECT_EQ(middle, "f:1:5000001: error: wrong\n..." + std::string(160, 'a') +
                        "...\n" + std::string(83, ' ') + "^\n");
  EXPECT_EQ(print(line, 0, 1),
            "f:1:1: error: wrong\n" + std::string(80, 'a') + "...\n^\n");
  // The line is cut between characters: 81 characters of two bytes.
  std::string wide;
  for (unsigned i = 0; i != 81; ++i)
    wide += "ä";
  std::string text = print(wide + "x", 162, 163);
  EXPECT_EQ(text.find("\xa4"), text.find("ä") + 1);
  EXPECT_EQ(StringRef(text).count('?'), 0u);
}

TEST(DiagPrinter, WithoutAPlace) {
  SourceFiles files;
  std::string result;
  raw_string_ostream os(result);
  DiagPrinter printer(os, files, "tool");
  printer.setShowKinds(true);
  DiagEngine diags(files, printer);
  (void)diags.report(DiagLoc(), diag::UnusableOption, "wrong");
  EXPECT_EQ(result, "tool: error: wrong [UnusableOption]\n");
}

} // namespace
