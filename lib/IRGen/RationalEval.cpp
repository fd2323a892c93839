//===- RationalEval.cpp - Exact values in costs and expectations ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers are exact rationals and letters are costs of steps. Variables and
// functions of the program are integers, and are evaluated by the machine.
//
//===----------------------------------------------------------------------===//

#include "IRGen/Lowering.h"

#include "Support/Diagnostics/LoweringDiags.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

std::optional<Rational> Lowering::fits(std::optional<Rational> value,
                                       const Expr *expr) {
  if (!value)
    (void)diags.report(expr->range, diag::ArithmeticOverflow,
                       sourceText(expr->range).take_front(60));
  return value;
}

std::optional<int64_t> Lowering::integer(Rational value, const Expr *expr) {
  if (value.isInteger())
    return value.numerator();
  std::string text;
  raw_string_ostream(text) << value;
  (void)diags.report(expr->range, diag::NotAnInteger, text);
  return std::nullopt;
}

std::optional<Rational> Lowering::divide(Rational lhs, Rational rhs,
                                         const Expr *expr) {
  if (!rhs.isZero())
    return fits(Rational::div(lhs, rhs), expr);
  (void)diags.report(expr->range, diag::DivisionByZero);
  return std::nullopt;
}

std::optional<Rational> Lowering::exact(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    return Rational::parse(cast<NumberExpr>(expr)->text);
  case Expr::Kind::Name:
    return Rational(machine->value(cast<NameExpr>(expr)->variable));
  case Expr::Kind::Letter:
    return fits(
        schedule.costs.of(kindOf(cast<LetterExpr>(expr)->letter), anyStage),
        expr);
  case Expr::Kind::CostOf:
    return costOf(cast<CostOfExpr>(expr));
  case Expr::Kind::Unary: {
    auto *unary = cast<UnaryExpr>(expr);
    auto operand = exact(unary->operand);
    if (!operand)
      return std::nullopt;
    if (unary->op == UnaryOp::Not)
      return Rational(operand->isZero());
    return fits(Rational::sub(0, *operand), expr);
  }
  case Expr::Kind::Binary:
    return exact(cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional: {
    auto *conditional = cast<ConditionalExpr>(expr);
    auto condition = exact(conditional->condition);
    if (!condition)
      return std::nullopt;
    return exact(condition->isZero() ? conditional->whenFalse
                                     : conditional->whenTrue);
  }
  case Expr::Kind::Call:
    return exact(cast<CallExpr>(expr));
  }
  llvm_unreachable("all kinds are evaluated");
}

std::optional<Rational> Lowering::costOf(const CostOfExpr *expr) {
  if (expr->members.empty())
    return schedule.costs.general(
        findFigure(FigureBlock::Cost, FigureScope::Whole, expr->word.text)
            ->figure);
  SmallVector<StepKind, 2> members;
  for (Letter letter : expr->members)
    members.push_back(kindOf(letter));
  return fits(schedule.costs.generalOverlap(members), expr);
}

std::optional<Rational> Lowering::exact(const BinaryExpr *expr) {
  auto lhs = exact(expr->lhs);
  if (!lhs)
    return std::nullopt;
  if (expr->op == BinaryOp::And && lhs->isZero())
    return Rational(0);
  if (expr->op == BinaryOp::Or && !lhs->isZero())
    return Rational(1);
  auto rhs = exact(expr->rhs);
  if (!rhs)
    return std::nullopt;

  switch (expr->op) {
  case BinaryOp::And:
  case BinaryOp::Or:
    return Rational(!rhs->isZero());
  case BinaryOp::EQ:
    return Rational(*lhs == *rhs);
  case BinaryOp::NE:
    return Rational(!(*lhs == *rhs));
  case BinaryOp::LT:
    return Rational(*lhs < *rhs);
  case BinaryOp::LE:
    return Rational(*lhs <= *rhs);
  case BinaryOp::GT:
    return Rational(*lhs > *rhs);
  case BinaryOp::GE:
    return Rational(*lhs >= *rhs);
  case BinaryOp::Add:
    return fits(Rational::add(*lhs, *rhs), expr);
  case BinaryOp::Sub:
    return fits(Rational::sub(*lhs, *rhs), expr);
  case BinaryOp::Mul:
    return fits(Rational::mul(*lhs, *rhs), expr);
  case BinaryOp::Div:
  case BinaryOp::Mod:
    break;
  }
  auto quotient = divide(*lhs, *rhs, expr);
  if (!quotient || expr->op == BinaryOp::Div)
    return quotient;
  // a % b = a - b * floor(a / b) holds for rationals too.
  auto whole = fits(Rational::mul(*rhs, Rational(quotient->floor())), expr);
  return whole ? fits(Rational::sub(*lhs, *whole), expr) : std::nullopt;
}

std::optional<Rational> Lowering::exact(const CallExpr *expr) {
  SmallVector<Rational, 4> args;
  for (const Expr *arg : expr->args) {
    auto value = exact(arg);
    if (!value)
      return std::nullopt;
    args.push_back(*value);
  }
  switch (expr->builtin) {
  case Builtin::Min:
    return *std::min_element(args.begin(), args.end());
  case Builtin::Max:
    return *std::max_element(args.begin(), args.end());
  case Builtin::Abs:
    return args[0].isNegative() ? fits(Rational::sub(0, args[0]), expr)
                                : args[0];
  case Builtin::CeilDiv: {
    auto quotient = divide(args[0], args[1], expr);
    if (!quotient || quotient->isInteger())
      return quotient;
    return Rational(quotient->floor() + 1);
  }
  case Builtin::Stage:
  case Builtin::None:
    break;
  }
  SmallVector<int64_t, 4> integers;
  for (size_t i = 0; i != args.size(); ++i) {
    auto value = integer(args[i], expr->args[i]);
    if (!value)
      return std::nullopt;
    integers.push_back(*value);
  }
  std::optional<int64_t> result = expr->builtin == Builtin::Stage
                                      ? machine->stage(integers[0], expr->range)
                                      : machine->call(expr->fn, integers);
  return result ? std::optional(Rational(*result)) : std::nullopt;
}

} // namespace pipec
