//===- SettingsParser.cpp - Costs, memory and FSDP of step IR -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepText/StepParserDetail.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/StepTextDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Costs and memory
//===----------------------------------------------------------------------===//

/// Parses `= RATIONAL` after the name of a figure.
bool StepsParser::parseValue(StringRef name, bool given, Rational &value) {
  if (!given)
    return expect("=") && rational(value);
  return fail(name, diag::StepsEntryTwice, name);
}

std::string listOf(ArrayRef<StringRef> words) {
  std::string text;
  for (const StringRef &word : words)
    text += (text.empty()             ? "`"
             : &word == &words.back() ? " or `"
                                      : ", `") +
            word.str() + "`";
  return text;
}

/// Parses the figures of the rest of the line. `other` is called with each word
/// and handles those that are not figures.
bool StepsParser::parseFigures(FigureSet &figures, FigureBlock block,
                               Place place, ItemReader other) {
  SmallVector<StringRef, 12> names = figureNames(block, place.scope);
  do {
    StringRef name = word();
    if (std::optional<bool> taken = other ? other(name) : std::nullopt) {
      if (!*taken)
        return false;
      continue;
    }
    const FigureInfo *info = findFigure(block, place.scope, name);
    if (!info) {
      if (name.empty())
        return expected(listOf(names));
      return fail(name, diag::StepsExpected, listOf(names),
                  ("`" + name.take_front(40) + "`").str());
    }
    for (StringRef inner : innerNames(block, place.scope, name))
      if (consume(inner)) {
        info = findFigure(block, place.scope, name, inner);
        name = since(name.begin()).rtrim();
        break;
      }
    Rational value;
    if (!parseValue(name, figures.get(info->figure, place).has_value(), value))
      return false;
    figures.set(info->figure, value, place);
    if (info->refuses(value) && info->unit == FigureUnit::Size)
      (void)diags.report(rangeOf(name), diag::StepsNegativeSize, name);
    else if (info->refuses(value))
      (void)diags.report(rangeOf(name), diag::StepsNegativeCost, name);
  } while (skipBlanks(), names.size() > 1 && !atLineEnd());
  return true;
}

/// Parses the numbers after the word of a scope. A place may occur only once.
bool StepsParser::parsePlace(FigureBlock block, const ScopeInfo &scope,
                             Place &place) {
  place.scope = scope.scope;
  unsigned size = countOf(scope.scope, schedule.sizes());
  unsigned limit = countOf(scope.scope, maxSizes);
  StringRef what = scope.one, sizeOf = scope.many;
  const ScopeInfo *inside = scopeInside(block, scope.scope);
  if (scope.scope == FigureScope::Edge) {
    what = infoOf(FigureScope::Rank).one;
    sizeOf = infoOf(FigureScope::Rank).many;
  }
  skipBlanks();
  const char *begin = here();
  std::string key;
  if (scope.scope == FigureScope::Nodes) {
    uint64_t ranks = 0;
    if (!number(ranks, "a number of ranks"))
      return false;
    if (ranks == 0)
      return fail(since(begin), diag::StepsNodesZero);
    // A number larger than the number of ranks means all ranks.
    place.number = unsigned(std::min<uint64_t>(ranks, maxRanks));
    key = scope.word;
  } else {
    if (!numberBelow(size, limit, what, sizeOf, place.number))
      return false;
    key = (scope.one + " " + Twine(place.number)).str();
  }
  if (scope.numbers == 2) {
    if (!expect("->"))
      return false;
    skipBlanks();
    if (!numberBelow(size, limit, what, sizeOf, place.to))
      return false;
    if (place.number == place.to)
      return fail(since(begin), diag::EdgeInsideRank, place.to);
    key += (" -> " + Twine(place.to)).str();
  }
  if (inside && consume(inside->word)) {
    const ScopeInfo &number = infoOf(FigureScope::Microbatch);
    place.scope = inside->scope;
    skipBlanks();
    if (!numberBelow(schedule.numMicrobatches(),
                     countOf(inside->scope, maxSizes), number.one, number.many,
                     place.to))
      return false;
    key += (" " + number.one + " " + Twine(place.to)).str();
  }
  if (settingNames.insert((blockName(block) + " " + key).str()).second)
    return true;
  return fail(since(begin), diag::StepsEntryTwice, key);
}

