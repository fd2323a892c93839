//===- StmtBuilder.cpp - Statements from the parse tree -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/TreeBuilder.h"

#include "Support/Diagnostics/SyntaxDiags.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

Block TreeBuilder::build(P::BlockContext *rule) {
  return {range(rule), buildAll(rule->stmt())};
}

Stmt *TreeBuilder::build(P::StmtContext *rule) {
  return buildOneOf(rule->letStmt(), rule->fnDecl(), rule->patternDecl(),
                    rule->repeatStmt(), rule->forStmt(), rule->ifStmt(),
                    rule->steps(), rule->idle(), rule->use(), rule->atStmt(),
                    rule->fillStmt());
}

LetStmt *TreeBuilder::build(P::LetStmtContext *rule) {
  return context.make<LetStmt>(range(rule), name(rule->name()),
                               build(rule->expr()));
}

Argument TreeBuilder::build(P::NameContext *rule) { return {name(rule)}; }

MutableArrayRef<Argument> TreeBuilder::build(P::ArgumentsContext *rule) {
  return buildAll(rule->name());
}

FnDecl *TreeBuilder::build(P::FnDeclContext *rule) {
  SMRange body = {range(rule->LBRACE()).Start, range(rule->RBRACE()).End};
  return context.make<FnDecl>(range(rule), name(rule->name()),
                              build(rule->arguments()), body,
                              buildAll(rule->letStmt()), build(rule->expr()));
}

PatternDecl *TreeBuilder::build(P::PatternDeclContext *rule) {
  return context.make<PatternDecl>(range(rule), name(rule->name()),
                                   build(rule->arguments()),
                                   build(rule->block()));
}

Stmt *TreeBuilder::build(P::RepeatStmtContext *rule) {
  return context.make<RepeatStmt>(range(rule), build(rule->expr()),
                                  build(rule->block()));
}

Stmt *TreeBuilder::build(P::ForStmtContext *rule) {
  return context.make<ForStmt>(range(rule), name(rule->name()),
                               rule->REVERSE() != nullptr, build(rule->expr(0)),
                               build(rule->expr(1)), build(rule->block()));
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

Stmt *TreeBuilder::build(P::StepsContext *rule) {
  return context.make<StepsStmt>(range(rule), buildAll(rule->step()));
}

StepRef TreeBuilder::build(P::StepContext *rule) {
  StepRef step;
  step.letter = build(rule->letter());
  step.range = range(rule);
  step.all = rule->STAR() != nullptr;
  if (step.all && step.letter != Letter::W)
    (void)diags.report(range(rule->STAR()), diag::StarOnStep,
                       letterName(step.letter));
  if (!rule->expr().empty())
    step.chunk = build(rule->expr(0));
  if (rule->expr().size() == 2) {
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

Stmt *TreeBuilder::build(P::UseContext *rule) {
  return context.make<UseStmt>(range(rule), name(rule->ID()),
                               buildAll(rule->expr()));
}

Stmt *TreeBuilder::build(P::AtStmtContext *rule) {
  return context.make<AtStmt>(range(rule), build(rule->expr()),
                              build(rule->block()));
}

Stmt *TreeBuilder::build(P::FillStmtContext *rule) {
  return context.make<FillStmt>(range(rule), build(rule->block()));
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
