//===- DecimalTest.cpp - Fractions as decimals ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Decimal.h"

#include <gtest/gtest.h>

#include <limits>

using namespace pipec;

static Rational fraction(int64_t numerator, int64_t denominator) {
  return *Rational::make(numerator, denominator);
}

TEST(Decimal, HasAllDigitsThatEnd) {
  EXPECT_EQ(decimalText(0), "0");
  EXPECT_EQ(decimalText(41), "41");
  EXPECT_EQ(decimalText(-7), "-7");
  EXPECT_EQ(decimalText(fraction(1, 2)), "0.5");
  EXPECT_EQ(decimalText(fraction(-7, 2)), "-3.5");
  EXPECT_EQ(decimalText(fraction(1, 20)), "0.05");
  EXPECT_EQ(decimalText(fraction(18522, 1000)), "18.522");
  EXPECT_EQ(decimalText(fraction(1, 64)), "0.015625");
}

TEST(Decimal, SaysWhenItIsRounded) {
  EXPECT_EQ(decimalText(fraction(1, 3)), "~0.3333");
  EXPECT_EQ(decimalText(fraction(2, 3)), "~0.6667");
  EXPECT_EQ(decimalText(fraction(-2, 3)), "~-0.6667");
  EXPECT_EQ(decimalText(fraction(29999, 30000)), "~1.0000");
  // The expansion terminates after seven digits, which is too long for display.
  EXPECT_EQ(decimalText(fraction(1, 128)), "~0.0078");
  EXPECT_EQ(toDecimal(fraction(1, 128), 7).text, "0.0078125");
  EXPECT_TRUE(toDecimal(fraction(1, 128), 7).exact);
}

TEST(Decimal, TakesTheLargestFractions) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(decimalText(largest), "9223372036854775807");
  EXPECT_EQ(toDecimal(fraction(1, largest), 18, 18).text,
            "0.000000000000000000");
  EXPECT_EQ(toDecimal(fraction(largest, 2), 18).text, "4611686018427387903.5");
  EXPECT_EQ(toDecimal(fraction(largest, 3), 18, 18).text,
            "3074457345618258602.333333333333333333");
}
