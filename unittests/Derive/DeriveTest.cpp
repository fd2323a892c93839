//===- DeriveTest.cpp - Formulas of random samples ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/ClauseFinder.h"
#include "Search/Random.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <limits>

using namespace pipec;
using search::Random;

/// Samples of a function of m and p at 2 <= p <= 9 and 2 <= m <= 18; those at
/// all larger sizes up to p = 20 and m = 40 are held out.
static FitSamples
sampled(llvm::function_ref<Rational(int64_t, int64_t)> value) {
  FitSamples samples;
  samples.names = {"", "m", "p"};
  samples.divisors = {2};
  for (int64_t p = 2; p <= 20; ++p)
    for (int64_t m = 2; m <= 40; ++m)
      samples.samples.push_back({samples.samples.size(),
                                 p > 9 || m > 18 || (7 * m + p * p) % 3 == 0,
                                 {1, m, p},
                                 {value(m, p)}});
  samples.addTerms();
  return samples;
}

using Clauses = std::vector<FoundClause>;

/// The number of samples that meet the condition of a clause.
static size_t covered(const Clauses &clauses) {
  llvm::BitVector all;
  for (const FoundClause &clause : clauses)
    all |= clause.condition.met;
  return all.count();
}

/// Whether the formulas have the values of the samples of their clauses.
static bool hold(const Clauses &clauses, const FitSamples &samples) {
  for (const FoundClause &clause : clauses)
    for (unsigned i : clause.condition.met.set_bits()) {
      const auto &[parts, isMax] = clause.values[0];
      auto a = parts.front().value(samples.samples[i].atoms),
           b = parts.back().value(samples.samples[i].atoms);
      if ((isMax ? std::max(a, b) : std::min(a, b)) !=
          samples.samples[i].values[0])
        return false;
    }
  return true;
}

/// A polynomial of degree 2 or less with small coefficients.
struct RandomPolynomial {
  int64_t coefficients[6] = {};
  int64_t divisor = 1;

  explicit RandomPolynomial(Random &random) {
    for (int i = 0; i != 6; ++i)
      if (i < 3 || random.chance(40))
        coefficients[i] = int64_t(random.below(9)) - 4;
    divisor = 1 + random.below(3);
  }
  Rational operator()(int64_t m, int64_t p) const {
    int64_t terms[] = {1, m, p, m * m, m * p, p * p};
    int64_t sum = 0;
    for (int i = 0; i != 6; ++i)
      sum += coefficients[i] * terms[i];
    return *Rational::make(sum, divisor);
  }
};

static std::string textOf(const Clauses &clauses, const FitSamples &samples) {
  std::string text;
  for (const FoundClause &clause : clauses)
    text += clause.values[0].text(samples.names, false) + "; ";
  return text;
}

static void recovers(llvm::function_ref<Rational(int64_t, int64_t)> value,
                     const char *what) {
  FitSamples samples = sampled(value);
  Clauses clauses = findClauses(samples);
  EXPECT_EQ(covered(clauses), samples.samples.size()) << what;
  EXPECT_TRUE(hold(clauses, samples))
      << what << ": " << textOf(clauses, samples);
}

TEST(Derive, RecoversPolynomials) {
  Random random(1);
  for (int round = 0; round != 30; ++round)
    recovers(RandomPolynomial(random), "polynomial");
}

TEST(Derive, RecoversMinimaAndMaxima) {
  Random random(2);
  for (int round = 0; round != 10; ++round) {
    // Both sides have sizes enough.
    int64_t factor = 1 + random.below(2), offset = 3 + random.below(3);
    recovers(
        [&](int64_t m, int64_t p) {
          return Rational(std::min(factor * m, p + offset));
        },
        "minimum");
    recovers(
        [&](int64_t m, int64_t p) {
          return Rational(m + p + std::max<int64_t>(0, m - factor * p));
        },
        "maximum");
  }
}

TEST(Derive, RecoversRegimes) {
  Random random(3);
  for (int round = 0; round != 10; ++round) {
    RandomPolynomial few(random), many(random);
    int64_t factor = 1 + random.below(2);
    recovers(
        [&](int64_t m, int64_t p) {
          return m >= factor * p ? many(m, p) : few(m, p);
        },
        "regimes");
  }
}

TEST(Derive, RecoversResidues) {
  Random random(4);
  for (int round = 0; round != 10; ++round) {
    RandomPolynomial even(random), odd(random), rest(random);
    recovers(
        [&](int64_t m, int64_t p) { return m % 2 ? odd(m, p) : even(m, p); },
        "residue modulo 2");
    recovers(
        [&](int64_t m, int64_t p) {
          return Rational((m + p - 2) / p * round * p - m);
        },
        "quotient");
  }
}

/// Formulas that hold for some sizes are right for them, and nothing is said
/// about the others.
TEST(Derive, LeavesOutWhatHasNoFormula) {
  Random random(5);
  auto noise = [](int64_t m, int64_t p) {
    uint64_t bits = uint64_t(m * 31 + p) * 0x9e3779b97f4a7c15;
    return int64_t(bits >> 40) % 1000;
  };
  RandomPolynomial polynomial(random);
  auto value = [&](int64_t m, int64_t p) {
    return m % p == 0 ? polynomial(m, p) : Rational(noise(m, p));
  };
  FitSamples samples = sampled(value);
  Clauses clauses = findClauses(samples);
  ASSERT_EQ(clauses.size(), 1u) << textOf(clauses, samples);
  EXPECT_EQ(clauses[0].condition.text, "m % p == 0");
  EXPECT_TRUE(hold(clauses, samples)) << textOf(clauses, samples);
}

