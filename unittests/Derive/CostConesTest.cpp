//===- CostConesTest.cpp - The table of cost cones ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/GridFigures.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace pipec;

/// A sum over letters is found from its values at the vectors of a cone, and no
/// other values have a sum.
TEST(CostCones, VectorsDetermineSums) {
  for (const CostCone &cone : allCostCones()) {
    std::vector<Rational> values;
    for (const CostVector &vector : cone.vectors) {
      EXPECT_TRUE(cone.meets(vector)) << cone.condition.str();
      int64_t sum = 0;
      for (auto [letter, cost] : llvm::enumerate(vector))
        sum += int64_t(letter + 1) * cost;
      values.push_back(sum);
    }
    std::vector<Rational> factors = cone.factors(values);
    ASSERT_FALSE(factors.empty()) << cone.condition.str();
    for (auto [vector, value] : llvm::zip_equal(cone.vectors, values)) {
      Rational sum;
      for (auto [factor, cost] : llvm::zip_equal(factors, vector))
        sum = *Rational::add(sum, *Rational::mul(factor, cost));
      EXPECT_EQ(sum, value) << cone.condition.str();
    }
    values.back() = *Rational::add(values.back(), 1);
    EXPECT_TRUE(cone.factors(values).empty()) << cone.condition.str();
  }
}

TEST(CostCones, LargerConesComeFirst) {
  llvm::ArrayRef<CostCone> cones = allCostCones();
  for (size_t i = 0; i != cones.size(); ++i)
    for (size_t j = i + 1; j != cones.size(); ++j)
      if (cones[i].steps == cones[j].steps) {
        EXPECT_FALSE(cones[j].contains(cones[i]))
            << cones[j].condition.str() << " contains "
            << cones[i].condition.str();
      }
}

/// The vectors generate their cone: all extreme rays are among them.
TEST(CostCones, Vectors) {
  const CostCone &cone =
      *llvm::find_if(allCostCones(), [](const CostCone &cone) {
        return cone.condition == "W <= min(F, I) && P2P == 0";
      });
  // F, B, I, W, overlap, p2p
  EXPECT_EQ(cone.vectors, (std::vector<CostVector>{{1, 0, 0, 0, 0, 0},
                                                   {0, 0, 1, 0, 0, 0},
                                                   {1, 0, 1, 1, 0, 0},
                                                   {2, 0, 2, 1, 0, 0}}));
  EXPECT_TRUE(cone.meets({3, 0, 2, 1, 0, 0}));
  EXPECT_FALSE(cone.meets({3, 0, 2, 3, 0, 0}));
  EXPECT_FALSE(cone.meets({3, 0, 2, 1, 0, 1}));
}
