//===- ExprBuilder.cpp - Expressions from the parse tree ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/TreeBuilder.h"

#include "Parse/Tokens.h"

using namespace llvm;
using namespace pipec::ast;
using antlr4::tree::TerminalNode;

namespace pipec {

SMRange TreeBuilder::range(antlr4::Token *first, antlr4::Token *last) const {
  return {offsets.loc(first->getStartIndex()),
          offsets.loc(last->getStopIndex() + 1)};
}

Expr *TreeBuilder::build(P::ExprContext *rule) {
  Expr *condition = buildChain(rule->orExpr());
  if (!rule->QUEST())
    return condition;
  return context.make<ConditionalExpr>(
      range(rule), condition, build(rule->expr(0)), build(rule->expr(1)));
}

Expr *TreeBuilder::buildChain(antlr4::ParserRuleContext *rule) {
  if (rule->getRuleIndex() == P::RuleUnary)
    return build(static_cast<P::UnaryContext *>(rule));
  Expr *left = nullptr;
  TerminalNode *op = nullptr;
  for (antlr4::tree::ParseTree *child : rule->children) {
    if (auto *node = dynamic_cast<TerminalNode *>(child)) {
      op = node;
      continue;
    }
    auto *operand = static_cast<antlr4::ParserRuleContext *>(child);
    Expr *right = buildChain(operand);
    // Operands may be in parentheses, which are part of the range of the whole
    // expression but not of the operand.
    left = left ? context.make<BinaryExpr>(
                      SMRange(range(rule).Start, range(operand).End),
                      *binaryOperator(op->getSymbol()->getType()), range(op),
                      left, right)
                : right;
  }
  return left;
}

Expr *TreeBuilder::build(P::UnaryContext *rule) {
  if (rule->primary())
    return build(rule->primary());
  UnaryOp op = rule->MINUS() ? UnaryOp::Neg : UnaryOp::Not;
  return context.make<UnaryExpr>(range(rule), op, build(rule->unary()));
}

Expr *TreeBuilder::build(P::PrimaryContext *rule) {
  SMRange where = range(rule);
  if (rule->INT() || rule->DECIMAL())
    return context.make<NumberExpr>(where, sourceText(where));
  if (rule->letter())
    return context.make<LetterExpr>(where, build(rule->letter()));
  if (rule->letters())
    return context.make<CostOfExpr>(where, build(rule->letters()));
  if (rule->COST())
    return context.make<CostOfExpr>(where, ArrayRef<Letter>(),
                                    name(rule->ID()));
  if (rule->ID())
    return context.make<CallExpr>(where, name(rule->ID()),
                                  buildAll(rule->expr()));
  if (rule->nameUse())
    return build(rule->nameUse());
  return build(rule->expr(0));
}

Expr *TreeBuilder::build(P::NameUseContext *rule) {
  SMRange where = range(rule);
  return context.make<NameExpr>(where, sourceText(where));
}

Letter TreeBuilder::build(P::LetterContext *rule) {
  return rule->F()   ? Letter::F
         : rule->B() ? Letter::B
         : rule->I() ? Letter::I
                     : Letter::W;
}

ArrayRef<Letter> TreeBuilder::build(P::LettersContext *rule) {
  return buildAll(rule->letter());
}

} // namespace pipec
