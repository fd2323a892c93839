//===- Conditions.cpp - Conditions on sizes -------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/Conditions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace pipec {

/// Values that do not fit are limited.
int64_t valueOf(const LinearForm &form, ArrayRef<int64_t> variables) {
  constexpr __int128 limit = std::numeric_limits<int64_t>::max() / 4;
  __int128 sum = 0;
  for (auto [factor, variable] : zip_equal(form, variables))
    sum += __int128(factor) * variable;
  return int64_t(std::clamp(sum, -limit, limit));
}

//===----------------------------------------------------------------------===//
// One condition
//===----------------------------------------------------------------------===//

Condition Condition::atLeast(LinearForm form, int64_t bound) {
  Condition condition;
  condition.form = std::move(form);
  condition.bound = bound;
  return condition;
}

Condition Condition::residue(unsigned a, int64_t modulus, int64_t rest) {
  Condition condition;
  condition.kind = Kind::Residue;
  condition.a = a;
  condition.modulus = modulus;
  condition.bound = rest;
  return condition;
}

Condition Condition::divisible(unsigned a, unsigned b, bool is) {
  Condition condition;
  condition.kind = is ? Kind::Divisible : Kind::NotDivisible;
  condition.a = a;
  condition.b = b;
  return condition;
}

/// The remainder in programs, which has the sign of the divisor.
static int64_t remainder(int64_t over, int64_t by) {
  return by == 0 ? over : over - divideFloorSigned(over, by) * by;
}

bool Condition::holds(ArrayRef<int64_t> variables) const {
  switch (kind) {
  case Kind::Linear:
    return valueOf(form, variables) >= bound;
  case Kind::Residue:
    return remainder(variables[a], modulus) == bound;
  case Kind::Divisible:
    return remainder(variables[a], variables[b]) == 0;
  case Kind::NotDivisible:
    return remainder(variables[a], variables[b]) != 0;
  }
  llvm_unreachable("every kind is tested");
}

/// The positive terms of `form * sign`: `2 * p + rank`.
static std::string positiveTerms(const LinearForm &form, int64_t sign,
                                 ArrayRef<std::string> names) {
  std::string text;
  for (auto [factor, name] : zip_equal(form, names)) {
    if (factor * sign <= 0)
      continue;
    text += text.empty() ? "" : " + ";
    if (factor * sign != 1)
      text += std::to_string(factor * sign) + " * ";
    text += name;
  }
  return text;
}

std::string Condition::text(ArrayRef<std::string> names) const {
  switch (kind) {
  case Kind::Residue:
    return names[a] + " % " + std::to_string(modulus) +
           " == " + std::to_string(bound);
  case Kind::Divisible:
    return names[a] + " % " + names[b] + " == 0";
  case Kind::NotDivisible:
    return names[a] + " % " + names[b] + " != 0";
  case Kind::Linear:
    break;
  }
  // The side with the first variable comes first.
  const auto first = find_if(form, [](int64_t factor) { return factor != 0; });
  bool flip = first != form.end() && *first < 0;
  std::string left = positiveTerms(form, flip ? -1 : 1, names);
  std::string right = positiveTerms(form, flip ? 1 : -1, names);
  int64_t rest = flip ? -bound : bound;
  StringRef relation = flip ? " <= " : " >= ";
  bool strict = bound == 1 && !right.empty();
  if (strict) {
    relation = flip ? " < " : " > ";
    rest = 0;
  }
  if (right.empty())
    right = std::to_string(rest);
  else if (rest)
    right += (rest < 0 ? " - " : " + ") + std::to_string(std::abs(rest));
  return (Twine(left) + relation + right).str();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The variables with more than one value.
static std::vector<unsigned> variedOf(const FitSamples &samples) {
  std::vector<unsigned> varied;
  for (unsigned i = 0; i != samples.names.size(); ++i)
    if (any_of(samples.samples, [&](const FitSample &sample) {
          return sample.variables[i] != samples.samples[0].variables[i];
        }))
      varied.push_back(i);
  return varied;
}

std::vector<LinearForm> linearForms(const FitSamples &samples) {
  std::vector<unsigned> varied = variedOf(samples);
  std::vector<LinearForm> forms;
  auto add = [&](ArrayRef<std::pair<unsigned, int64_t>> terms) {
    LinearForm form(samples.names.size());
    for (auto [variable, factor] : terms)
      form[variable] += factor;
    forms.push_back(form);
    for (int64_t &factor : form)
      factor = -factor;
    forms.push_back(std::move(form));
  };
  for (unsigned u : varied)
    add({{u, 1}});
  for (int64_t factor : {1, 2, 3})
    for (unsigned u : varied)
      for (unsigned v : varied)
        if (u != v && (factor != 1 || u < v))
          add({{u, 1}, {v, -factor}});
  for (auto [sum, factor] : {std::pair<int64_t, int64_t>(1, 1), {1, 2}, {2, 2}})
    for (unsigned u : varied)
      for (unsigned v : varied)
        for (unsigned w : varied)
          if (u != v && u != w && v != w && (sum != 1 || u < v))
            add({{u, 1}, {v, sum}, {w, -factor}});
  return forms;
}

std::vector<Split> caseSplits(const FitSamples &samples) {
  std::vector<unsigned> varied = variedOf(samples);
  std::vector<Split> splits;
  for (int64_t modulus : {2, 3})
    for (unsigned variable : varied) {
      Split &split = splits.emplace_back();
      for (int64_t rest = 0; rest != modulus; ++rest)
        split.push_back(Condition::residue(variable, modulus, rest));
    }
  for (auto [a, b] : samples.divisions) {
    if (!is_contained(varied, a) || !is_contained(varied, b))
      continue;
    splits.push_back(
        {Condition::divisible(a, b, true), Condition::divisible(a, b, false)});
    for (auto [over, by] : {std::pair<int64_t, int64_t>(1, 1), {1, 2}, {2, 1}})
      for (int64_t bound : {0, 1, -1}) {
        LinearForm form(samples.names.size());
        form[a] = over, form[b] = -by;
        Condition side = Condition::atLeast(form, bound);
        for (int64_t &factor : form)
          factor = -factor;
        splits.push_back({side, Condition::atLeast(form, 1 - bound)});
      }
  }
  return splits;
}

} // namespace pipec
