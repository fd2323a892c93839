//===- SettingsParser.cpp - Costs, memory and FSDP of step IR ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingWords.h"
#include "StepText/StepParserDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// `WORD = RATIONAL`, behind the word.
bool StepsParser::parseItem(StringRef name, std::optional<Rational> &value) {
  Rational number;
  if (value) {
    (void)diags.report(rangeOf(name), diag::StepsEntryTwice, name);
    return false;
  }
  if (!expect("=") || !rational(number))
    return false;
  value = number;
  return true;
}

/// "`F`, `B` or `limit`"
template <typename Settings> static std::string wordsOf(StringRef more = "") {
  std::vector<StringRef> words;
  for (const SettingWord<Settings> &word : settingWords<Settings>())
    words.push_back(word.name);
  if (!more.empty())
    words.push_back(more);
  std::string text;
  for (StringRef word : words)
    text += (word == words.front()  ? "`"
             : word == words.back() ? " or `"
                                    : ", `") +
            word.str() + "`";
  return text;
}

void StepsParser::reportWord(StringRef found, StringRef wanted) {
  if (found.empty())
    expected(wanted);
  else
    (void)diags.report(rangeOf(found), diag::StepsExpected, wanted,
                       ("`" + found.take_front(40) + "`").str());
}

/// The items of the rest of the line. What `other` takes care of, given the
/// word, is no word of `settings`.
template <typename Settings>
bool StepsParser::parseItems(Settings &settings, StringRef wanted,
                             ItemReader other) {
  do {
    StringRef name = word();
    if (std::optional<bool> taken = other ? other(name) : std::nullopt) {
      if (!*taken)
        return false;
      continue;
    }
    std::optional<Rational> *place = findSetting(settings, name);
    if (!place) {
      reportWord(name, wanted);
      return false;
    }
    if (!parseItem(name, *place))
      return false;
    if (std::is_same_v<Settings, MemorySettings> ||
        std::is_same_v<Settings, MemorySettings::Row>) {
      if (isMemorySize(name) && (*place)->isNegative())
        (void)diags.report(rangeOf(name), diag::StepsNegativeSize, name);
    } else if ((*place)->isNegative()) {
      (void)diags.report(rangeOf(name), diag::StepsNegativeCost, name);
    }
  } while (skipBlanks(), !atLineEnd());
  return true;
}

/// `factor = RATIONAL`, behind the word.
bool StepsParser::parseFactor(StringRef name, std::optional<Rational> &factor) {
  if (!parseItem(name, factor))
    return false;
  if (factor->isNegative())
    (void)diags.report(rangeOf(name), diag::StepsNegativeCost, name);
  return true;
}

/// The number behind `what` in an entry that comes once for each number.
bool StepsParser::parseIndex(StringRef entry, StringRef what, unsigned size,
                             unsigned limit, StringRef sizeOf,
                             unsigned &index) {
  skipBlanks();
  const char *begin = here();
  if (!numberBelow(size, limit, what, sizeOf, index))
    return false;
  return scopeOnce(entry, (what + " " + Twine(index)).str(), since(begin));
}

