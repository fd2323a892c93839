//===- CostDrawTest.cpp ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/CostDraw.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace pipec;

// The library's functions as the oracle of those with integers.
TEST(CostDraw, NormalValuesAreQuantiles) {
  const auto &values = normalValues();
  for (size_t k = 0; k != values.size(); ++k) {
    double z = std::ldexp(values[k], -20);
    double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(below, (k + 0.5) / 4096, 5e-7) << k;
    EXPECT_EQ(values[k], -values[4095 - k]);
  }
}

// The same on every machine.
TEST(CostDraw, NormalValuesAreFixed) {
  uint64_t hash = 14695981039346656037u;
  for (int32_t value : normalValues())
    hash = (hash ^ uint32_t(value)) * 1099511628211u;
  EXPECT_EQ(normalValues()[2048], 321);
  EXPECT_EQ(hash, 6062403600139033553u);
}

TEST(CostDraw, FactorsHaveMeanAndSpread) {
  Schedule schedule;
  schedule.numStages = 4;
  schedule.numUnits = 64;
  for (double spread : {0.1, 0.5, 1.0}) {
    Jitter jitter;
    jitter.spreads[size_t(JitterScope::Step)] =
        *Rational::make(int64_t(spread * 10), 10);
    JitterFactors factors(schedule, jitter);
    double sum = 0, squares = 0;
    size_t count = 0;
    for (unsigned draw = 0; draw != 200; ++draw) {
      CostDraw one(factors, draw);
      for (unsigned stage = 0; stage != 4; ++stage)
        for (unsigned unit = 0; unit != 64; ++unit) {
          double factor = std::ldexp(
              one.scale(1 << 30, Step(StepKind::F, stage, unit)), -30);
          sum += factor;
          squares += factor * factor;
          ++count;
        }
    }
    double mean = sum / count;
    EXPECT_NEAR(mean, 1, 0.02 * spread);
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean), spread, 0.1 * spread);
  }
}

// A factor belongs to the step and not to what else is drawn.
TEST(CostDraw, FactorsAreOfTheStep) {
  Schedule small, large;
  small.numStages = large.numStages = 2;
  small.numUnits = 3;
  large.numUnits = 9;
  Jitter jitter;
  jitter.spreads[size_t(JitterScope::Step)] = *Rational::make(3, 10);
  JitterFactors ofSmall(small, jitter), ofLarge(large, jitter);
  Step step(StepKind::B, 1, 2), other(StepKind::B, 1, 1);
  EXPECT_EQ(CostDraw(ofSmall, 5).scale(1 << 30, step),
            CostDraw(ofLarge, 5).scale(1 << 30, step));
  EXPECT_NE(CostDraw(ofSmall, 5).scale(1 << 30, step),
            CostDraw(ofSmall, 6).scale(1 << 30, step));
  EXPECT_NE(CostDraw(ofSmall, 5).scale(1 << 30, step),
            CostDraw(ofSmall, 5).scale(1 << 30, other));
}
