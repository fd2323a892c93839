//===- ParserHeader.cpp - The header of step IR text ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/ParserDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The compute kind of that name, F, B, I or W.
static std::optional<StepKind> computeKind(StringRef name) {
  std::optional<StepKind> kind = parseStepKind(name);
  return kind && isCompute(*kind) ? kind : std::nullopt;
}

bool StepsParser::parseOpening() {
  skipLines();
  if (!expect("pipec-steps"))
    return false;
  const char *begin = here();
  uint64_t version = 0;
  if (!number(version, "the version of step IR"))
    return false;
  if (version != 1) {
    (void)diags.report(rangeOf(since(begin).ltrim()), diag::StepsUnknownVersion,
                       version);
    return false;
  }
  if (!endLine())
    return false;
  skipLines();
  if (!expect("schedule"))
    return false;
  skipBlanks();
  schedule.source = sourceOf(here());
  if (!expect("@") || !name(schedule.name, "the name of the schedule"))
    return false;
  skipBlanks();
  scheduleOpened = here();
  if (!expect("{"))
    return false;
  if (!parseSize("ranks", maxRanks, schedule.numRanks) ||
      !parseSize("stages", maxStages, schedule.numStages) ||
      !parseSize("microbatches", maxMicrobatches, schedule.numMicrobatches) ||
      !endLine())
    skipLine();
  return true;
}

// A size that is wrong is reported and left 0, which later checks of ranges
// understand as "unknown".
bool StepsParser::parseSize(StringRef name, unsigned limit, unsigned &size) {
  uint64_t value = 0;
  if (!expect(name))
    return false;
  skipBlanks();
  const char *begin = here();
  if (!number(value, ("the number of " + name).str()))
    return false;
  if (value == 0)
    (void)diags.report(rangeOf(since(begin)), diag::StepsSizeZero, name);
  else if (value > limit)
    (void)diags.report(rangeOf(since(begin)), diag::StepsSizeLimit, value, name,
                       limit);
  else
    size = value;
  return true;
}

bool StepsParser::entryOnce(bool &seen, StringRef entry) {
  if (seen)
    (void)diags.report(rangeOf(entry), diag::StepsEntryTwice, entry);
  bool first = !seen;
  seen = true;
  return first;
}

// One line of the header, its keyword not yet passed.
void StepsParser::parseHeaderEntry() {
  StringRef entry = word();
  bool good = true;
  if (entry == "forward_only") {
    good = entryOnce(seenForwardOnly, entry);
    schedule.forwardOnly = true;
  } else if (entry == "param") {
    good = parseParams();
  } else if (entry == "map") {
    if (maps.size() == 2) {
      (void)diags.report(rangeOf(entry), diag::StepsEntryTwice, "map");
      good = false;
    } else {
      good = parseMap();
      mapsKnown &= good;
    }
  } else if (entry == "cost") {
    good = parseCosts();
  } else if (entry == "memory") {
    good = entryOnce(seenMemory, entry) && parseMemory();
  } else if (entry == "fsdp") {
    good = entryOnce(seenFsdp, entry) && parseFsdp();
  } else if (entry == "expect") {
    good = parseExpectation();
  } else if (entry.empty()) {
    expected("a header entry, `rank` or `}`");
    good = false;
  } else {
    (void)diags.report(rangeOf(entry), diag::StepsUnknownEntry,
                       entry.take_front(40));
    good = false;
  }
  if (!good || !endLine())
    skipLine();
}

bool StepsParser::parseParams() {
  do {
    std::pair<std::string, int64_t> param;
    skipBlanks();
    const char *begin = here();
    if (!name(param.first, "the name of a parameter"))
      return false;
    if (!paramNames.insert(param.first).second) {
      (void)diags.report(rangeOf(since(begin)), diag::StepsEntryTwice,
                         param.first);
      return false;
    }
    if (!expect("=") || !integer(param.second))
      return false;
    schedule.params.push_back(std::move(param));
  } while (consume(','));
  return true;
}

bool StepsParser::parseMap() {
  const char *begin = here();
  std::vector<uint32_t> &map = maps.emplace_back();
  bool good = true;
  for (skipBlanks(); !atLineEnd(); skipBlanks()) {
    unsigned onRank = 0;
    const char *entry = here();
    if (!numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", onRank)) {
      // A wrong number was passed, anything else was not.
      if (here() == entry)
        return false;
      good = false;
    }
    // The count goes on, but what passes every limit is not kept.
    if (map.size() <= maxStages)
      map.push_back(onRank);
  }
  if (schedule.numStages && map.size() != schedule.numStages) {
    (void)diags.report(rangeOf(since(begin).trim()), diag::StepsMapLength,
                       map.size(), schedule.numStages);
    return false;
  }
  return good;
}

