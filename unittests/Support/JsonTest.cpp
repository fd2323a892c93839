//===- JsonTest.cpp -------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Json.h"

#include "gtest/gtest.h"

#include <random>
#include <string>
#include <vector>

using namespace llvm;
using namespace pipec;

/// The fault of a text and its offset, "5: expected a value"; empty if it has
/// none.
static std::string faultOf(StringRef text, unsigned depth = maxJsonDepth) {
  JsonReader reader(text, depth);
  StringRef value = reader.value();
  reader.finish();
  if (!reader.hasFault())
    return "";
  EXPECT_TRUE(value.empty() || reader.fault().at >= value.end());
  return std::to_string(reader.fault().at - text.begin()) + ": " +
         reader.fault().text;
}

TEST(Json, ReadsValuesInPlace) {
  std::string text = R"( {"a" : -1.50e+3, "list": [ 1 , "x\"]" ], "o": {}} )";
  JsonReader reader(text);
  std::vector<std::string> seen;
  reader.object([&](StringRef key) {
    seen.push_back(key.str());
    if (key == "list")
      return reader.list([&] {
        StringRef value = reader.value();
        EXPECT_GE(value.begin(), text.data());
        EXPECT_LE(value.end(), text.data() + text.size());
        seen.push_back(value.str());
      });
    seen.push_back(reader.value().str());
  });
  reader.finish();
  EXPECT_FALSE(reader.hasFault());
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "-1.50e+3", "list", "1",
                                            R"("x\"]")", "o", "{}"}));
}

TEST(Json, FindsFaults) {
  for (StringRef good : {"{}", "[]", " [1,\t2]\n", "0", "-0.5", "1E9", "true",
                         "false", "null", "\"\"", R"({"a":[{"b":"\\"}]})"})
    EXPECT_EQ(faultOf(good), "") << good.str();
  EXPECT_EQ(faultOf(""), "0: unexpected end of file");
  EXPECT_EQ(faultOf(StringRef()), "0: unexpected end of file");
  EXPECT_EQ(faultOf("  "), "2: unexpected end of file");
  EXPECT_EQ(faultOf("{1: 2}"), "1: expected a string");
  EXPECT_EQ(faultOf("{\"a\" 2}"), "5: expected `:` after a key");
  EXPECT_EQ(faultOf("{\"a\": 2,}"), "8: expected a string");
  EXPECT_EQ(faultOf("{\"a\": 2]"), "7: expected `,` or `}` after a member");
  EXPECT_EQ(faultOf("[1 2]"), "3: expected `,` or `]` after a value");
  EXPECT_EQ(faultOf("[1,]"), "3: expected a value");
  EXPECT_EQ(faultOf("[1"), "2: unexpected end of file");
  EXPECT_EQ(faultOf("[\"a\\\"]"), "1: the string does not end");
  EXPECT_EQ(faultOf("\"a\\"), "0: the string does not end");
  EXPECT_EQ(faultOf("\"a\nb\""), "2: control character in a string");
  EXPECT_EQ(faultOf("1 1"), "2: text after the end of the value");
  EXPECT_EQ(faultOf("nulL"), "0: expected a value");
  for (StringRef number : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "--1",
                           "-01", "1.e3", "0x10", "NaN", "'a'"})
    EXPECT_NE(faultOf(number), "") << number.str();
}

TEST(Json, EndsAfterAFault) {
  JsonReader reader("{\"a\": 1, \"b\": }");
  unsigned members = 0;
  reader.object([&](StringRef) {
    ++members;
    reader.value();
  });
  EXPECT_EQ(members, 2u);
  EXPECT_TRUE(reader.hasFault());
  EXPECT_TRUE(reader.value().empty());
  reader.object([](StringRef) { FAIL(); });
  reader.list([] { FAIL(); });
  reader.setFault(nullptr, "another");
  EXPECT_STREQ(reader.fault().text, "expected a value");
}

