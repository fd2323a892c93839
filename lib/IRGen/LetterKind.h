//===- LetterKind.h - The step kind of a letter of the language -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Expr.h"
#include "IR/Step.h"

namespace pipec {

/// The kind of the steps that `letter` denotes.
constexpr StepKind kindOf(ast::Letter letter) {
  // AST and IR do not include each other, so the correspondence is checked
  // here.
  static_assert(unsigned(ast::Letter::F) == unsigned(StepKind::F) &&
                    unsigned(ast::Letter::B) == unsigned(StepKind::B) &&
                    unsigned(ast::Letter::I) == unsigned(StepKind::I) &&
                    unsigned(ast::Letter::W) == unsigned(StepKind::W),
                "letters and compute steps have the same values");
  return StepKind(unsigned(letter));
}

} // namespace pipec
