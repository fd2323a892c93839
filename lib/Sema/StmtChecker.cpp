//===- StmtChecker.cpp - Statements ---------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sema/Checker.h"

#include "Support/Diagnostics/SemaDiags.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

void Checker::check(const Block &block, Form &form) {
  size_t mark = scope.enter();
  for (Stmt *stmt : block.stmts)
    check(stmt, form);
  scope.leave(mark);
}

void Checker::check(Stmt *stmt, Form &form) {
  switch (stmt->kind) {
  case Stmt::Kind::Let:
    return check(cast<LetStmt>(stmt));
  case Stmt::Kind::Fn:
    return check(cast<FnDecl>(stmt));
  case Stmt::Kind::Pattern:
    return check(cast<PatternDecl>(stmt));
  case Stmt::Kind::Repeat: {
    auto *repeat = cast<RepeatStmt>(stmt);
    check(repeat->count, Numbers::Integers);
    return check(repeat->body, form);
  }
  case Stmt::Kind::For:
    return check(cast<ForStmt>(stmt), form);
  case Stmt::Kind::If: {
    auto *branch = cast<IfStmt>(stmt);
    check(branch->condition, Numbers::Integers);
    check(branch->then, form);
    if (branch->otherwise)
      check(*branch->otherwise, form);
    return;
  }
  case Stmt::Kind::Steps:
    notePlain(form, stmt);
    return check(cast<StepsStmt>(stmt));
  case Stmt::Kind::Idle:
    notePlain(form, stmt);
    if (Expr *count = cast<IdleStmt>(stmt)->count)
      check(count, Numbers::Integers);
    return;
  case Stmt::Kind::Use:
    return check(cast<UseStmt>(stmt), form);
  case Stmt::Kind::At:
    noteTimed(form, stmt);
    return check(cast<AtStmt>(stmt));
  case Stmt::Kind::Fill:
    noteTimed(form, stmt);
    return check(cast<FillStmt>(stmt));
  default:
    llvm_unreachable("the grammar has no such statement in a block");
  }
}

//===----------------------------------------------------------------------===//
// Timed and plain
//===----------------------------------------------------------------------===//

static StringRef wordOf(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::At:
    return "at";
  case Stmt::Kind::Fill:
    return "fill";
  case Stmt::Kind::Idle:
    return "idle";
  default:
    return "step";
  }
}

void Checker::noteTimed(Form &form, const Stmt *stmt) {
  if (form.plain && !form.timed)
    (void)diags.report(stmt->range, diag::TimedInPlainPhase, wordOf(stmt))
        .note(form.plain->range, diag::NotePlainHere);
  if (!form.timed)
    form.timed = stmt;
}

