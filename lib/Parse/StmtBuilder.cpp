//===- StmtBuilder.cpp - Expressions and statements -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/TreeBuilder.h"

#include "Support/Diagnostics/SyntaxDiags.h"

using namespace llvm;
using namespace pipec::ast;
using antlr4::tree::TerminalNode;

namespace pipec {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expr *TreeBuilder::build(P::ExprContext *rule) {
  Expr *condition = buildChain(rule->orExpr());
  if (!rule->QUEST())
    return condition;
  return context.make<ConditionalExpr>(
      range(rule), condition, build(rule->expr(0)), build(rule->expr(1)));
}

Expr *TreeBuilder::buildChain(antlr4::ParserRuleContext *rule) {
  if (rule->getRuleIndex() == P::RuleUnary) {
    auto *unary = static_cast<P::UnaryContext *>(rule);
    if (unary->primary())
      return build(unary->primary());
    UnaryOp op = unary->MINUS() ? UnaryOp::Neg : UnaryOp::Not;
    return context.make<UnaryExpr>(range(rule), op, buildChain(unary->unary()));
  }
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

Expr *TreeBuilder::build(P::PrimaryContext *rule) {
  SMRange where = range(rule);
  if (rule->INT() || rule->DECIMAL())
    return context.make<NumberExpr>(where, sourceText(where));
  if (rule->letter())
    return context.make<LetterExpr>(where, build(rule->letter()));
  if (rule->letters())
    return context.make<CostOfExpr>(where, buildAll(rule->letters()->letter()));
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

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Block TreeBuilder::build(P::BlockContext *rule) {
  return {range(rule), buildAll(rule->stmt())};
}

Stmt *TreeBuilder::build(P::StmtContext *rule) {
  SMRange where = range(rule);
  if (auto *repeat = rule->repeatStmt())
    return context.make<RepeatStmt>(where, build(repeat->expr()),
                                    build(repeat->block()));
  if (auto *loop = rule->forStmt())
    return context.make<ForStmt>(
        where, name(loop->name()), loop->REVERSE() != nullptr,
        build(loop->expr(0)), build(loop->expr(1)), build(loop->block()));
  if (auto *steps = rule->steps())
    return context.make<StepsStmt>(where, buildAll(steps->step()));
  if (auto *use = rule->use())
    return context.make<UseStmt>(where, name(use->ID()), buildAll(use->expr()));
  if (auto *at = rule->atStmt())
    return context.make<AtStmt>(where, build(at->expr()), build(at->block()));
  if (auto *fill = rule->fillStmt())
    return context.make<FillStmt>(where, build(fill->block()));
  return buildOneOf(rule->letStmt(), rule->fnDecl(), rule->patternDecl(),
                    rule->ifStmt(), rule->idle());
}

LetStmt *TreeBuilder::build(P::LetStmtContext *rule) {
  return context.make<LetStmt>(range(rule), name(rule->name()),
                               build(rule->expr()));
}

Argument TreeBuilder::build(P::NameContext *rule) { return {name(rule)}; }

FnDecl *TreeBuilder::build(P::FnDeclContext *rule) {
  SMRange body = {range(rule->LBRACE()).Start, range(rule->RBRACE()).End};
  return context.make<FnDecl>(range(rule), name(rule->name()),
                              buildAll(rule->arguments()->name()), body,
                              buildAll(rule->letStmt()), build(rule->expr()));
}

PatternDecl *TreeBuilder::build(P::PatternDeclContext *rule) {
  return context.make<PatternDecl>(range(rule), name(rule->name()),
                                   buildAll(rule->arguments()->name()),
                                   build(rule->block()));
}

IfStmt *TreeBuilder::build(P::IfStmtContext *rule) {
  std::optional<Block> otherwise;
  bool elseIf = false;
  if (P::IfStmtContext *next = rule->ifStmt()) {
    elseIf = true;
    otherwise = Block{range(next), context.copy(ArrayRef<Stmt *>(build(next)))};
  } else if (rule->ELSE()) {
    otherwise = build(rule->block(1));
  }
  return context.make<IfStmt>(range(rule), build(rule->expr()),
                              build(rule->block(0)), otherwise, elseIf);
}

StepRef TreeBuilder::build(P::StepContext *rule) {
  StepRef step;
  if (auto *word = rule->stepWord())
    step.letter = Letter(find(letterNames, word->getText()) - letterNames);
  else
    step.letter = build(rule->letter());
  step.range = range(rule);
  step.all = rule->STAR() != nullptr;
  if (step.all && step.letter != Letter::W)
    (void)diags.report(range(rule->STAR()), diag::StarOnStep,
                       letterName(step.letter));
  if (!rule->expr().empty())
    step.chunk = build(rule->expr(0));
  if (rule->expr().size() == 3)
    step.slice = build(rule->expr(2));
  if (rule->expr().size() >= 2) {
    step.microbatch = build(rule->expr(1));
    if (step.all)
      (void)diags.report(range(rule->expr(1)), diag::MicrobatchOfAll);
  }
  return step;
}

Stmt *TreeBuilder::build(P::IdleContext *rule) {
  Expr *count = nullptr;
  if (P::IdleCountContext *n = rule->idleCount()) {
    if (n->INT())
      count = context.make<NumberExpr>(range(n), sourceText(range(n)));
    else if (n->nameUse())
      count = build(n->nameUse());
    else
      count = build(n->expr());
  }
  return context.make<IdleStmt>(range(rule), count);
}

Stmt *TreeBuilder::build(P::PhaseContext *rule) {
  bool named = rule->PHASE() != nullptr;
  Name phaseName = named            ? name(rule->name())
                   : rule->WARMUP() ? name(rule->WARMUP())
                   : rule->STEADY() ? name(rule->STEADY())
                                    : name(rule->COOLDOWN());
  return context.make<PhaseStmt>(range(rule), phaseName, named,
                                 build(rule->block()));
}

} // namespace pipec
