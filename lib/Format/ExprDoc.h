//===- ExprDoc.h - Expressions in canonical form ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FORMAT_EXPRDOC_H
#define PIPEC_FORMAT_EXPRDOC_H

#include "AST/Expr.h"
#include "Format/Doc.h"

namespace pipec::ast {

/// Precedences: an expression of lower precedence than its context requires is
/// parenthesized. 1 to 6 are the binary operators.
enum : unsigned { bindAny = 0, bindUnary = 7, bindPrimary = 8 };

/// The expression with the necessary parentheses, and with those that clarify
/// uncommon precedence: `(a && b) || c`, `(a < b) == c`, `a ? (b ? c : d) : e`,
/// `-(-a)`. Lines break before an operator, before `:` and after a comma.
DocRef exprDoc(DocBuilder &docs, const Expr *expr, unsigned binding = bindAny);

/// `(a, b)`
DocRef argumentsDoc(DocBuilder &docs, llvm::ArrayRef<Expr *> args);

} // namespace pipec::ast

#endif // PIPEC_FORMAT_EXPRDOC_H
