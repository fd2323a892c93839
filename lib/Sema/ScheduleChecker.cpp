//===- ScheduleChecker.cpp - Parameters, placement, settings --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sema/Checker.h"

#include "Cost/Expectation.h"
#include "Cost/LayoutText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

/// The names of the roles, in the order of `Role`, without `None`.
static constexpr StringRef roleNames[] = {"ranks", "microbatches", "chunks"};

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
                                  &checked.chunks};
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

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

static std::string leftSide(const SettingEntry &entry) {
  return ast::leftSide(entry.letters, entry.word);
}

/// The place of the left side; letters are not a word and have none.
static SMRange leftRange(const SettingEntry &entry) {
  return entry.letters.empty() ? entry.word.range : entry.range;
}

/// Reports each entry of `block` with the same left side as an earlier one.
/// Scopes with numbers may repeat, because the numbers are not known yet, and
/// `B = -1` and `B { during = 1 }` are different figures.
static void checkDistinct(ArrayRef<SettingEntry> entries, StringRef block,
                          DiagEngine &diags) {
  std::set<std::string> seen;
  for (const SettingEntry &entry : entries)
    if ((!entry.isScope || entry.values.empty()) &&
        !seen.insert(leftSide(entry) +
                     (entry.isScope && entry.letters.size() == 1 ? "{" : ""))
             .second)
      (void)diags.report(entry.range, diag::SecondSetting, leftSide(entry),
                         block);
}

/// Reports an unknown setting, and suggests a word of `similar`; if none is
/// similar enough, lists `possible`.
static void reportUnknownSetting(SMRange range, StringRef name, StringRef block,
                                 ArrayRef<StringRef> similar,
                                 ArrayRef<StringRef> possible,
                                 DiagEngine &diags) {
  InFlightDiagnostic error =
      diags.report(range, diag::UnknownSetting, name, block);
  if (StringRef meant = nearestWord(name, similar); !meant.empty())
    error.suggest(range, meant);
  else if (!possible.empty())
    error.note(range, diag::NoteChoices, join(possible, "`, `"));
}

/// The names of the figures of a scope, except letters.
static SmallVector<StringRef, 16> wordsOf(FigureBlock block,
                                          FigureScope scope) {
  SmallVector<StringRef, 16> words;
  for (StringRef name : figureNames(block, scope))
    if (name.size() > 1)
      words.push_back(name);
  return words;
}

/// Checks the entries in the braces after `word`: second words of figures.
void Checker::checkInner(ArrayRef<SettingEntry> entries, FigureBlock block,
                         FigureScope scope, StringRef word) {
  checkDistinct(entries, word, diags);
  SmallVector<StringRef, 2> names = innerNames(block, scope, word);
  for (const SettingEntry &entry : entries) {
    for (Expr *value : entry.values)
      checkRankFree(value, Numbers::Rationals);
    if (entry.isScope || !is_contained(names, leftSide(entry)))
      reportUnknownSetting(leftRange(entry), leftSide(entry), word, names,
                           names, diags);
  }
}

/// Checks the entries of a block, or of a scope in it.
void Checker::checkSettings(ArrayRef<SettingEntry> entries, FigureBlock block,
                            FigureScope scope) {
  bool whole = scope == FigureScope::Whole;
  StringRef name = whole ? blockName(block) : StringRef(infoOf(scope).word);
  bool overlaps = whole && block == FigureBlock::Cost;
  SmallVector<const ScopeInfo *, 8> scopes;
  if (whole)
    copy_if(scopesOf(block), std::back_inserter(scopes),
            [](const ScopeInfo *scope) { return scope->numbers != 0; });
  checkDistinct(entries, name, diags);
  for (const SettingEntry &entry : entries) {
    // `F & B`, with a value or as a scope.
    bool isOverlap = entry.letters.size() > 1;
    if (entry.isScope && entry.letters.size() == 1 &&
        !innerNames(block, scope, leftSide(entry)).empty()) {
      checkInner(entry.entries, block, scope, leftSide(entry));
      continue;
    }
    const ScopeInfo *inner = nullptr;
    // The only setting with a string is the layout.
    bool isLayout = overlaps && entry.hasText();
    if (isLayout)
      (void)parseLayout(entry.text, diags);
    bool known = isOverlap         ? overlaps
                 : entry.hasText() ? isLayout
                 : entry.isScope
                     ? false
                     : findFigure(block, scope, leftSide(entry)) != nullptr;
    if (entry.isScope && isOverlap && known)
      inner = &infoOf(FigureScope::Overlap);
    for (const ScopeInfo *candidate : scopes)
      if (entry.isScope && candidate->word == entry.word.text) {
        inner = candidate;
        known = true;
      }
    for (Expr *value : entry.values)
      checkRankFree(value,
                    entry.isScope ? Numbers::Integers : Numbers::Rationals);
    if (!known) {
      SmallVector<StringRef, 16> similar, possible;
      for (const ScopeInfo *other : scopes)
        possible.push_back(other->word);
      if (entry.letters.empty()) {
        similar = wordsOf(block, scope);
        append_range(similar, possible);
      }
      if (!entry.isScope)
        possible = SmallVector<StringRef, 16>(figureNames(block, scope));
      reportUnknownSetting(leftRange(entry), leftSide(entry), name, similar,
                           possible, diags);
    } else if (inner && !entry.values.empty() &&
               entry.values.size() != inner->numbers) {
      (void)diags.report(entry.word.range, diag::WrongArgumentCount,
                         inner->word, countText(entry.values.size(), "number"),
                         countText(inner->numbers, "number"));
    }
    if (inner)
      checkSettings(entry.entries, block, inner->scope);
  }
}

