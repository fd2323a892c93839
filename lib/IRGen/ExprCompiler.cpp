//===- ExprCompiler.cpp - Expressions in flat form ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Compiler.h"

#include "Support/Rational.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

Segment Compiler::compileSegment(const Expr *expr) {
  uint32_t entry = here();
  uint32_t result = compile(expr);
  emit(Op::Halt, expr->range);
  return {entry, result};
}

uint32_t Compiler::compile(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    // Sema has checked that the number is an integer that fits.
    return constant(Rational::parse(cast<NumberExpr>(expr)->text)->numerator());
  case Expr::Kind::Name:
    return cast<NameExpr>(expr)->variable->id;
  case Expr::Kind::Unary: {
    auto *unary = cast<UnaryExpr>(expr);
    uint32_t operand = compile(unary->operand);
    uint32_t result = newSlot();
    emit(unary->op == UnaryOp::Neg ? Op::Neg : Op::Not, expr->range, result,
         operand);
    return result;
  }
  case Expr::Kind::Binary:
    return compile(cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional:
    return compile(cast<ConditionalExpr>(expr));
  case Expr::Kind::Call:
    return compile(cast<CallExpr>(expr));
  case Expr::Kind::Letter:
  case Expr::Kind::CostOf:
    break;
  }
  llvm_unreachable("costs are not integers");
}

uint32_t Compiler::compile(const BinaryExpr *expr) {
  if (expr->op == BinaryOp::Or || expr->op == BinaryOp::And)
    return compileLogical(expr);
  uint32_t lhs = compile(expr->lhs);
  uint32_t rhs = compile(expr->rhs);
  uint32_t result = newSlot();
  // `a > b` is `b < a`.
  if (expr->op == BinaryOp::GT || expr->op == BinaryOp::GE)
    std::swap(lhs, rhs);
  // In the order of `BinaryOp`, after `||` and `&&`.
  static constexpr Op ops[] = {Op::EQ,  Op::NE,  Op::LT,  Op::LE,
                               Op::LT,  Op::LE,  Op::Add, Op::Sub,
                               Op::Mul, Op::Div, Op::Mod};
  emit(ops[unsigned(expr->op) - unsigned(BinaryOp::EQ)], expr->range, result,
       lhs, rhs);
  return result;
}

/// `a && b` is decided by a if it is 0 (`||`: if it is not 0).
uint32_t Compiler::compileLogical(const BinaryExpr *expr) {
  uint32_t result = newSlot();
  emit(Op::Bool, expr->lhs->range, result, compile(expr->lhs));
  uint32_t skip =
      emit(expr->op == BinaryOp::And ? Op::JumpIfZero : Op::JumpIfNotZero,
           expr->range, 0, result);
  emit(Op::Bool, expr->rhs->range, result, compile(expr->rhs));
  patch(skip);
  return result;
}

uint32_t Compiler::compile(const ConditionalExpr *expr) {
  uint32_t condition = compile(expr->condition);
  uint32_t result = newSlot();
  uint32_t toFalse = emit(Op::JumpIfZero, expr->range, 0, condition);
  emit(Op::Move, expr->range, result, compile(expr->whenTrue));
  uint32_t toEnd = emit(Op::Jump, expr->range);
  patch(toFalse);
  emit(Op::Move, expr->range, result, compile(expr->whenFalse));
  patch(toEnd);
  return result;
}

/// Computes all arguments before it assigns the first, since one of them may
/// call the same function.
void Compiler::compileArguments(ArrayRef<Argument> params,
                                ArrayRef<Expr *> args) {
  SmallVector<uint32_t, 4> values;
  for (const Expr *arg : args)
    values.push_back(compile(arg));
  for (size_t i = 0; i != params.size(); ++i)
    emit(Op::Move, args[i]->range, params[i].variable->id, values[i]);
}

uint32_t Compiler::compile(const CallExpr *expr) {
  uint32_t result = newSlot();
  if (expr->builtin != Builtin::None) {
    // In the order of `Builtin`, after `None`.
    static constexpr Op ops[] = {Op::Min, Op::Max, Op::Abs, Op::CeilDiv,
                                 Op::Stage};
    Op op = ops[unsigned(expr->builtin) - unsigned(Builtin::Min)];
    uint32_t value = compile(expr->args[0]);
    if (expr->args.size() == 1)
      emit(op, expr->range, result, value);
    for (const Expr *arg : expr->args.drop_front()) {
      uint32_t next = compile(arg);
      emit(op, expr->range, result, value, next);
      value = result;
    }
    return result;
  }
  unsigned fn = expr->fn->id;
  if (code.fnIsPure[fn]) {
    uint32_t argument = compile(expr->args[0]);
    emit(Op::Recall, expr->range, result, argument, fn);
    emit(Op::Move, expr->range, expr->fn->args[0].variable->id, argument);
    emit(Op::Call, expr->range, 0, 0, code.fnEntries[fn]);
    emit(Op::Remember, expr->range, result, argument, fn);
    return result;
  }
  compileArguments(expr->fn->args, expr->args);
  emit(Op::Call, expr->range, 0, 0, code.fnEntries[fn]);
  emit(Op::Move, expr->range, result, code.fnResults[fn]);
  return result;
}

} // namespace pipec
