//===- RationalTest.cpp - Exact fractions ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Rational.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace llvm;
using namespace pipec;

namespace {

constexpr int64_t low = std::numeric_limits<int64_t>::min();
constexpr int64_t high = std::numeric_limits<int64_t>::max();

std::string text(std::optional<Rational> value) {
  if (!value)
    return "nothing";
  std::string result;
  raw_string_ostream(result) << *value;
  return result;
}

TEST(Rational, LowestTerms) {
  EXPECT_EQ(text(Rational::make(6, 4)), "3/2");
  EXPECT_EQ(text(Rational::make(6, -4)), "-3/2");
  EXPECT_EQ(text(Rational::make(-8, -4)), "2");
  EXPECT_EQ(text(Rational::make(0, -7)), "0");
  EXPECT_EQ(text(Rational::make(1, 0)), "nothing");
  EXPECT_EQ(text(Rational::make(low, low)), "1");
  EXPECT_EQ(text(Rational::make(1, low)), "nothing");
  EXPECT_EQ(text(Rational::make(2, low)), "-1/4611686018427387904");
  EXPECT_EQ(text(Rational::make(low, -1)), "nothing");
}

TEST(Rational, Parse) {
  EXPECT_EQ(text(Rational::parse("12")), "12");
  EXPECT_EQ(text(Rational::parse("-3")), "-3");
  EXPECT_EQ(text(Rational::parse("7/2")), "7/2");
  EXPECT_EQ(text(Rational::parse("-14/4")), "-7/2");
  EXPECT_EQ(text(Rational::parse("2.50")), "5/2");
  EXPECT_EQ(text(Rational::parse("-0.5")), "-1/2");
  EXPECT_EQ(text(Rational::parse("9223372036854775807")),
            "9223372036854775807");
  EXPECT_EQ(text(Rational::parse("-9223372036854775808")),
            "-9223372036854775808");
  EXPECT_EQ(text(Rational::parse("9223372036854775807/9223372036854775807")),
            "1");
  for (StringRef bad : {"",
                        "-",
                        "+1",
                        "1/",
                        "/2",
                        "1/0",
                        "1/-2",
                        ".5",
                        "1.",
                        "1.2.3",
                        "1e3",
                        "1 ",
                        " 1",
                        "--1",
                        "0x1",
                        "1/2/3",
                        "1.5/2",
                        "9223372036854775808",
                        "-9223372036854775809",
                        "0.1234567890123456789",
                        "1/2.5"})
    EXPECT_EQ(text(Rational::parse(bad)), "nothing") << bad.str();
}

TEST(Rational, PrintsWhatItReads) {
  for (Rational value : {Rational(low), Rational(high), Rational(0),
                         *Rational::make(low, 3), *Rational::make(1, high)}) {
    std::optional<Rational> again = Rational::parse(text(value));
    ASSERT_TRUE(again) << text(value);
    EXPECT_EQ(*again, value);
  }
}

TEST(Rational, OverflowIsNothing) {
  EXPECT_EQ(text(Rational::add(high, 1)), "nothing");
  EXPECT_EQ(text(Rational::sub(low, 1)), "nothing");
  EXPECT_EQ(text(Rational::mul(high, 2)), "nothing");
  EXPECT_EQ(text(Rational::div(1, 0)), "nothing");
  EXPECT_EQ(text(Rational::div(low, -1)), "nothing");
  EXPECT_EQ(text(Rational::add(*Rational::make(1, high),
                               *Rational::make(1, high - 1))),
            "nothing");
  // An intermediate overflow is allowed if the result fits.
  EXPECT_EQ(
      text(Rational::add(*Rational::make(high, 2), *Rational::make(high, 2))),
      "9223372036854775807");
  EXPECT_EQ(
      text(Rational::mul(*Rational::make(high, 3), *Rational::make(3, high))),
      "1");
}

TEST(Rational, Compare) {
  EXPECT_LT(*Rational::make(1, 3), *Rational::make(1, 2));
  EXPECT_LT(*Rational::make(-1, 2), *Rational::make(-1, 3));
  EXPECT_LT(*Rational::make(high - 1, high), *Rational::make(1, 1));
  EXPECT_LT(Rational(low), *Rational::make(low, 2));
  EXPECT_LE(Rational(2), Rational(2));
  EXPECT_EQ(*Rational::make(2, 4), *Rational::make(1, 2));
}

TEST(Rational, Floor) {
  EXPECT_EQ(Rational::make(7, 2)->floor(), 3);
  EXPECT_EQ(Rational::make(-7, 2)->floor(), -4);
  EXPECT_EQ(Rational::make(-8, 2)->floor(), -4);
  EXPECT_EQ(Rational(low).floor(), low);
}

// The field laws, on numbers small enough that nothing overflows.
TEST(Rational, Laws) {
  std::mt19937 rng(7);
  auto draw = [&] {
    return *Rational::make(int64_t(rng() % 2001) - 1000, rng() % 60 + 1);
  };
  for (unsigned i = 0; i != 2000; ++i) {
    Rational a = draw(), b = draw(), c = draw();
    EXPECT_EQ(*Rational::add(a, b), *Rational::add(b, a));
    EXPECT_EQ(*Rational::sub(*Rational::add(a, b), b), a);
    EXPECT_EQ(*Rational::mul(a, *Rational::add(b, c)),
              *Rational::add(*Rational::mul(a, b), *Rational::mul(a, c)));
    if (!b.isZero()) {
      EXPECT_EQ(*Rational::mul(*Rational::div(a, b), b), a);
    }
    EXPECT_EQ(a < b, Rational::sub(a, b)->isNegative());
    EXPECT_LE(Rational(a.floor()), a);
    EXPECT_LT(a, Rational(a.floor() + 1));
  }
}

} // namespace