/// Checks `cost(word)`.
void Checker::checkWord(const CostOfExpr *cost) {
  if (!cost->members.empty() ||
      findFigure(FigureBlock::Cost, FigureScope::Whole, cost->word.text))
    return;
  reportUnknownSetting(cost->word.range, cost->word.text, "cost",
                       wordsOf(FigureBlock::Cost, FigureScope::Whole),
                       figureNames(FigureBlock::Cost, FigureScope::Whole),
                       diags);
}

void Checker::check(const SettingsStmt *stmt) {
  if (stmt->kind == Stmt::Kind::Fsdp) {
    setOnce(current->fsdp, stmt, "fsdp");
    return checkFsdp(stmt);
  }
  bool isCost = stmt->kind == Stmt::Kind::Cost;
  setOnce(isCost ? current->cost : current->memory, stmt,
          blockWord(stmt->kind));
  checkSettings(stmt->entries,
                isCost ? FigureBlock::Cost : FigureBlock::Memory);
}

void Checker::checkFsdp(const SettingsStmt *fsdp) {
  checkDistinct(fsdp->entries, "fsdp", diags);
  for (const SettingEntry &entry : fsdp->entries) {
    // `stages all` parses as a name, but the word is not a variable.
    const auto *word = entry.values.size() == 1
                           ? dyn_cast<NameExpr>(entry.values[0])
                           : nullptr;
    if (entry.word.text == "stages" && word && word->name == "all")
      continue;
    for (Expr *value : entry.values)
      checkRankFree(value, Numbers::Integers);
    static constexpr StringRef known[] = {"stages", "max_active", "prefetch"};
    if (!is_contained(known, entry.word.text))
      reportUnknownSetting(leftRange(entry), leftSide(entry), "fsdp", known,
                           known, diags);
  }
}

/// Suggests the metric `meant`, with `(rank)` if it is one of a rank.
static void suggestMetric(InFlightDiagnostic &error, const ExpectStmt &expect,
                          StringRef meant) {
  bool perRank = isPerRank(*parseMetric(meant));
  if (perRank == expect.argument.isValid())
    error.suggest(expect.metric.range, meant);
  else if (perRank)
    error.suggest(expect.metric.range, (meant + "(rank)").str());
  else
    error.suggest({expect.metric.range.Start, expect.argument.End}, meant);
}

/// The metric in `sum(idle)`; empty if there is none.
static StringRef metricInMetric(const ExpectStmt &expect) {
  if (!expect.argument.isValid())
    return {};
  const auto *name = expect.rank ? dyn_cast<NameExpr>(expect.rank) : nullptr;
  StringRef text = !expect.rank ? StringRef("idle") // the only one in brackets
                   : name       ? name->name
                                : StringRef();
  return parseMetric(text) ? text : StringRef();
}

void Checker::check(const ExpectStmt *expect) {
  StringRef name = expect->metric.text;
  std::optional<Expectation::Metric> metric = parseMetric(name);
  StringRef inner = metricInMetric(*expect);
  if (!inner.empty()) {
    (void)diags.report(
        SMRange(expect->metric.range.Start, expect->argument.End),
        diag::MetricOfMetric, name, inner,
        (inner + (isPerRank(*parseMetric(inner)) ? "(rank)" : "")).str());
  } else if (!metric) {
    InFlightDiagnostic error =
        diags.report(expect->metric.range, diag::UnknownMetric, name,
                     join(metricNames(), ", "));
    StringRef meant = nearestWord(name, metricNames());
    // The report calls both rates `bubble`, so suggest a metric with this
    // prefix.
    for (StringRef known : metricNames())
      if (meant.empty() && known.starts_with(name))
        meant = known;
    if (!meant.empty())
      suggestMetric(error, *expect, meant);
  } else if (isPerRank(*metric) && !expect->argument.isValid()) {
    (void)diags.report(expect->metric.range, diag::MetricNeedsRank, name)
        .fixIt(expect->metric.range.End, "(rank)");
  } else if (!isPerRank(*metric) && expect->argument.isValid()) {
    (void)diags.report(expect->metric.range, diag::MetricOfRank, name)
        .fixIt(expect->argument, "");
  }
  if (inner.empty() && expect->rank && !expect->ofEveryRank())
    checkRankFree(expect->rank, Numbers::Integers);
  for (Expr *expr : {expect->value, expect->condition}) {
    if (!expr)
      continue;
    Dependence dependence = check(expr, Numbers::Rationals);
    if (!expect->ofEveryRank())
      checkRankFree(dependence, expr->range);
  }
}

} // namespace pipec
