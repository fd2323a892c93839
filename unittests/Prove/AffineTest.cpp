//===- AffineTest.cpp - Decisions about all sizes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/Affine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include "gtest/gtest.h"

#include <random>

using namespace pipec;

namespace {
/// Calls `visit` with sizes and rounds of a domain, up to a bound that is large
/// for the coefficients of these tests.
void forEachPoint(const AffineDomain &domain,
                  llvm::function_ref<void(int64_t, int64_t)> visit) {
  for (int64_t n = domain.least; n != domain.least + 60; ++n)
    if (!domain.inBlock)
      visit(n, 0);
    else
      for (int64_t t = domain.margin; t < n - domain.margin; ++t)
        visit(n, t);
}
} // namespace

// A sign is decided if and only if it is the same at all points.
TEST(Affine, SignsAreThoseOfAllPoints) {
  std::mt19937 rng(5);
  auto pick = [&](int64_t most) {
    return int64_t(rng() % (2 * most + 1)) - most;
  };
  unsigned decided = 0, open = 0;
  for (unsigned round = 0; round != 4000; ++round) {
    AffineDomain domain{int64_t(rng() % 6), rng() % 2 == 0, int64_t(rng() % 3)};
    if (domain.inBlock)
      domain.least = std::max(domain.least, 2 * domain.margin + 1);
    Affine x(pick(12), pick(3), domain.inBlock ? pick(3) : 0);
    bool all = true, none = true;
    forEachPoint(domain, [&](int64_t n, int64_t t) {
      all = all && x.at(n, t) >= 0;
      none = none && x.at(n, t) < 0;
    });
    ASSERT_EQ(domain.isNonNegative(x), all);
    ASSERT_EQ(domain.isNegative(x), none);
    ++(all || none ? decided : open);
  }
  EXPECT_GT(decided, 500u);
  EXPECT_GT(open, 500u);
}

// A quotient that is found is the floor of each quotient.
TEST(Affine, QuotientsAreThoseOfAllPoints) {
  std::mt19937 rng(6);
  auto pick = [&](int64_t least, int64_t most) {
    return least + int64_t(rng() % (most - least + 1));
  };
  unsigned found = 0, varying = 0;
  for (unsigned round = 0; round != 6000; ++round) {
    AffineDomain domain{1, rng() % 2 == 0, 0};
    Affine y(pick(1, 9), rng() % 2 ? pick(0, 3) : 0);
    Affine x(pick(-20, 60), pick(-2, 4) * (rng() % 2 ? y.a : 1),
             domain.inBlock ? pick(-1, 1) * y.a : 0);
    auto division = domain.divide(x, y);
    if (!division)
      continue;
    ++found;
    varying += y.b != 0;
    forEachPoint(domain, [&](int64_t n, int64_t t) {
      int64_t a = x.at(n, t), b = y.at(n, t);
      int64_t quotient = a / b - (a % b < 0);
      ASSERT_EQ(division->quotient.at(n, t), quotient);
      ASSERT_EQ(division->rest.at(n, t), a - quotient * b);
    });
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(varying, 100u);
}

TEST(Affine, SubstitutesRounds) {
  Affine x(1, 2, 3), last(-1, 1);
  Affine y = x.at(last);
  EXPECT_EQ(y, Affine(-2, 5));
  EXPECT_EQ(y.at(7), x.at(7, 6));
}
