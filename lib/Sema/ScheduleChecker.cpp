//===- ScheduleChecker.cpp - Parameters, placement, stage graph -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Checker.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

/// The names of the roles, in the order of `Role`, without `None`.
static constexpr StringRef roleNames[] = {"ranks", "microbatches", "chunks",
                                          "slices"};

//===----------------------------------------------------------------------===//
// Schedule and parameters
//===----------------------------------------------------------------------===//

void Checker::check(ScheduleDecl *schedule) {
  size_t mark = scope.enter();
  CheckedSchedule checked;
  checked.decl = schedule;
  current = &checked;
  placementKnown = false;
  // If a parameter gives the number of chunks, it does not depend on the
  // placement.
  chunksBuiltin->dependence = {.onRoles = roleBit(Role::Chunks)};
  if (none_of(schedule->params, [](const ParamDecl &param) {
        return param.role == Role::Chunks;
      })) {
    chunksBuiltin->dependence = {.onPlacement = true};
    for (const Stmt *item : schedule->body.stmts)
      if (const auto *placement = dyn_cast<PlacementStmt>(item))
        chunksBuiltin->dependence.onRank |= placement->stages != nullptr;
  }
  if (any_of(schedule->params,
             [](const ParamDecl &param) { return param.role == Role::Slices; }))
    for (Variable *builtin : {slicesBuiltin, unitsBuiltin})
      if (const Symbol *other =
              scope.define({builtin->name, {}, builtin, nullptr, nullptr}))
        (void)diags.report(other->range, diag::BuiltinRedefined, other->name);
  checkParams(schedule, checked);
  // `forward_only` applies to the whole schedule, wherever it occurs.
  for (const Stmt *item : schedule->body.stmts)
    if (const auto *only = dyn_cast<ForwardOnlyStmt>(item))
      setOnce(checked.forwardOnly, only, "forward_only");
  Form form;
  for (Stmt *item : schedule->body.stmts)
    check(item, form);
  if (!checked.placement)
    (void)diags.report(schedule->name.range, diag::MissingPlacement,
                       schedule->name.text);
  current = nullptr;
  scope.leave(mark);
  program.schedules.push_back(std::move(checked));
}

/// `later` has the roles of the parameters that are not to the left.
void Checker::checkDefault(Expr *value, uint8_t later) {
  Dependence dependence = checkRankFree(value, Numbers::Integers);
  for (auto [index, name] : enumerate(roleNames))
    if (dependence.onRoles & later & roleBit(Role(index + 1)))
      (void)diags.report(value->range, diag::BeforeParameter, name);
}

/// Labels and names of parameters share one namespace, because `-D` accepts
/// both. Equal names are reported at their definition.
void Checker::checkLabels(ScheduleDecl *schedule) {
  // The first parameter with each label or name.
  StringMap<const ParamDecl *> labels, names;
  for (const ParamDecl &param : schedule->params) {
    const Name &label = param.label;
    bool ownLabel = param.role == Role::None && !label.text.empty();
    const ParamDecl *previous = nullptr;
    bool sameLabel = false;
    if (ownLabel) {
      previous = labels.lookup(label.text);
      if (!previous)
        previous = names.lookup(label.text);
      sameLabel = previous != nullptr;
    }
    if (!previous)
      previous = labels.lookup(param.name.text);
    if (previous)
      (void)diags
          .report(sameLabel ? label.range : param.name.range,
                  diag::Redefinition, sameLabel ? label.text : param.name.text)
          .note(previous->name.range, diag::NotePrevious);
    if (!label.text.empty())
      labels.try_emplace(label.text, &param);
    names.try_emplace(param.name.text, &param);
  }
}

void Checker::checkParams(ScheduleDecl *schedule, CheckedSchedule &checked) {
  uint8_t later = 0;
  for (const ParamDecl &param : schedule->params)
    later |= roleBit(param.role);
  for (ParamDecl &param : schedule->params) {
    if (param.defaultValue)
      checkDefault(param.defaultValue, later);
    later &= ~roleBit(param.role);
    param.variable = makeVariable(param.name, Variable::Kind::Param, {});
    param.variable->used = param.role != Role::None;
    defineVariable(param.variable);

    const ParamDecl *none = nullptr;
    const ParamDecl **places[] = {&none, &checked.ranks, &checked.microbatches,
                                  &checked.chunks, &checked.slices};
    const ParamDecl *&place = *places[unsigned(param.role)];
    if (place)
      (void)diags
          .report(param.label.range, diag::SecondStatement, param.label.text)
          .note(place->label.range, diag::NotePrevious);
    else
      place = &param;
  }
  checkLabels(schedule);
  if (!checked.ranks)
    reportMissingRole(*schedule, "ranks");
  if (!checked.microbatches)
    reportMissingRole(*schedule, "microbatches");
}

