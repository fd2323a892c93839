//===- PiecewiseFormula.h - Formulas of several polynomials -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_PIECEWISEFORMULA_H
#define PIPEC_DERIVE_PIECEWISEFORMULA_H

#include "Derive/Conditions.h"
#include "Derive/Terms.h"

namespace pipec {

/// A polynomial, the least or the largest of several formulas, or one of two by
/// a condition.
struct PiecewiseFormula {
  enum class Kind : uint8_t { Polynomial, Min, Max, Choice };
  Kind kind = Kind::Polynomial;
  Polynomial polynomial;
  /// Of a choice: whether the first part applies, not the second.
  Condition condition;
  std::vector<PiecewiseFormula> parts;

  static PiecewiseFormula of(Polynomial polynomial);
  static PiecewiseFormula of(Kind kind, std::vector<PiecewiseFormula> parts);
  static PiecewiseFormula choice(Condition condition, PiecewiseFormula first,
                                 PiecewiseFormula second);

  bool isZero() const {
    return kind == Kind::Polynomial && polynomial.size() == 0;
  }
  /// The number of terms.
  size_t size() const;
  /// The exact value; nothing if it does not fit.
  std::optional<Rational> value(llvm::ArrayRef<int64_t> variables) const;
  /// In the syntax of `expect` clauses.
  std::string text(llvm::ArrayRef<std::string> names) const;
  /// The same as the operand of a product: a sum is in parentheses.
  std::string factorText(llvm::ArrayRef<std::string> names) const;
};

} // namespace pipec

#endif // PIPEC_DERIVE_PIECEWISEFORMULA_H
