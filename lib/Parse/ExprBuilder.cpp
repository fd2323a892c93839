//===- ExprBuilder.cpp - Expressions from the parse tree ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse/TreeBuilder.h"

#include "PipeLexer.h"

using namespace llvm;
using namespace pipec::ast;
using antlr4::tree::TerminalNode;
using pipec::grammar::PipeLexer;

namespace pipec {

SMRange TreeBuilder::range(antlr4::Token *first, antlr4::Token *last) const {
  return {offsets.loc(first->getStartIndex()),
          offsets.loc(last->getStopIndex() + 1)};
}

static BinaryOp binaryOp(size_t token) {
  switch (token) {
  case PipeLexer::OROR:
    return BinaryOp::Or;
  case PipeLexer::ANDAND:
    return BinaryOp::And;
  case PipeLexer::EQEQ:
    return BinaryOp::EQ;
  case PipeLexer::NEQ:
    return BinaryOp::NE;
  case PipeLexer::LT:
    return BinaryOp::LT;
  case PipeLexer::LE:
    return BinaryOp::LE;
  case PipeLexer::GT:
    return BinaryOp::GT;
  case PipeLexer::GE:
    return BinaryOp::GE;
  case PipeLexer::PLUS:
    return BinaryOp::Add;
  case PipeLexer::MINUS:
    return BinaryOp::Sub;
  case PipeLexer::STAR:
    return BinaryOp::Mul;
  case PipeLexer::SLASH:
    return BinaryOp::Div;
  case PipeLexer::PERCENT:
    return BinaryOp::Mod;
  default:
    llvm_unreachable("not an operator of the grammar");
  }
}

// The type of the operands of each chain.
using Tree = antlr4::tree::ParseTree;
grammar::PipeParser::AndExprContext *
operandOf(grammar::PipeParser::OrExprContext *, Tree *);
grammar::PipeParser::EqualityContext *
operandOf(grammar::PipeParser::AndExprContext *, Tree *);
grammar::PipeParser::ComparisonContext *
operandOf(grammar::PipeParser::EqualityContext *, Tree *);
grammar::PipeParser::SumContext *
operandOf(grammar::PipeParser::ComparisonContext *, Tree *);
grammar::PipeParser::ProductContext *
operandOf(grammar::PipeParser::SumContext *, Tree *);
grammar::PipeParser::UnaryContext *
operandOf(grammar::PipeParser::ProductContext *, Tree *);

Expr *TreeBuilder::build(P::ExprContext *rule) {
  Expr *condition = build(rule->orExpr());
  if (!rule->QUEST())
    return condition;
  return context.make<ConditionalExpr>(
      range(rule), condition, build(rule->expr(0)), build(rule->expr(1)));
}

template <typename Rule> Expr *TreeBuilder::buildChain(Rule *rule) {
  Expr *left = nullptr;
  TerminalNode *op = nullptr;
  for (antlr4::tree::ParseTree *child : rule->children) {
    if (auto *node = dynamic_cast<TerminalNode *>(child)) {
      op = node;
      continue;
    }
    using Operand = std::remove_pointer_t<decltype(operandOf(rule, child))>;
    auto *operand = static_cast<Operand *>(child);
    Expr *right = build(operand);
    // Operands may be in parentheses, which are part of the range of the whole
    // expression but not of the operand.
    left =
        left ? context.make<BinaryExpr>(
                   SMRange(range(rule).Start, range(operand).End),
                   binaryOp(op->getSymbol()->getType()), range(op), left, right)
             : right;
  }
  return left;
}

Expr *TreeBuilder::build(P::OrExprContext *rule) { return buildChain(rule); }
Expr *TreeBuilder::build(P::AndExprContext *rule) { return buildChain(rule); }
Expr *TreeBuilder::build(P::EqualityContext *rule) { return buildChain(rule); }
Expr *TreeBuilder::build(P::ComparisonContext *rule) {
  return buildChain(rule);
}
Expr *TreeBuilder::build(P::SumContext *rule) { return buildChain(rule); }
Expr *TreeBuilder::build(P::ProductContext *rule) { return buildChain(rule); }

Expr *TreeBuilder::build(P::UnaryContext *rule) {
  if (rule->primary())
    return build(rule->primary());
  UnaryOp op = rule->MINUS() ? UnaryOp::Neg : UnaryOp::Not;
  return context.make<UnaryExpr>(range(rule), op, build(rule->unary()));
}

Expr *TreeBuilder::build(P::PrimaryContext *rule) {
  SMRange where = range(rule);
  if (rule->INT() || rule->DECIMAL())
    return context.make<NumberExpr>(where, spelling(where));
  if (rule->letter())
    return context.make<LetterExpr>(where, build(rule->letter()));
  if (rule->letters())
    return context.make<CostOfExpr>(where, build(rule->letters()));
  if (rule->COST())
    return context.make<CostOfExpr>(where, ArrayRef<Letter>(),
                                    name(rule->ID()));
  if (rule->ID())
    return context.make<CallExpr>(where, name(rule->ID()), build(rule->expr()));
  if (rule->nameUse())
    return build(rule->nameUse());
  return build(rule->expr(0));
}

Expr *TreeBuilder::build(P::NameUseContext *rule) {
  SMRange where = range(rule);
  return context.make<NameExpr>(where, spelling(where));
}

Letter TreeBuilder::build(P::LetterContext *rule) {
  return rule->F()   ? Letter::F
         : rule->B() ? Letter::B
         : rule->I() ? Letter::I
                     : Letter::W;
}

ArrayRef<Letter> TreeBuilder::build(P::LettersContext *rule) {
  std::vector<Letter> letters;
  for (P::LetterContext *letter : rule->letter())
    letters.push_back(build(letter));
  return context.copy(letters);
}

ArrayRef<Expr *> TreeBuilder::build(const std::vector<P::ExprContext *> &list) {
  std::vector<Expr *> exprs;
  exprs.reserve(list.size());
  for (P::ExprContext *expr : list)
    exprs.push_back(build(expr));
  return context.copy(exprs);
}

} // namespace pipec
