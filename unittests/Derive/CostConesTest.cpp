//===- CostConesTest.cpp - The table of cost cones ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace pipec;

/// A row whose rays do not determine the factors of its letters would give
/// formulas that are not unique.
TEST(CostCones, RaysDetermineTheLetters) {
  for (const CostCone &cone : allCostCones()) {
    // The sum of all letters with the factors 1, 2, ...
    std::vector<Rational> wanted, values;
    for (size_t i = 0; i != cone.letters.size(); ++i)
      wanted.push_back(int64_t(i + 1));
    for (const CostVector &ray : cone.rays) {
      Rational sum;
      for (auto [letter, factor] : llvm::zip_equal(cone.letters, wanted))
        sum =
            *Rational::add(sum, *Rational::mul(factor, ray[unsigned(letter)]));
      values.push_back(sum);
    }
    auto factors = cone.factors(values);
    ASSERT_TRUE(factors) << cone.condition.str();
    EXPECT_EQ(*factors, wanted) << cone.condition.str();
    EXPECT_TRUE(cone.contains(cone.inside()));
  }
}

/// No cone has a value at rays that no sum over its letters has.
TEST(CostCones, RefusesOtherValues) {
  for (const CostCone &cone : allCostCones())
    if (cone.rays.size() > cone.letters.size()) {
      std::vector<Rational> values(cone.rays.size());
      values.back() = 1;
      EXPECT_FALSE(cone.factors(values)) << cone.condition.str();
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

TEST(CostCones, Contains) {
  LetterSet steps;
  for (CostLetter letter : {CostLetter::F, CostLetter::I, CostLetter::W})
    steps.set(unsigned(letter));
  auto find = [&](llvm::StringRef condition) {
    return *llvm::find_if(allCostCones(), [&](const CostCone &cone) {
      return cone.steps == steps && cone.condition == condition;
    });
  };
  CostCone narrow = find("W <= min(F, I) && cost(p2p) == 0");
  // F, B, I, W, overlap, p2p
  EXPECT_TRUE(narrow.contains(CostVector{3, 0, 2, 1, 0, 0}));
  EXPECT_TRUE(narrow.contains(CostVector{2, 0, 2, 2, 0, 0}));
  EXPECT_FALSE(
      narrow.contains(CostVector{3, 0, 2, *Rational::make(5, 2), 0, 0}));
  EXPECT_FALSE(narrow.contains(CostVector{3, 0, 2, 1, 0, 1}));
  EXPECT_TRUE(find("").contains(narrow));
  EXPECT_FALSE(narrow.contains(find("cost(p2p) == 0")));
}
