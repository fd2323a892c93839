//===- StmtChecker.cpp - Statements ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Checker.h"

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
    checkInteger(cast<IdleStmt>(stmt)->count);
    return;
  case Stmt::Kind::Use:
    return check(cast<UseStmt>(stmt), form);
  case Stmt::Kind::At:
    noteTimed(form, stmt);
    return check(cast<AtStmt>(stmt));
  case Stmt::Kind::Fill:
    noteTimed(form, stmt);
    return check(cast<FillStmt>(stmt));
  // Only in schedules:
  case Stmt::Kind::Require:
    return check(cast<RequireStmt>(stmt));
  case Stmt::Kind::Placement:
    check(cast<PlacementStmt>(stmt));
    setOnce(current->placement, cast<PlacementStmt>(stmt), "placement");
    placementKnown = true;
    return;
  case Stmt::Kind::Graph:
    setOnce(current->graph, cast<EdgesStmt>(stmt), "graph");
    [[fallthrough]];
  case Stmt::Kind::Connect:
    return check(cast<EdgesStmt>(stmt));
  case Stmt::Kind::Tie:
    checkAfterPlacement(stmt, "tie");
    for (Expr *stage : cast<TieStmt>(stmt)->stages)
      checkRankFree(stage, Numbers::Integers);
    return;
  case Stmt::Kind::Alias:
    return check(cast<AliasStmt>(stmt));
  case Stmt::Kind::Sections:
    setOnce(current->sections, cast<SectionsStmt>(stmt), "sections");
    return check(cast<SectionsStmt>(stmt));
  case Stmt::Kind::Overlap:
    setOnce(current->overlap, cast<OverlapStmt>(stmt), "overlap");
    return check(cast<OverlapStmt>(stmt));
  case Stmt::Kind::ForwardOnly:
    return; // noted before
  case Stmt::Kind::Cost:
  case Stmt::Kind::Memory:
  case Stmt::Kind::Fsdp:
    return check(cast<SettingsStmt>(stmt));
  case Stmt::Kind::Expect:
    current->expects.push_back(cast<ExpectStmt>(stmt));
    return check(cast<ExpectStmt>(stmt));
  case Stmt::Kind::Phase: {
    auto *phase = cast<PhaseStmt>(stmt);
    Form inside;
    check(phase->body, inside);
    phase->timed = inside.timed != nullptr;
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Timed and plain
//===----------------------------------------------------------------------===//

static StringRef wordOf(const Stmt *stmt) {
  return isa<AtStmt>(stmt)     ? "at"
         : isa<FillStmt>(stmt) ? "fill"
         : isa<IdleStmt>(stmt) ? "idle"
                               : "step";
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
    checkInteger(step.chunk);
    checkInteger(step.microbatch);
    checkInteger(step.slice);
    if (step.all && steps->steps.size() > 1)
      (void)diags.report(step.range, diag::AllInOverlap);
    bool alone = step.letter >= Letter::Update;
    if (alone && steps->steps.size() > 1)
      (void)diags.report(step.range, diag::StepInOverlap,
                         letterName(step.letter));
    if (step.letter == Letter::Update && step.microbatch)
      (void)diags.report(step.microbatch->range, diag::UpdateOfUnit);
    if (current && current->forwardOnly && step.letter != Letter::F)
      (void)diags
          .report(step.range, diag::BackwardInForwardOnly,
                  letterName(step.letter))
          .note(current->forwardOnly->range, diag::NoteDefinedHere,
                "forward_only");
  }
}

/// The steps of a block that consists of one statement; null for others.
static const StepsStmt *onlySteps(const Block &block) {
  return block.stmts.size() == 1 ? dyn_cast<StepsStmt>(block.stmts[0])
                                 : nullptr;
}

void Checker::check(const AtStmt *at) {
  check(at->slot, Numbers::Integers);
  Form inside;
  check(at->body, inside);
  const StepsStmt *steps = onlySteps(at->body);
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
  const StepsStmt *steps = onlySteps(fill->body);
  if (!steps || steps->steps.size() != 1 ||
      steps->steps[0].letter != Letter::W || steps->steps[0].all ||
      steps->steps[0].chunk)
    (void)diags.report(fill->body.range, diag::FillBody);
}

} // namespace pipec
