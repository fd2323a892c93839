//===- ExprDoc.cpp - Expressions in canonical form ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/Doc.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

/// The precedence of the expression itself.
static unsigned bindingOf(const Expr *expr) {
  if (isa<ConditionalExpr>(expr))
    return bindAny;
  if (const auto *binary = dyn_cast<BinaryExpr>(expr))
    return precedence(binary->op);
  return isa<UnaryExpr>(expr) ? bindUnary : bindPrimary;
}

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::EQ && op <= BinaryOp::GE;
}

/// The minimum precedence of an operand of `op`. The left operand in a chain of
/// the same precedence is part of the chain and does not count as an operand.
static unsigned operandBinding(BinaryOp op) {
  if (isComparison(op))
    return precedence(BinaryOp::Add);
  return precedence(op == BinaryOp::Or ? BinaryOp::And : op) + 1;
}

DocRef DocBuilder::binary(const BinaryExpr *expr) {
  // A chain of operators of one precedence breaks at all of them or at none. It
  // may be long, so this is a loop.
  unsigned level = precedence(expr->op);
  bool chains = !isComparison(expr->op);
  SmallVector<const BinaryExpr *, 8> chain = {expr};
  while (chains) {
    const auto *left = dyn_cast<BinaryExpr>(chain.back()->lhs);
    if (!left || precedence(left->op) != level)
      break;
    chain.push_back(left);
  }

  unsigned binding = operandBinding(expr->op);
  Parts rest;
  for (const BinaryExpr *link : reverse(chain))
    rest.append(
        {line(), spelling(link->op), " ", this->expr(link->rhs, binding)});
  return make(Doc::Kind::Group, 0,
              Part(concat({this->expr(chain.back()->lhs, binding),
                           nest(4, concat(rest))})));
}

/// `a ? b : c ? d : e`; if it is broken, each condition and its value are on a
/// line.
DocRef DocBuilder::conditional(const ConditionalExpr *expr) {
  constexpr unsigned binding = 1; // that of `||`
  Parts parts;
  const Expr *last = expr;
  for (; const auto *arm = dyn_cast<ConditionalExpr>(last);
       last = arm->whenFalse)
    parts.append({this->expr(arm->condition, binding), " ? ",
                  this->expr(arm->whenTrue, binding), line(), ": "});
  parts.push_back(this->expr(last, binding));
  return group(parts);
}

DocRef DocBuilder::bare(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    return doc(cast<NumberExpr>(expr)->text);
  case Expr::Kind::Name:
    return doc(cast<NameExpr>(expr)->name);
  case Expr::Kind::Letter:
    return doc(letterName(cast<LetterExpr>(expr)->letter));
  case Expr::Kind::CostOf: {
    const auto *cost = cast<CostOfExpr>(expr);
    return concat({"cost(", copied(leftSide(cost->members, cost->word)), ")"});
  }
  case Expr::Kind::Unary: {
    const auto *unary = cast<UnaryExpr>(expr);
    return concat({unary->op == UnaryOp::Neg ? "-" : "!",
                   this->expr(unary->operand, bindPrimary)});
  }
  case Expr::Kind::Binary:
    return binary(cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional:
    return conditional(cast<ConditionalExpr>(expr));
  case Expr::Kind::Call: {
    const auto *call = cast<CallExpr>(expr);
    return concat({call->callee.text, arguments(call->args)});
  }
  }
  llvm_unreachable("all kinds are handled");
}

DocRef DocBuilder::expr(const Expr *expr, unsigned binding) {
  DocRef inner = bare(expr);
  return bindingOf(expr) >= binding ? inner : concat({"(", inner, ")"});
}

} // namespace pipec::ast
