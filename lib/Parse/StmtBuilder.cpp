//===- StmtBuilder.cpp - Statements from the parse tree -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse/TreeBuilder.h"

#include "Support/Diagnostics/SyntaxDiags.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

Block TreeBuilder::build(P::BlockContext *rule) {
  std::vector<Stmt *> stmts;
  for (P::StmtContext *stmt : rule->stmt())
    stmts.push_back(build(stmt));
  return {range(rule), context.copy(stmts)};
}

Stmt *TreeBuilder::build(P::StmtContext *rule) {
  if (auto *let = rule->letStmt())
    return build(let);
  if (auto *fn = rule->fnDecl())
    return build(fn);
  if (auto *pattern = rule->patternDecl())
    return build(pattern);
  if (auto *repeat = rule->repeatStmt())
    return build(repeat);
  if (auto *loop = rule->forStmt())
    return build(loop);
  if (auto *branch = rule->ifStmt())
    return build(branch);
  if (auto *steps = rule->steps())
    return build(steps);
  if (auto *idle = rule->idle())
    return build(idle);
  if (auto *use = rule->use())
    return build(use);
  if (auto *at = rule->atStmt())
    return build(at);
  return build(rule->fillStmt());
}

LetStmt *TreeBuilder::build(P::LetStmtContext *rule) {
  return context.make<LetStmt>(range(rule), name(rule->name()),
                               build(rule->expr()));
}

MutableArrayRef<Argument> TreeBuilder::build(P::ArgumentsContext *rule) {
  std::vector<Argument> args;
  for (P::NameContext *arg : rule->name())
    args.push_back({name(arg)});
  return context.copy(args);
}

FnDecl *TreeBuilder::build(P::FnDeclContext *rule) {
  std::vector<LetStmt *> lets;
  for (P::LetStmtContext *let : rule->letStmt())
    lets.push_back(build(let));
  SMRange body = {range(rule->LBRACE()).Start, range(rule->RBRACE()).End};
  return context.make<FnDecl>(range(rule), name(rule->name()),
                              build(rule->arguments()), body,
                              context.copy(lets), build(rule->expr()));
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
    std::vector<Stmt *> only = {build(next)};
    otherwise = Block{range(next), context.copy(only)};
  } else if (rule->ELSE()) {
    otherwise = build(rule->block(1));
  }
  return context.make<IfStmt>(range(rule), build(rule->expr()),
                              build(rule->block(0)), otherwise, elseIf);
}

Stmt *TreeBuilder::build(P::StepsContext *rule) {
  std::vector<StepRef> steps;
  for (P::StepContext *step : rule->step())
    steps.push_back(build(step));
  return context.make<StepsStmt>(range(rule), context.copy(steps));
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
      count = context.make<NumberExpr>(range(n), spelling(range(n)));
    else if (n->nameUse())
      count = build(n->nameUse());
    else
      count = build(n->expr());
  }
  return context.make<IdleStmt>(range(rule), count);
}

Stmt *TreeBuilder::build(P::UseContext *rule) {
  return context.make<UseStmt>(range(rule), name(rule->ID()),
                               build(rule->expr()));
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