/// Parses an entry `cost` or `memory` after its word.
bool StepsParser::parseBlock(FigureBlock block, FigureSet &figures,
                             ItemReader other) {
  for (const ScopeInfo *scope : scopesOf(block))
    if (scope->numbers && consume(scope->word)) {
      Place place;
      return parsePlace(block, *scope, place) &&
             parseFigures(figures, block, place);
    }
  return parseFigures(figures, block, {}, other);
}

/// Parses `2 out in` after `share`.
bool StepsParser::parseShare() {
  uint64_t ranks = 0;
  skipBlanks();
  const char *begin = here();
  if (!number(ranks, "a number of ranks"))
    return false;
  if (ranks == 0)
    return fail(since(begin), diag::ShareEmpty);
  schedule.costs.shares.push_back(
      {unsigned(std::min<uint64_t>(ranks, maxRanks)), {}});
  do {
    StringRef name = word();
    if (name.empty())
      return expected("a stream such as `out`");
    if (failed(schedule.costs.addShared(name, rangeOf(name), diags)))
      return false;
  } while (skipBlanks(), !atLineEnd());
  return true;
}

/// Parses `F & B = 5/2` or `F & B factor = 9/10` after the first word. Returns
/// nothing if it is not an overlap.
std::optional<bool> StepsParser::parseOverlap(StringRef first) {
  auto member = [](StringRef name) -> std::optional<StepKind> {
    std::optional<StepKind> kind = parseStepKind(name);
    return kind && computesUnit(*kind) ? kind : std::nullopt;
  };
  std::optional<StepKind> kind = member(first);
  if (!kind || !consume('&'))
    return std::nullopt;
  CostSettings::Overlap overlap;
  overlap.members.push_back(*kind);
  do {
    StringRef name = word();
    if (!(kind = member(name)))
      return expected("`F`, `B`, `I` or `W`");
    overlap.members.push_back(*kind);
  } while (consume('&'));
  StringRef members = since(first.begin()).rtrim();
  overlap.isFactor = consume("factor");
  if (!parseValue(members, /*given=*/false, overlap.cost))
    return false;
  if (overlap.cost.isNegative())
    (void)diags.report(rangeOf(members), diag::StepsNegativeCost, members);
  std::string key = "overlap";
  for (StepKind kind : overlap.members)
    key += stepKindName(kind);
  if (!settingNames.insert(key).second)
    return fail(members, diag::StepsEntryTwice, members);
  schedule.costs.overlaps.push_back(std::move(overlap));
  return true;
}

//===----------------------------------------------------------------------===//
// FSDP
//===----------------------------------------------------------------------===//

bool StepsParser::parseFsdp() {
  FsdpSettings &fsdp = schedule.fsdp.emplace();
  if (!expect("stages") || !parseStages(fsdp.stages))
    return false;
  uint64_t value = 0;
  if (consume("max_active")) {
    skipBlanks();
    const char *begin = here();
    if (!number(value, "a number of stages"))
      return false;
    if (value == 0)
      (void)diags.report(rangeOf(since(begin)), diag::StepsMaxActiveZero);
    // A number larger than the number of stages means all stages.
    fsdp.maxActive = std::min<uint64_t>(value, UINT32_MAX);
  }
  if (consume("prefetch")) {
    if (!number(value, "a number of steps"))
      return false;
    fsdp.prefetch = std::min<uint64_t>(value, UINT32_MAX);
  }
  return !consume("reduce") || parseStages(fsdp.reduced);
}

/// `all`, `none`, or numbers in ascending order.
bool StepsParser::parseStages(std::optional<std::vector<unsigned>> &given) {
  if (consume("all"))
    return true;
  std::vector<unsigned> &stages = given.emplace();
  if (consume("none"))
    return true;
  do {
    unsigned stage = 0;
    skipBlanks();
    const char *begin = here();
    if (!numberBelow(schedule.numStages, maxStages, "stage", "stages", stage))
      return false;
    if (!stages.empty() && stage <= stages.back())
      return fail(since(begin), diag::StepsStageOrder, stage, stages.back());
    stages.push_back(stage);
  } while (skipBlanks(), *here() >= '0' && *here() <= '9');
  return true;
}

} // namespace pipec
