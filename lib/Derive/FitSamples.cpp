//===- FitSamples.cpp - Samples of a figure, and conditions on them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/CaseFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace pipec {

/// A quotient of two variables. Values are at most 2^30, so that nothing
/// overflows.
struct Quotient {
  const char *text;
  int64_t (*value)(int64_t a, int64_t b);
};
static constexpr Quotient quotients[] = {
    {"({0} % {1})", [](int64_t a, int64_t b) { return a % b; }},
    {"ceil_div({0}, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a, b); }},
    {"ceil_div({0} - 1, {1})",
     [](int64_t a, int64_t b) { return divideCeilSigned(a - 1, b); }},
    // The largest part of `a` in even parts of at least `b`.
    {"ceil_div({0}, max(1, ({0} - {0} % {1}) / {1}))",
     [](int64_t a, int64_t b) {
       return divideCeilSigned(a, std::max<int64_t>(1, a / b));
     }},
};

FitSamples::FitSamples(ArrayRef<std::string> variables,
                       ArrayRef<std::pair<unsigned, unsigned>> pairs,
                       size_t components)
    : numVariables(variables.size()), numComponents(components) {
  append_range(names, variables);
  for (auto [a, b] : pairs) {
    divisions.push_back({a + 1, b + 1});
    for (const Quotient &quotient : quotients)
      names.push_back(formatv(quotient.text, variables[a], variables[b]).str());
  }
}

void FitSamples::add(ArrayRef<int64_t> variables,
                     std::vector<Rational> values) {
  constexpr int64_t limit = int64_t(1) << 30;
  FitSample &sample = samples.emplace_back(FitSample{{1}, std::move(values)});
  for (int64_t value : variables) {
    sample.atoms.push_back(std::clamp(value, -limit, limit));
    if (sample.atoms.back() != value)
      sample.values.clear();
  }
  for (auto [a, b] : divisions) {
    if (sample.atoms[a] < 0 || sample.atoms[b] <= 0)
      sample.values.clear();
    int64_t dividend = std::max<int64_t>(0, sample.atoms[a]);
    int64_t divisor = std::max<int64_t>(1, sample.atoms[b]);
    for (const Quotient &quotient : quotients)
      sample.atoms.push_back(quotient.value(dividend, divisor));
  }
}

/// A number that looks random (the finalizer of SplitMix64).
static uint64_t mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

void FitSamples::endInside(size_t sizeVariables) {
  numInside = samples.size();
  std::vector<std::set<int64_t>> values(1 + sizeVariables);
  for (const FitSample &sample : samples)
    for (size_t i = 1; i <= sizeVariables; ++i)
      values[i].insert(sample.atoms[i]);
  for (FitSample &sample : samples) {
    uint64_t bits = 0x9e3779b97f4a7c15;
    for (size_t i = 1; i <= sizeVariables; ++i) {
      bits = mixed(bits + uint64_t(sample.atoms[i]));
      sample.heldOut |=
          values[i].size() >= 4 && sample.atoms[i] == *values[i].rbegin();
    }
    sample.heldOut |= bits % 3 == 0;
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// `x * a >= y * b + bound`, or the opposite.
static std::string comparisonText(const std::string &a, int64_t x,
                                  const std::string &b, int64_t y,
                                  int64_t bound, bool holds) {
  auto product = [](int64_t factor, const std::string &name) {
    return factor == 1 ? name : std::to_string(factor) + " * " + name;
  };
  if (bound == 1)
    return product(x, a) + (holds ? " > " : " <= ") + product(y, b);
  return product(x, a) + (holds ? " >= " : " < ") + product(y, b) +
         (bound ? (bound < 0 ? " - " : " + ") + std::to_string(std::abs(bound))
                : "");
}

void CaseFinder::addConditions() {
  std::vector<unsigned> varied;
  for (unsigned atom : seq<unsigned>(1, 1 + samples.numVariables))
    if (any_of(samples.samples, [&](const FitSample &sample) {
          return sample.atoms[atom] != samples.samples[0].atoms[atom];
        }))
      varied.push_back(atom);
  auto condition = [&](std::string text, auto holds) {
    Condition condition{std::move(text), Subset(all.size())};
    for (auto [i, sample] : enumerate(samples.samples))
      condition.samples[i] = holds(sample.atoms);
    return condition;
  };
  auto residue = [](int64_t a, int64_t b) {
    return b <= 0 ? -1 : (a % b + b) % b;
  };
  using Atoms = std::vector<int64_t>;

  // Residues, divisors and comparisons, the simplest first.
  for (int64_t modulus : {2, 3})
    for (unsigned a : varied) {
      splits.emplace_back();
      for (int64_t rest = 0; rest != modulus; ++rest)
        splits.back().push_back(condition(
            formatv("{0} % {1} == {2}", samples.names[a], modulus, rest),
            [&](const Atoms &at) { return residue(at[a], modulus) == rest; }));
    }
  for (auto [a, b] : samples.divisions) {
    splits.emplace_back();
    for (StringRef relation : {"==", "!="})
      splits.back().push_back(
          condition(formatv("{0} % {1} {2} 0", samples.names[a],
                            samples.names[b], relation),
                    [&, a = a, b = b](const Atoms &at) {
                      return (residue(at[a], at[b]) == 0) == (relation == "==");
                    }));
  }
  constexpr std::pair<int64_t, int64_t> patterns[] = {
      {1, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}};
  for (auto [x, y] : patterns)
    for (unsigned a : varied)
      for (unsigned b = 0; b <= samples.numVariables; ++b)
        for (int64_t bound : {0, 1, -1, 2, -2, 3, -3}) {
          if (b != 0 && b <= a)
            continue;
          std::vector<Condition> split;
          for (bool wanted : {true, false}) {
            split.push_back(
                condition(comparisonText(samples.names[a], x, samples.names[b],
                                         y, bound, wanted),
                          [&, x = x, y = y](const Atoms &at) {
                            return (x * at[a] - y * at[b] >= bound) == wanted;
                          }));
            Subset half = all;
            half &= split.back().samples;
            if (half != all && half.any() && !is_contained(halves, half))
              halves.push_back(std::move(half));
          }
          if (is_contained(samples.divisions, std::pair(a, b)) &&
              std::abs(bound) <= 1 && x + y <= 3)
            splits.push_back(std::move(split));
        }
  llvm::stable_sort(halves, [](const Subset &a, const Subset &b) {
    return a.count() > b.count();
  });
}

} // namespace pipec
