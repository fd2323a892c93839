//===- SettingsChecker.cpp - Costs, memory, FSDP and expectations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Checker.h"

#include "Cost/Expectation.h"
#include "Cost/LayoutText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

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

/// Checks entries in the braces after `word`, whose left sides are `names`.
void Checker::checkEntries(ArrayRef<SettingEntry> entries, StringRef word,
                           ArrayRef<StringRef> names, Numbers numbers) {
  checkDistinct(entries, word, diags);
  for (const SettingEntry &entry : entries) {
    // `stages all` parses as a name, but the word is not a variable.
    bool allStages = numbers == Numbers::Integers &&
                     entry.word.text == "stages" && entry.values.size() == 1 &&
                     sourceText(entry.values[0]->range) == "all";
    for (Expr *value : entry.values)
      if (!allStages)
        checkRankFree(value, numbers);
    if (entry.isScope || !is_contained(names, leftSide(entry)))
      reportUnknownSetting(leftRange(entry), leftSide(entry), word, names,
                           names, diags);
  }
}

/// Checks `share 2 { out; in }`. Which streams there are is checked when they
/// are lowered.
void Checker::checkShare(SettingEntry &entry) {
  for (Expr *value : entry.values)
    checkRankFree(value, Numbers::Integers);
  if (entry.values.size() != 1 || entry.isLoop())
    (void)diags.report(entry.word.range, diag::WrongArgumentCount, "share",
                       countText(entry.values.size(), "number"),
                       countText(1, "number"));
  for (const SettingEntry &stream : entry.entries)
    if (!stream.isWord())
      (void)diags.report(stream.range, diag::ShareStream,
                         sourceText(stream.range).take_front(40));
}

/// Checks the entries of a block, or of a scope in it.
void Checker::checkSettings(MutableArrayRef<SettingEntry> entries,
                            FigureBlock block, FigureScope scope) {
  bool whole = scope == FigureScope::Whole;
  StringRef name = whole ? blockName(block) : StringRef(infoOf(scope).word);
  bool overlaps = whole && block == FigureBlock::Cost;
  SmallVector<const ScopeInfo *, 8> scopes;
  if (whole)
    copy_if(scopesOf(block), std::back_inserter(scopes),
            [](const ScopeInfo *scope) { return scope->numbers != 0; });
  else if (const ScopeInfo *inside = scopeInside(block, scope))
    scopes.push_back(inside);
  checkDistinct(entries, name, diags);
  for (SettingEntry &entry : entries) {
    size_t mark = this->scope.enter();
    if (entry.isLoop()) {
      checkRankFree(entry.begin, Numbers::Integers);
      checkRankFree(entry.end, Numbers::Integers);
      entry.loopVariable =
          makeVariable(entry.loopName, Variable::Kind::Loop, {});
      defineVariable(entry.loopVariable);
    }
    auto leave = make_scope_exit([&] { this->scope.leave(mark); });
    // `F & B`, with a value or as a scope.
    bool isOverlap = entry.letters.size() > 1;
    if (entry.isScope && entry.letters.size() == 1 &&
        !innerNames(block, scope, leftSide(entry)).empty()) {
      checkEntries(entry.entries, leftSide(entry),
                   innerNames(block, scope, leftSide(entry)),
                   Numbers::Rationals);
      continue;
    }
    if (overlaps && entry.isScope && entry.word.text == "section") {
      checkSectionCost(entry);
      continue;
    }
    if (overlaps && entry.isScope && entry.word.text == "share") {
      checkShare(entry);
      continue;
    }
    if (entry.isWord()) {
      (void)diags.report(entry.range, diag::SettingWithoutValue,
                         entry.word.text.take_front(40));
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
    } else if (unsigned count = inner ? inner->numbers - !whole : 0;
               inner && !entry.values.empty() && entry.values.size() != count) {
      // The scope around an inner one has its first number.
      (void)diags.report(entry.word.range, diag::WrongArgumentCount,
                         inner->word, countText(entry.values.size(), "number"),
                         countText(count, "number"));
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
    return checkEntries(stmt->entries, "fsdp",
                        {"stages", "max_active", "prefetch"},
                        Numbers::Integers);
  }
  bool isCost = stmt->kind == Stmt::Kind::Cost;
  setOnce(isCost ? current->cost : current->memory, stmt,
          blockWord(stmt->kind));
  checkSettings(stmt->entries,
                isCost ? FigureBlock::Cost : FigureBlock::Memory);
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

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