TEST(Json, LimitsDepth) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(faultOf(nested(256)), "");
  EXPECT_EQ(faultOf(nested(257)), "256: objects and lists nest too deep");
  EXPECT_EQ(faultOf(std::string(100000, '[')),
            "256: objects and lists nest too deep");
  EXPECT_EQ(faultOf(nested(3), 2), "2: objects and lists nest too deep");
  EXPECT_EQ(faultOf("[\"[[[[\"]", 1), "");
}

TEST(Json, ParsesWithPositions) {
  EXPECT_EQ(*parseJson("{\"a\": [1]}")->getAsObject()->getArray("a"),
            json::Array{1});
  auto errorOf = [](StringRef text, unsigned depth) {
    Expected<json::Value> value = parseJson(text, depth);
    return value ? "" : toString(value.takeError());
  };
  EXPECT_EQ(errorOf("[\n [,", 9), "[2:3]: expected a value");
  EXPECT_EQ(errorOf("[[", 1), "[1:2]: objects and lists nest too deep");
  // LLVM's parser reads `+1`, and recurses without a limit.
  EXPECT_EQ(errorOf("[+1," + std::string(100000, '['), 9),
            "[1:2]: expected a value");
  EXPECT_NE(errorOf("\"\\q\"", 9), "");
}

TEST(Json, DecodesStrings) {
  EXPECT_EQ(decodeJsonString(R"("a\u00e9\"b")"), "a\xC3\xA9\"b");
  EXPECT_EQ(decodeJsonString("\"plain\""), "plain");
  EXPECT_EQ(decodeJsonString(R"("C:\new\q")"), R"(C:\new\q)");
  EXPECT_EQ(decodeJsonString("12"), "12");
}

TEST(Json, ScalesNumbersExactly) {
  EXPECT_EQ(scaledJsonNumber("12.3456", 3), 12345);
  EXPECT_EQ(scaledJsonNumber("-12.3456", 3), -12345);
  EXPECT_EQ(scaledJsonNumber("0", 3), 0);
  EXPECT_EQ(scaledJsonNumber("1.25e1", 3), 12500);
  EXPECT_EQ(scaledJsonNumber("125E-2", 3), 1250);
  EXPECT_EQ(scaledJsonNumber("125e-9", 3), 0);
  EXPECT_EQ(scaledJsonNumber("0.000000001e+9", 0), 1);
  // No double has this value.
  EXPECT_EQ(scaledJsonNumber("9007199254740993e0", 0), 9007199254740993);
  EXPECT_EQ(scaledJsonNumber("9223372036854775807", 0), 9223372036854775807);
  EXPECT_EQ(scaledJsonNumber("9223372036854775808", 0), std::nullopt);
  EXPECT_EQ(scaledJsonNumber("1e30", 0), std::nullopt);
  EXPECT_EQ(scaledJsonNumber("1e99999999999", 0), std::nullopt);
  for (StringRef text : {"", "-", "true", "\"1\"", "1e", "{}", ".5", "- 1"})
    EXPECT_EQ(scaledJsonNumber(text, 3), std::nullopt) << text.str();
}

/// The reader accepts a text of these words if LLVM's parser does. The words
/// avoid what it alone accepts, such as the numbers `+1` and `01`.
TEST(Json, AgreesWithAnotherParser) {
  static constexpr StringLiteral words[] = {
      "{",     "}",    "[",     "]",         ",",   ":",      "\"a\":",  "\"\"",
      "\"[\"", "true", "false", "null",      " ",   "\n",     "1",       "7.5",
      "-2",    "{}",   "[1,2]", "\"\\\"b\"", "\"c", "3.25e4", "\"\\n\"", "nul",
  };
  std::mt19937 random(7);
  unsigned accepted = 0;
  for (unsigned round = 0; round != 60000; ++round) {
    std::string text;
    for (size_t i = 1 + random() % 7; i != 0; --i)
      text += words[random() % std::size(words)];
    // Long texts are valid only if they are made so.
    if (random() % 2)
      text = "[" + text + ",{\"k\":" + text + "}]";
    Expected<json::Value> value = json::parse(text);
    EXPECT_EQ(faultOf(text).empty(), bool(value)) << text;
    if (value)
      ++accepted;
    else
      consumeError(value.takeError());
  }
  EXPECT_GT(accepted, 500u);
}