void Checker::notePlain(Form &form, const Stmt *stmt) {
  if (form.timed && !form.plain)
    (void)diags.report(stmt->range, diag::PlainInTimedPhase, wordOf(stmt))
        .note(form.timed->range, diag::NoteTimedHere);
  if (!form.plain)
    form.plain = stmt;
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

void Checker::check(LetStmt *let) {
  Dependence dependence = check(let->value, Numbers::Integers);
  // At schedule level, a value that does not depend on the rank is computed at
  // its definition, possibly before the placement.
  if (!dependence.onRank && dependence.onPlacement && !placementKnown &&
      current)
    checkRankFree(dependence, let->value->range);
  let->variable = makeVariable(let->name, Variable::Kind::Let, dependence);
  define({let->name.text, let->name.range, let->variable, nullptr, nullptr,
          let->range});
}

void Checker::defineArguments(MutableArrayRef<Argument> args) {
  for (Argument &arg : args) {
    arg.variable = makeVariable(arg.name, Variable::Kind::Argument, {});
    defineVariable(arg.variable);
  }
}

void Checker::check(FnDecl *fn) {
  // The body is checked before the name is visible, so that functions cannot
  // recurse, directly or indirectly.
  size_t mark = scope.enter();
  defineArguments(fn->args);
  Dependence dependence;
  for (LetStmt *let : fn->lets) {
    check(let);
    dependence |= let->variable->dependence;
  }
  dependence |= check(fn->result, Numbers::Integers);
  scope.leave(mark);
  fn->dependence = dependence;
  fn->id = program.fns.size();
  program.fns.push_back(fn);
  define({fn->name.text, fn->name.range, nullptr, fn, nullptr, fn->range});
}

void Checker::check(PatternDecl *pattern) {
  size_t mark = scope.enter();
  defineArguments(pattern->args);
  Form form;
  check(pattern->body, form);
  scope.leave(mark);
  pattern->timed = form.timed;
  pattern->plain = form.plain;
  pattern->id = program.patterns.size();
  program.patterns.push_back(pattern);
  define({pattern->name.text, pattern->name.range, nullptr, nullptr, pattern,
          pattern->range});
}

//===----------------------------------------------------------------------===//
// Loops and steps
//===----------------------------------------------------------------------===//

void Checker::check(ForStmt *loop, Form &form) {
  Dependence dependence = check(loop->begin, Numbers::Integers);
  dependence |= check(loop->end, Numbers::Integers);
  size_t mark = scope.enter();
  loop->variable = makeVariable(loop->name, Variable::Kind::Loop, dependence);
  // Loop variables are often only counters, so they count as used.
  loop->variable->used = true;
  defineVariable(loop->variable);
  check(loop->body, form);
  scope.leave(mark);
}

void Checker::check(const StepsStmt *steps) {
  for (const StepRef &step : steps->steps) {
    if (step.chunk)
      check(step.chunk, Numbers::Integers);
    if (step.microbatch)
      check(step.microbatch, Numbers::Integers);
    if (step.all && steps->steps.size() > 1)
      (void)diags.report(step.range, diag::AllInOverlap);
    if (current && current->forwardOnly && step.letter != Letter::F)
      (void)diags
          .report(step.range, diag::BackwardInForwardOnly,
                  letterName(step.letter))
          .note(current->forwardOnly->range, diag::NoteDefinedHere,
                "forward_only");
  }
}

void Checker::check(UseStmt *use, Form &form) {
  for (Expr *arg : use->args)
    check(arg, Numbers::Integers);
  const Symbol *symbol = scope.find(use->pattern.text);
  if (!symbol) {
    reportUnknown(
        use->pattern, [](const Symbol &s) { return s.pattern != nullptr; }, {},
        [](DiagEngine &diags, Name name) {
          return diags.report(name.range, diag::UnknownPattern, name.text);
        });
    return;
  }
  if (!symbol->pattern) {
    (void)diags
        .report(use->pattern.range, diag::NotAPattern, use->pattern.text,
                symbol->what())
        .note(symbol->range, diag::NoteDefinedHere, use->pattern.text);
    return;
  }
  checkArgumentCount(use->pattern, use->args.size(),
                     symbol->pattern->args.size(), symbol->range);
  use->decl = symbol->pattern;
  symbol->pattern->used = true;
  if (use->decl->timed)
    noteTimed(form, use);
  else if (use->decl->plain)
    notePlain(form, use);
}

void Checker::check(const AtStmt *at) {
  check(at->slot, Numbers::Integers);
  Form inside;
  check(at->body, inside);
  const auto *steps = at->body.stmts.size() == 1
                          ? dyn_cast<StepsStmt>(at->body.stmts[0])
                          : nullptr;
  if (!steps) {
    (void)diags.report(at->body.range, diag::AtBody,
                       at->body.stmts.empty()      ? "nothing"
                       : at->body.stmts.size() > 1 ? "more than one statement"
                                                   : "another statement");
    return;
  }
  if (steps->steps[0].all)
    (void)diags.report(steps->steps[0].range, diag::AllInSlot);
}

void Checker::check(const FillStmt *fill) {
  Form inside;
  check(fill->body, inside);
  const auto *steps = fill->body.stmts.size() == 1
                          ? dyn_cast<StepsStmt>(fill->body.stmts[0])
                          : nullptr;
  if (!steps || steps->steps.size() != 1 ||
      steps->steps[0].letter != Letter::W || steps->steps[0].all ||
      steps->steps[0].chunk)
    (void)diags.report(fill->body.range, diag::FillBody);
}

} // namespace pipec