bool StepsParser::scopeOnce(StringRef entry, const std::string &name,
                            StringRef range) {
  if (settingNames.insert((entry + " " + name).str()).second)
    return true;
  (void)diags.report(rangeOf(range), diag::StepsEntryTwice, name);
  return false;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

bool StepsParser::parseCosts() {
  CostSettings &costs = schedule.costs;
  unsigned index = 0;
  if (consume("stage"))
    return parseIndex("cost", "stage", schedule.numStages, maxStages, "stages",
                      index) &&
           parseItems(costs.stages[index], wordsOf<CostSettings::Row>());
  if (consume("rank"))
    return parseIndex("cost", "rank", schedule.numRanks, maxRanks, "ranks",
                      index) &&
           parseRankCosts(index);
  if (consume("microbatch")) {
    std::optional<Rational> factor;
    if (!parseIndex("cost", "micro-batch", schedule.numMicrobatches,
                    maxMicrobatches, "micro-batches", index))
      return false;
    skipBlanks();
    const char *begin = here();
    if (!expect("factor") || !parseFactor(since(begin), factor))
      return false;
    schedule.costs.microbatchFactors[index] = *factor;
    return true;
  }
  if (consume("nodes"))
    return parseNodes();
  if (consume("edge"))
    return parseEdge();
  return parseItems(costs, wordsOf<CostSettings>(),
                    [&](StringRef name) { return parseOverlap(name); });
}

bool StepsParser::parseRankCosts(unsigned rank) {
  CostSettings::Row row;
  std::optional<Rational> factor;
  if (!parseItems(row, wordsOf<CostSettings::Row>("factor"),
                  [&](StringRef name) -> std::optional<bool> {
                    if (name != "factor")
                      return std::nullopt;
                    return parseFactor(name, factor);
                  }))
    return false;
  if (!row.empty())
    schedule.costs.ranks[rank] = row;
  if (factor)
    schedule.costs.rankFactors[rank] = *factor;
  return true;
}

bool StepsParser::parseNodes() {
  uint64_t size = 0;
  skipBlanks();
  const char *begin = here();
  if (!number(size, "a number of ranks"))
    return false;
  StringRef range = since(begin);
  if (size == 0) {
    (void)diags.report(rangeOf(range), diag::StepsNodesZero);
    return false;
  }
  if (!scopeOnce("cost", "nodes", range))
    return false;
  // More than there are ranks means the same as all of them.
  CostSettings::Nodes &nodes = schedule.costs.nodes.emplace();
  nodes.size = unsigned(std::min<uint64_t>(size, maxRanks));
  return parseItems(nodes.edge, wordsOf<CostSettings::Edge>());
}

bool StepsParser::parseEdge() {
  unsigned from = 0, to = 0;
  skipBlanks();
  const char *begin = here();
  if (!numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", from) ||
      !expect("->"))
    return false;
  skipBlanks();
  if (!numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", to))
    return false;
  StringRef range = since(begin);
  if (from == to) {
    (void)diags.report(rangeOf(range), diag::EdgeInsideRank, from);
    return false;
  }
  return scopeOnce("cost", ("edge " + Twine(from) + " -> " + Twine(to)).str(),
                   range) &&
         parseItems(schedule.costs.edges[{from, to}],
                    wordsOf<CostSettings::Edge>());
}

/// `F & B = 5/2` or `F & B factor = 9/10`, behind the first word; nothing when
/// it is no overlap.
std::optional<bool> StepsParser::parseOverlap(StringRef first) {
  auto member = [](StringRef name) -> std::optional<StepKind> {
    std::optional<StepKind> kind = parseStepKind(name);
    return kind && isCompute(*kind) ? kind : std::nullopt;
  };
  std::optional<StepKind> kind = member(first);
  if (!kind || !consume('&'))
    return std::nullopt;
  CostSettings::Overlap overlap;
  overlap.members.push_back(*kind);
  do {
    StringRef name = word();
    if (!(kind = member(name))) {
      expected("`F`, `B`, `I` or `W`");
      return false;
    }
    overlap.members.push_back(*kind);
  } while (consume('&'));
  StringRef members = since(first.begin()).rtrim();
  overlap.isFactor = consume("factor");
  std::optional<Rational> cost;
  if (!parseItem(members, cost))
    return false;
  if (cost->isNegative())
    (void)diags.report(rangeOf(members), diag::StepsNegativeCost, members);
  std::string key = "overlap";
  for (StepKind kind : overlap.members)
    key += stepKindName(kind);
  if (!settingNames.insert(key).second) {
    (void)diags.report(rangeOf(members), diag::StepsEntryTwice, members);
    return false;
  }
  overlap.cost = *cost;
  schedule.costs.overlaps.push_back(std::move(overlap));
  return true;
}

//===----------------------------------------------------------------------===//
// Memory and FSDP
//===----------------------------------------------------------------------===//

bool StepsParser::parseMemory() {
  MemorySettings &memory = schedule.memory;
  unsigned index = 0;
  if (consume("stage"))
    return parseIndex("memory", "stage", schedule.numStages, maxStages,
                      "stages", index) &&
           parseItems(memory.stages[index], wordsOf<MemorySettings::Row>());
  return parseItems(memory, wordsOf<MemorySettings>());
}

bool StepsParser::parseFsdp() {
  FsdpSettings &fsdp = schedule.fsdp.emplace();
  if (!expect("stages"))
    return false;
  if (!consume("all")) {
    std::vector<unsigned> &stages = fsdp.stages.emplace();
    if (!consume("none"))
      do {
        unsigned stage = 0;
        skipBlanks();
        const char *begin = here();
        if (!numberBelow(schedule.numStages, maxStages, "stage", "stages",
                         stage))
          return false;
        if (!stages.empty() && stage <= stages.back()) {
          (void)diags.report(rangeOf(since(begin)), diag::StepsStageOrder,
                             stage, stages.back());
          return false;
        }
        stages.push_back(stage);
      } while (skipBlanks(), *here() >= '0' && *here() <= '9');
  }
  uint64_t value = 0;
  if (consume("max_active")) {
    skipBlanks();
    const char *begin = here();
    if (!number(value, "a number of stages"))
      return false;
    if (value == 0)
      (void)diags.report(rangeOf(since(begin)), diag::StepsMaxActiveZero);
    // More than there are stages means the same as all of them.
    fsdp.maxActive = std::min<uint64_t>(value, UINT32_MAX);
  }
  if (consume("prefetch")) {
    if (!number(value, "a number of steps"))
      return false;
    fsdp.prefetch = std::min<uint64_t>(value, UINT32_MAX);
  }
  return true;
}

} // namespace pipec
