//===- DeriveTest.cpp - Formulas of random samples ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/CaseFinder.h"
#include "Search/Random.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>

using namespace pipec;
using search::Random;

/// Samples of a function of m and p, at 2 <= p <= 9 and 2 <= m <= 18.
static FitSamples
sampled(llvm::function_ref<Rational(int64_t, int64_t)> value) {
  FitSamples samples;
  samples.names = {"m", "p"};
  samples.divisions = {{0, 1}};
  for (int64_t p = 2; p <= 9; ++p)
    for (int64_t m = 2; m <= 18; ++m) {
      FitSample &sample = samples.samples.emplace_back();
      sample.variables = {m, p};
      sample.values = {value(m, p)};
    }
  holdOut(samples, 2);
  return samples;
}

static FormulaCases casesOf(CaseFinder &finder, const FitSamples &samples) {
  std::vector<unsigned> all(samples.samples.size());
  std::iota(all.begin(), all.end(), 0);
  return finder.find(all);
}

/// Whether the formulas have the values of `value` at all sizes of a larger
/// grid that meet their conditions.
static bool hold(const FormulaCases &cases,
                 llvm::function_ref<Rational(int64_t, int64_t)> value) {
  for (const FormulaCase &one : cases.cases)
    for (int64_t p = 2; p <= 20; ++p)
      for (int64_t m = 2; m <= 40; ++m) {
        int64_t variables[] = {m, p};
        bool meets = std::all_of(one.conditions.begin(), one.conditions.end(),
                                 [&](const Condition &condition) {
                                   return condition.holds(variables);
                                 });
        if (meets && one.values[0].value(variables) != value(m, p))
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

static std::string textOf(const FormulaCases &cases,
                          const FitSamples &samples) {
  std::string text;
  for (const FormulaCase &one : cases.cases)
    text += one.values[0].text(samples.names) + "; ";
  return text;
}

static void recovers(llvm::function_ref<Rational(int64_t, int64_t)> value,
                     const char *what) {
  FitSamples samples = sampled(value);
  CaseFinder finder(samples);
  FormulaCases cases = casesOf(finder, samples);
  EXPECT_EQ(cases.covered(), samples.samples.size()) << what;
  EXPECT_TRUE(hold(cases, value)) << what << ": " << textOf(cases, samples);
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
    recovers([&](int64_t m, int64_t p) { return Rational(m % p * round + m); },
             "remainder");
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
  CaseFinder finder(samples);
  FormulaCases cases = casesOf(finder, samples);
  ASSERT_EQ(cases.cases.size(), 1u) << textOf(cases, samples);
  EXPECT_EQ(cases.cases[0].conditions[0].text(samples.names), "m % p == 0");
  EXPECT_TRUE(hold(cases, value)) << textOf(cases, samples);
}

/// No formula is found for samples of other classes.
TEST(Derive, FindsNothingInNoise) {
  for (uint64_t range : {2, 3, 10, 1000000}) {
    Random random(range);
    FitSamples samples = sampled([&](int64_t, int64_t) {
      return Rational(int64_t(random.below(range)));
    });
    CaseFinder finder(samples);
    FormulaCases cases = casesOf(finder, samples);
    EXPECT_EQ(cases.covered(), 0u) << range << ": " << textOf(cases, samples);
  }
}

TEST(Derive, FindsNothingOfHigherDegree) {
  auto cube = [](int64_t m, int64_t p) { return Rational(m * m * m + p); };
  FitSamples samples = sampled(cube);
  CaseFinder finder(samples);
  EXPECT_EQ(casesOf(finder, samples).covered(), 0u);
  EXPECT_TRUE(firstContradiction(samples));
  FitSamples square =
      sampled([](int64_t m, int64_t p) { return Rational(m * m + p); });
  EXPECT_FALSE(firstContradiction(square));
}

/// A sample without values belongs to no case.
TEST(Derive, ExcludesUnknownSamples) {
  FitSamples samples = sampled([](int64_t m, int64_t) { return Rational(m); });
  for (FitSample &sample : samples.samples)
    sample.known = sample.variables[0] % sample.variables[1] == 0;
  CaseFinder finder(samples);
  for (const FormulaCase &one : casesOf(finder, samples).cases)
    for (unsigned number : one.samples)
      EXPECT_TRUE(samples.samples[number].known);
}

TEST(Residue, Fractions) {
  for (int64_t numerator = -20; numerator <= 20; ++numerator)
    for (int64_t denominator = 1; denominator <= 20; ++denominator) {
      Rational value = *Rational::make(numerator, denominator);
      EXPECT_EQ(Residue::of(value)->fraction(), value);
    }
  EXPECT_EQ(Residue(std::numeric_limits<int64_t>::min()) +
                Residue(std::numeric_limits<int64_t>::max()) + Residue(1),
            Residue(0));
}

TEST(Polynomial, Text) {
  Terms terms({{Atom::Kind::Variable, 0, 0}, {Atom::Kind::Variable, 1, 0}}, 2);
  std::string names[] = {"m", "p"};
  // 1, m, p, m m, m p, p p
  Polynomial polynomial{&terms, {-1, 0, *Rational::make(3, 2), 0, -2, 0}};
  EXPECT_EQ(polynomial.text(names), "3 * p / 2 - 2 * m * p - 1");
  EXPECT_EQ(polynomial.value({4, 3}), *Rational::make(-41, 2));
  EXPECT_EQ((Polynomial{&terms, {}}.text(names)), "0");
}
