//===- RationalEval.h - Exact values in costs and expectations --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/Settings.h"
#include "IRGen/Machine.h"
#include "Support/Rational.h"

namespace pipec {

/// Evaluates expressions of `cost`, `memory` and `expect`, in which numbers are
/// exact rationals and letters are costs of steps. Variables and functions of
/// the program are integers, and are evaluated by the machine.
class RationalEval {
public:
  RationalEval(Machine &machine, const CostSettings &costs, DiagEngine &diags)
      : machine(machine), costs(costs), diags(diags) {}

  /// Returns nothing if an error was reported.
  std::optional<Rational> evaluate(const ast::Expr *expr);

private:
  std::optional<Rational> evaluate(const ast::BinaryExpr *expr);
  std::optional<Rational> evaluate(const ast::CallExpr *expr);
  std::optional<Rational> costOf(const ast::CostOfExpr *expr);
  /// Reports an overflow if `value` is nothing.
  std::optional<Rational> fits(std::optional<Rational> value,
                               const ast::Expr *expr);
  std::optional<int64_t> integer(Rational value, const ast::Expr *expr);

  Machine &machine;
  const CostSettings &costs;
  DiagEngine &diags;
};

} // namespace pipec
