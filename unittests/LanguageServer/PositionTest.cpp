//===- PositionTest.cpp - Positions in the text of an editor --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

#include <gtest/gtest.h>

#include <random>

using namespace llvm;
using namespace pipec::lsp;

namespace {

TEST(LineMap, CountsCodeUnitsOfUtf16) {
  StringRef text = "aß𝄞b\r\n\nx\ry";
  LineMap lines(text);
  // Bytes: a 0, ß 1-2, 𝄞 3-6, b 7, CR LF 8-9, LF 10, x 11, CR 12, y 13.
  std::pair<size_t, Position> places[] = {
      {0, {0, 0}},  {1, {0, 1}},  {3, {0, 2}},  {7, {0, 4}},  {8, {0, 5}},
      {10, {1, 0}}, {11, {2, 0}}, {12, {2, 1}}, {13, {3, 0}}, {14, {3, 1}}};
  for (auto [offset, position] : places) {
    EXPECT_EQ(lines.position(offset).line, position.line) << offset;
    EXPECT_EQ(lines.position(offset).character, position.character) << offset;
    EXPECT_EQ(lines.offset(position), offset);
  }
  // In the middle of a character, after the end of a line, of the text.
  EXPECT_EQ(lines.offset({0, 3}), 3u);
  EXPECT_EQ(lines.position(5).character, 2u);
  EXPECT_EQ(lines.offset({0, 99}), 8u);
  EXPECT_EQ(lines.offset({99, 0}), text.size());
  EXPECT_EQ(lines.position(99).line, 3u);
}

TEST(LineMap, HasALineForAnEmptyText) {
  LineMap lines("");
  EXPECT_EQ(lines.offset({0, 0}), 0u);
  EXPECT_EQ(lines.offset({3, 3}), 0u);
  EXPECT_EQ(lines.position(0).line, 0u);
}

TEST(LineMap, ReturnsToEveryOffsetOfACharacter) {
  std::mt19937 random(1);
  StringRef pieces[] = {"a", "ß", "€", "𝄞", "\n", "\r\n", "\r", " "};
  for (int round = 0; round != 200; ++round) {
    std::string text;
    std::vector<size_t> starts;
    for (int i = 0; i != 20; ++i) {
      // A line feed after a carriage return would be a part of one line end.
      StringRef piece = pieces[random() % std::size(pieces)];
      if (piece.starts_with("\n") && StringRef(text).ends_with("\r"))
        continue;
      starts.push_back(text.size());
      text += piece;
    }
    LineMap lines(text);
    for (size_t offset : starts)
      EXPECT_EQ(lines.offset(lines.position(offset)), offset) << text;
  }
}

TEST(Position, IsReadFromValidValuesOnly) {
  auto read = [](StringRef text) {
    json::Value value = cantFail(json::parse(text));
    return positionFrom(&value);
  };
  EXPECT_EQ(read(R"({"line": 3, "character": 4})"), (Position{3, 4}));
  for (StringRef text :
       {R"({"line": -1, "character": 4})", R"({"line": 3})", "[]", "3", "null",
        R"({"line": "3", "character": 4})", R"({"line": 1.5, "character": 4})"})
    EXPECT_FALSE(read(text)) << text.str();
  EXPECT_FALSE(positionFrom(nullptr));
}

TEST(Shift, MapsWhatIsInBothTexts) {
  std::mt19937 random(2);
  auto word = [&](size_t length) {
    std::string text;
    for (size_t i = 0; i != length; ++i)
      text += "abc"[random() % 3];
    return text;
  };
  for (int round = 0; round != 500; ++round) {
    // The marks exclude that one text is the beginning of the other.
    std::string head = word(random() % 8) + "<";
    std::string tail = ">" + word(random() % 8);
    std::string before = head + word(random() % 4) + tail;
    std::string after = head + word(random() % 4) + tail;
    Shift shift(before, after);
    for (size_t at = 0; at != head.size(); ++at) {
      EXPECT_EQ(shift.toNew(at), at) << before << ' ' << after;
      EXPECT_EQ(shift.toOld(at), at);
    }
    // Offsets do not leave the text, nor move in one of the same size.
    for (size_t at = 0; at < before.size(); ++at)
      if (std::optional<size_t> now = shift.toNew(at)) {
        EXPECT_LE(*now, after.size());
        if (before.size() == after.size()) {
          EXPECT_EQ(*now, at);
        }
      }
    EXPECT_EQ(shift.toNew(before.size()), after.size());
    EXPECT_EQ(shift.toOld(after.size()), before.size());
  }
}

} // namespace