// `NAME = value`, the name already passed.
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

bool StepsParser::parseCosts() {
  CostSettings &costs = schedule.costs;
  CostSettings::Row *row = &costs.all;
  bool ofStage = consume("stage");
  if (ofStage) {
    unsigned stage = 0;
    skipBlanks();
    const char *begin = here();
    if (!numberBelow(schedule.numStages, maxStages, "stage", "stages", stage))
      return false;
    auto [entry, isNew] = costs.stages.try_emplace(stage);
    if (!isNew) {
      (void)diags.report(rangeOf(since(begin)), diag::StepsEntryTwice,
                         ("stage " + Twine(stage)).str());
      return false;
    }
    row = &entry->second;
  }
  do {
    StringRef first = word();
    if (!ofStage && first == "p2p") {
      if (!parseItem(first, costs.p2p))
        return false;
      if (costs.p2p->isNegative())
        (void)diags.report(rangeOf(first), diag::StepsNegativeCost, first);
      continue;
    }
    std::optional<StepKind> kind = computeKind(first);
    if (!kind) {
      if (first.empty() || ofStage)
        expected("`F`, `B`, `I` or `W`");
      else
        (void)diags.report(rangeOf(first), diag::StepsExpected,
                           "`F`, `B`, `I`, `W` or `p2p`",
                           ("`" + first.take_front(40) + "`").str());
      return false;
    }
    std::optional<Rational> cost;
    CostSettings::Overlap overlap;
    overlap.members.push_back(*kind);
    while (!ofStage && consume('&')) {
      StringRef member = word();
      if (!(kind = computeKind(member))) {
        expected("`F`, `B`, `I` or `W`");
        return false;
      }
      overlap.members.push_back(*kind);
    }
    StringRef members = since(first.begin()).rtrim();
    bool one = overlap.members.size() == 1;
    if (!parseItem(members, one ? row->of[unsigned(*kind)] : cost))
      return false;
    if ((one ? row->of[unsigned(*kind)] : cost)->isNegative())
      (void)diags.report(rangeOf(members), diag::StepsNegativeCost, members);
    if (one)
      continue;
    std::string key;
    for (StepKind member : overlap.members)
      key += stepKindName(member);
    if (!overlapNames.insert(key).second) {
      (void)diags.report(rangeOf(members), diag::StepsEntryTwice, members);
      return false;
    }
    overlap.cost = *cost;
    costs.overlaps.push_back(std::move(overlap));
  } while (skipBlanks(), !atLineEnd());
  return true;
}

bool StepsParser::parseMemory() {
  do {
    StringRef item = word();
    std::optional<StepKind> kind = computeKind(item);
    if (!kind && item != "limit") {
      p = item.begin();
      expected("`F`, `B`, `I`, `W` or `limit`");
      return false;
    }
    if (!parseItem(item, kind ? schedule.memory.all.of[unsigned(*kind)]
                              : schedule.memory.limit))
      return false;
  } while (skipBlanks(), !atLineEnd());
  return true;
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

bool StepsParser::parseExpectation() {
  skipBlanks();
  Expectation expect{};
  expect.source = sourceOf(here());
  StringRef metric = word();
  std::optional<Expectation::Metric> known = parseMetric(metric);
  if (!known) {
    if (metric.empty())
      expected("`makespan`, `span`, `bubble_makespan`, `bubble_span`, `idle` "
               "or `peak`");
    else
      (void)diags.report(rangeOf(metric), diag::StepsUnknownMetric,
                         metric.take_front(40));
    return false;
  }
  expect.metric = *known;
  if (expect.metric == Expectation::Metric::Idle ||
      expect.metric == Expectation::Metric::Peak) {
    unsigned ofRank = 0;
    if (!this->expect("(") ||
        !numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", ofRank) ||
        !this->expect(")"))
      return false;
    expect.rank = ofRank;
  }
  skipBlanks();
  const char *begin = here();
  while (*p == '=' || *p == '!' || *p == '<' || *p == '>')
    ++p;
  std::optional<Expectation::Relation> relation = parseRelation(since(begin));
  if (!relation) {
    p = begin;
    expected("`==`, `!=`, `<`, `<=`, `>` or `>=`");
    return false;
  }
  expect.relation = *relation;
  if (!rational(expect.value))
    return false;
  schedule.expectations.push_back(expect);
  return true;
}

} // namespace pipec
