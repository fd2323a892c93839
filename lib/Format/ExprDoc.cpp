//===- ExprDoc.cpp - Expressions in canonical form ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format/ExprDoc.h"

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

static bool isEquality(BinaryOp op) {
  return op == BinaryOp::EQ || op == BinaryOp::NE;
}
static bool isOrder(BinaryOp op) {
  return op == BinaryOp::LT || op == BinaryOp::LE || op == BinaryOp::GT ||
         op == BinaryOp::GE;
}

/// The minimum precedence of an operand of `op`. The left operand in a chain of
/// the same precedence is part of the chain and does not count as an operand.
static unsigned operandBinding(BinaryOp op) {
  if (isEquality(op) || isOrder(op))
    return precedence(BinaryOp::Add);
  return precedence(op == BinaryOp::Or ? BinaryOp::And : op) + 1;
}

static DocRef binaryDoc(DocBuilder &docs, const BinaryExpr *expr) {
  // A chain of operators of one precedence breaks at all of them or at none. It
  // may be long, so this is a loop.
  unsigned level = precedence(expr->op);
  bool chains = !isEquality(expr->op) && !isOrder(expr->op);
  SmallVector<const BinaryExpr *, 8> chain = {expr};
  while (chains) {
    const auto *left = dyn_cast<BinaryExpr>(chain.back()->lhs);
    if (!left || precedence(left->op) != level)
      break;
    chain.push_back(left);
  }

  unsigned binding = operandBinding(expr->op);
  SmallVector<DocRef, 16> rest;
  for (const BinaryExpr *link : reverse(chain))
    rest.append({docs.line(), docs.text(spelling(link->op)), docs.text(" "),
                 exprDoc(docs, link->rhs, binding)});
  return docs.group(docs.concat({exprDoc(docs, chain.back()->lhs, binding),
                                 docs.nest(4, docs.concat(rest))}));
}

/// `a ? b : c ? d : e`; if it is broken, each condition and its value are on a
/// line.
static DocRef conditionalDoc(DocBuilder &docs, const ConditionalExpr *expr) {
  SmallVector<DocRef, 16> parts;
  auto addArm = [&](const ConditionalExpr *arm) {
    parts.append({exprDoc(docs, arm->condition, precedence(BinaryOp::Or)),
                  docs.text(" ? "),
                  exprDoc(docs, arm->whenTrue, precedence(BinaryOp::Or))});
  };
  addArm(expr);
  const Expr *last = expr->whenFalse;
  for (; const auto *next = dyn_cast<ConditionalExpr>(last);
       last = next->whenFalse) {
    parts.append({docs.line(), docs.text(": ")});
    addArm(next);
  }
  parts.append({docs.line(), docs.text(": "),
                exprDoc(docs, last, precedence(BinaryOp::Or))});
  return docs.group(docs.nest(4, docs.concat(parts)));
}

static DocRef costOfDoc(DocBuilder &docs, const CostOfExpr *cost) {
  if (cost->members.empty())
    return docs.text(cost->word.text);
  SmallVector<DocRef, 8> parts;
  for (Letter letter : cost->members) {
    if (!parts.empty())
      parts.push_back(docs.text(" & "));
    parts.push_back(docs.text(letterName(letter)));
  }
  return docs.concat(parts);
}

DocRef argumentsDoc(DocBuilder &docs, ArrayRef<Expr *> args) {
  SmallVector<DocRef, 8> parts;
  for (const Expr *arg : args) {
    if (!parts.empty())
      parts.append({docs.text(","), docs.line()});
    else
      parts.push_back(docs.softLine());
    parts.push_back(exprDoc(docs, arg));
  }
  return docs.group(docs.concat(
      {docs.text("("), docs.nest(4, docs.concat(parts)), docs.text(")")}));
}

static DocRef bareDoc(DocBuilder &docs, const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    return docs.text(cast<NumberExpr>(expr)->text);
  case Expr::Kind::Name:
    return docs.text(cast<NameExpr>(expr)->name);
  case Expr::Kind::Letter:
    return docs.text(letterName(cast<LetterExpr>(expr)->letter));
  case Expr::Kind::CostOf:
    return docs.concat({docs.text("cost("),
                        costOfDoc(docs, cast<CostOfExpr>(expr)),
                        docs.text(")")});
  case Expr::Kind::Unary: {
    const auto *unary = cast<UnaryExpr>(expr);
    return docs.concat({docs.text(unary->op == UnaryOp::Neg ? "-" : "!"),
                        exprDoc(docs, unary->operand, bindPrimary)});
  }
  case Expr::Kind::Binary:
    return binaryDoc(docs, cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional:
    return conditionalDoc(docs, cast<ConditionalExpr>(expr));
  case Expr::Kind::Call: {
    const auto *call = cast<CallExpr>(expr);
    return docs.concat(
        {docs.text(call->callee.text), argumentsDoc(docs, call->args)});
  }
  }
  llvm_unreachable("all kinds are handled");
}

DocRef exprDoc(DocBuilder &docs, const Expr *expr, unsigned binding) {
  DocRef bare = bareDoc(docs, expr);
  if (bindingOf(expr) >= binding)
    return bare;
  return docs.concat({docs.text("("), bare, docs.text(")")});
}

} // namespace pipec::ast
