//===- Conditions.h - Conditions on sizes -----------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_CONDITIONS_H
#define PIPEC_DERIVE_CONDITIONS_H

#include "Derive/FitSamples.h"

#include "llvm/ADT/ArrayRef.h"

namespace pipec {

/// A sum of variables with small integral factors.
using LinearForm = std::vector<int64_t>;

int64_t valueOf(const LinearForm &form, llvm::ArrayRef<int64_t> variables);

/// A condition on the variables.
struct Condition {
  enum class Kind : uint8_t {
    /// The form is at least `bound`.
    Linear,
    /// `a % modulus == bound`
    Residue,
    /// `a % b == 0`
    Divisible,
    /// `a % b != 0`
    NotDivisible
  };
  Kind kind = Kind::Linear;
  LinearForm form;
  int64_t bound = 0;
  unsigned a = 0;
  unsigned b = 0;
  int64_t modulus = 1;

  static Condition atLeast(LinearForm form, int64_t bound);
  static Condition residue(unsigned a, int64_t modulus, int64_t rest);
  static Condition divisible(unsigned a, unsigned b, bool is);

  bool holds(llvm::ArrayRef<int64_t> variables) const;
  /// In the syntax of programs: `m >= 2 * p - 1`, `m % p == 0`.
  std::string text(llvm::ArrayRef<std::string> names) const;
};

/// The sides of a condition: conditions of which each sample meets exactly one.
using Split = std::vector<Condition>;

/// The forms that conditions may use: differences of multiples of two
/// variables, and sums of two variables compared with multiples of a third. The
/// simplest come first, each with its negation. Variables with one value among
/// the samples are left out.
std::vector<LinearForm> linearForms(const FitSamples &samples);

/// The ways to divide samples into cases with formulas of their own, the
/// simplest first: residues of a variable modulo 2 and 3, divisibility, and
/// comparisons of two variables that may be divided.
std::vector<Split> caseSplits(const FitSamples &samples);

} // namespace pipec

#endif // PIPEC_DERIVE_CONDITIONS_H