/// Reports that no parameter has a role, with the label that may be meant as
/// it.
void Checker::reportMissingRole(const ScheduleDecl &schedule, StringRef role) {
  InFlightDiagnostic error = diags.report(
      schedule.name.range, diag::MissingRole, schedule.name.text, role);
  for (const ParamDecl &param : schedule.params)
    // A label that is more like another role is meant as that.
    if (param.role == Role::None &&
        nearestWord(param.label.text, roleNames) == role) {
      error.suggest(param.label.range, role);
      return;
    }
}

void Checker::check(RequireStmt *require) {
  require->dependence = checkRankFree(require->condition, Numbers::Integers);
  for (const RequireStmt::Piece &piece : require->pieces)
    if (piece.name)
      require->dependence |= checkRankFree(piece.name, Numbers::Integers);
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

void Checker::check(PlacementStmt *placement) {
  if (placement->stages) {
    checkRankFree(placement->stages, Numbers::Integers);
    size_t mark = scope.enter();
    placement->stageVariable =
        makeVariable(placement->stageName, Variable::Kind::Loop, {});
    defineVariable(placement->stageVariable);
    checkRankFree(placement->rank, Numbers::Integers);
    scope.leave(mark);
    return;
  }

  StringRef name = placement->name.text;
  enum Argument { Never, Optional, Required };
  static constexpr std::pair<StringLiteral, Argument> rows[] = {
#define PIPEC_PLACEMENT(Name, Argument, Chunks, Factor, RankOf, Doc)           \
  {Name, Argument},
#include "AST/Placements.def"
  };
  const auto *row =
      find_if(rows, [&](const auto &each) { return each.first == name; });
  if (placement->argument)
    checkRankFree(placement->argument, Numbers::Integers);
  if (row == std::end(rows)) {
    SmallVector<StringRef> known(make_first_range(rows));
    InFlightDiagnostic error = diags.report(
        placement->name.range, diag::UnknownPlacement, name, join(known, ", "));
    if (StringRef meant = nearestWord(name, known); !meant.empty())
      error.suggest(placement->name.range, meant);
    return;
  }
  if (row->second == Required && !placement->argument)
    (void)diags.report(placement->name.range, diag::PlacementArgument, name,
                       "without a number of chunks");
  if (row->second == Never && placement->argument)
    (void)diags.report(placement->argument->range, diag::PlacementArgument,
                       name, "with an argument");
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

void Checker::check(const AliasStmt *stmt) {
  for (const StringLit &alias : stmt->names) {
    bool isPlain = !alias.value.empty() && all_of(alias.value, [](char c) {
      return isAlnum(c) || c == '_' || c == '-';
    });
    if (!isPlain || alias.value.starts_with("-"))
      (void)diags.report(alias.range, diag::AliasText);
    else if (auto [it, isNew] = aliases.try_emplace(alias.value, alias.range);
             !isNew)
      (void)diags.report(alias.range, diag::Redefinition, alias.value)
          .note(it->second, diag::NotePrevious);
  }
}

/// Reports aliases that are names of schedules.
void Checker::checkAliases(const Module &main) {
  for (const ScheduleDecl *schedule : main.schedules)
    if (auto it = aliases.find(schedule->name.text); it != aliases.end()) {
      SMRange first = schedule->name.range, second = it->second;
      if (second.Start.getPointer() < first.Start.getPointer())
        std::swap(first, second);
      (void)diags.report(second, diag::Redefinition, schedule->name.text)
          .note(first, diag::NotePrevious);
    }
}

//===----------------------------------------------------------------------===//
// Stage graph
//===----------------------------------------------------------------------===//

/// Reports a statement about stages that comes before the placement. `word` is
/// its first word.
void Checker::checkAfterPlacement(const Stmt *stmt, StringRef word) {
  if (placementKnown)
    return;
  SMLoc start = stmt->range.Start;
  SMRange range(start, SMLoc::getFromPointer(start.getPointer() + word.size()));
  (void)diags.report(range, diag::BeforePlacement, word);
}

void Checker::check(EdgesStmt *stmt) {
  checkAfterPlacement(stmt,
                      stmt->kind == Stmt::Kind::Graph ? "graph" : "connect");
  for (EdgeEntry &edge : stmt->edges) {
    size_t mark = scope.enter();
    if (edge.isLoop()) {
      checkRankFree(edge.begin, Numbers::Integers);
      checkRankFree(edge.end, Numbers::Integers);
      edge.loopVariable = makeVariable(edge.loopName, Variable::Kind::Loop, {});
      defineVariable(edge.loopVariable);
    }
    checkRankFree(edge.from, Numbers::Integers);
    checkRankFree(edge.to, Numbers::Integers);
    scope.leave(mark);
  }
}

} // namespace pipec