/// A formula that is wrong at samples that are held out is not found, unless a
/// bound excludes where it is.
TEST(Derive, ComparesHeldOut) {
  FitSamples samples = sampled([](int64_t m, int64_t p) {
    return Rational(m > 18 || p > 9 ? (m * p) % 7 : m + p);
  });
  EXPECT_TRUE(findClauses(samples).empty());
  samples = {};
  samples.names = {"", "m", "p"};
  samples.divisors = {2};
  for (int64_t p : {1, 4, 5, 6, 7, 8, 9})
    for (int64_t m = 2; m <= 18; ++m)
      samples.samples.push_back({samples.samples.size(),
                                 (m + p) % 3 == 0,
                                 {1, m, p},
                                 {p == 1 ? m * m % 7 : m + p}});
  samples.addTerms();
  Clauses clauses = findClauses(samples);
  ASSERT_EQ(clauses.size(), 1u) << textOf(clauses, samples);
  EXPECT_EQ(clauses[0].condition.text, "p >= 4");
}

/// No formula is found for samples of other classes.
TEST(Derive, FindsNothingInNoise) {
  for (uint64_t range : {2, 3, 10, 1000000}) {
    Random random(range);
    FitSamples samples = sampled([&](int64_t, int64_t) {
      return Rational(int64_t(random.below(range)));
    });
    Clauses clauses = findClauses(samples);
    EXPECT_EQ(covered(clauses), 0u)
        << range << ": " << textOf(clauses, samples);
  }
}

TEST(Derive, FindsNothingOfHigherDegree) {
  auto cube = [](int64_t m, int64_t p) { return Rational(m * m * m + p); };
  EXPECT_TRUE(findClauses(sampled(cube)).empty());
}

/// A sample without values belongs to no clause.
TEST(Derive, ExcludesUnknownSamples) {
  FitSamples samples = sampled([](int64_t m, int64_t) { return Rational(m); });
  for (FitSample &sample : samples.samples)
    if (sample.atoms[1] % sample.atoms[2])
      sample.values.clear();
  Clauses clauses = findClauses(samples);
  EXPECT_FALSE(clauses.empty());
  for (const FoundClause &clause : clauses)
    for (unsigned number : clause.condition.met.set_bits())
      EXPECT_FALSE(samples.samples[number].values.empty());
  for (FitSample &sample : samples.samples)
    sample.values.clear();
  EXPECT_TRUE(findClauses(samples).empty());
}

TEST(FitPolynomial, Fractions) {
  for (int64_t numerator = -20; numerator <= 20; ++numerator)
    for (int64_t denominator = 1; denominator <= 16; ++denominator) {
      Rational value = *Rational::make(numerator, denominator);
      std::vector<int64_t> atoms = {1};
      auto fitted = fitPolynomial({0}, {{atoms, value}});
      ASSERT_TRUE(fitted);
      EXPECT_EQ(fitted->value(atoms), value);
      EXPECT_FALSE(fitPolynomial(
          {0}, {{atoms, value}, {atoms, *Rational::add(value, 1)}}));
    }
  // Equal modulo the prime only.
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> atoms = {1};
  EXPECT_FALSE(fitPolynomial({0}, {{atoms, least}, {atoms, -4}}));
}

TEST(Polynomial, Text) {
  std::vector<std::string> names = {"", "m", "p", "m * p"};
  Polynomial polynomial{{{-2, 3}, {*Rational::make(3, 2), 2}, {-1, 0}}};
  EXPECT_EQ(polynomial.text(names), "3 * p / 2 - 2 * m * p - 1");
  EXPECT_EQ(polynomial.value({1, 4, 3, 12}), *Rational::make(-41, 2));
  EXPECT_EQ(Polynomial().text(names), "0");
}

/// A clause holds at all sizes if it has the values of three periods, and the
/// other part of a minimum stays above.
TEST(Derive, HoldsForever) {
  FoundClause clause;
  clause.condition.holds = [](llvm::ArrayRef<int64_t> at) {
    return at[1] % 2 == 0;
  };
  clause.values = {{{Polynomial{{{1, 1}}}, Polynomial{{{3, 0}}}}, false}};
  // The minimum of m and 3.
  auto rows = [](int64_t first, auto value) {
    std::vector<FitSample> rows;
    for (int64_t k = 0; k != 3; ++k)
      for (int64_t m : {first + 10 * k, first + 10 * k + 1})
        rows.push_back({0, false, {1, m}, {value(m)}});
    return rows;
  };
  auto right = [](int64_t m) { return std::min<int64_t>(m, 3); };
  EXPECT_EQ(clause.holdsForever(rows(4, right)), true);
  // Odd sizes do not matter.
  EXPECT_EQ(clause.holdsForever(
                rows(4, [](int64_t m) { return m % 2 ? m : int64_t(3); })),
            true);
  EXPECT_EQ(clause.holdsForever(rows(4, [](int64_t m) { return m; })),
            std::nullopt);
  // The parts change places further on.
  EXPECT_EQ(clause.holdsForever(rows(-8, right)), std::nullopt);
  clause.condition.holds = [](llvm::ArrayRef<int64_t>) { return false; };
  EXPECT_EQ(clause.holdsForever(rows(4, right)), false);
}
