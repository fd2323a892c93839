//===- HeaderParser.cpp - The header of step IR text ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepText/StepParserDetail.h"

#include "Cost/GivenSettings.h"
#include "Cost/LayoutText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/StepTextDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

bool StepsParser::parseOpening() {
  skipLines();
  if (!expect("pipec-steps"))
    return false;
  const char *begin = here();
  uint64_t version = 0;
  if (!number(version, "the version of step IR"))
    return false;
  if (version != 1 && version != 2)
    return fail(since(begin).ltrim(), diag::StepsUnknownVersion, version);
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
      !parseSize("microbatches", maxUnits, schedule.numUnits) ||
      (version == 2 && !parseSlices()) || !endLine())
    skipLine();
  return true;
}

/// Parses `slices 4`, which is optional, after the micro-batches.
bool StepsParser::parseSlices() {
  skipBlanks();
  const char *begin = here();
  if (peekWord() != "slices")
    return true;
  if (!parseSize("slices", maxUnits, schedule.numSlices))
    return false;
  uint64_t units = uint64_t(schedule.numUnits) * schedule.numSlices;
  if (units > maxUnits)
    return fail(since(begin), diag::StepsSizeLimit, units, "units", maxUnits);
  schedule.numUnits = units;
  return true;
}

// An invalid size is reported and left 0, which later range checks treat as
// unknown.
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

// Parses one line of the header, starting at its keyword.
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
  } else if (entry == "connect" || entry == "graph") {
    good = parseEdges(entry);
  } else if (entry == "tie") {
    good = parseTie();
  } else if (entry == "order") {
    good = entryOnce(seenOrder, entry) && parseOrder();
  } else if (entry == "stream") {
    good = parseStream();
  } else if (entry == "section") {
    good = parseSection();
  } else if (entry == "layers") {
    good = entryOnce(seenLayers, entry) && parseLayers();
  } else if (entry == "body") {
    good = entryOnce(seenBody, entry) && parseBody();
  } else if (entry == "layout") {
    good = entryOnce(seenLayout, entry) && parseLayout();
  } else if (entry == "cost") {
    good = parseBlock(FigureBlock::Cost, schedule.costs, [&](StringRef word) {
      return word == "share" ? parseShare() : parseOverlap(word);
    });
  } else if (entry == "memory") {
    good = parseBlock(FigureBlock::Memory, schedule.memory,
                      [&](StringRef word) -> std::optional<bool> {
                        if (word != "bytes")
                          return std::nullopt;
                        return !std::exchange(schedule.memoryInBytes, true) ||
                               fail(word, diag::StepsEntryTwice, word);
                      });
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
    if (!paramNames.insert(param.first).second)
      return fail(since(begin), diag::StepsEntryTwice, param.first);
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
      // An invalid number was skipped, anything else was not.
      if (here() == entry)
        return false;
      good = false;
    }
    // Continue counting, but do not store entries beyond the limit.
    if (map.size() <= maxStages)
      map.push_back(onRank);
  }
  if (schedule.numStages && map.size() != schedule.numStages)
    return fail(since(begin).trim(), diag::StepsMapLength, map.size(),
                schedule.numStages);
  return good;
}

// Parses `0 -> 2, 1 -> 2` after `connect` or `graph`.
bool StepsParser::parseEdges(StringRef entry) {
  if (entry == "graph" && !entryOnce(seenGraph, entry))
    return false;
  if (!graph)
    graph.emplace(schedule.numStages, diags);
  if (entry == "graph")
    graph->replaceChain(rangeOf(entry));
  do {
    skipBlanks();
    const char *begin = here();
    unsigned from = 0;
    unsigned to = 0;
    if (!numberBelow(schedule.numStages, maxStages, "stage", "stages", from) ||
        !expect("->") ||
        !numberBelow(schedule.numStages, maxStages, "stage", "stages", to))
      return false;
    if (schedule.numStages &&
        failed(graph->add(from, to, rangeOf(since(begin)))))
      return false;
  } while (consume(','));
  return true;
}

// Parses `0 7` after `tie`.
bool StepsParser::parseTie() {
  const char *begin = here();
  std::vector<int64_t> stages;
  for (skipBlanks(); !atLineEnd(); skipBlanks()) {
    unsigned stage = 0;
    if (!numberBelow(schedule.numStages, maxStages, "stage", "stages", stage))
      return false;
    stages.push_back(stage);
  }
  if (stages.empty())
    return expected("a stage");
  if (!schedule.numStages)
    return true;
  if (!ties)
    ties.emplace(schedule.numStages, diags);
  return succeeded(ties->add(stages, rangeOf(since(begin).trim())));
}

// Parses `2 0 1` after `order`: a permutation of the micro-batches.
bool StepsParser::parseOrder() {
  skipBlanks();
  const char *begin = here();
  std::vector<uint32_t> order;
  std::vector<bool> seen(schedule.numUnits);
  for (; !atLineEnd(); skipBlanks()) {
    const char *at = here();
    unsigned number = 0;
    if (!numberBelow(schedule.numMicrobatches(), maxUnits, "micro-batch",
                     "micro-batches", number))
      return false;
    if (!schedule.numUnits)
      continue;
    if (seen[number])
      return fail(since(at), diag::StepsOrderTwice, number);
    seen[number] = true;
    order.push_back(number);
  }
  if (order.size() != schedule.numMicrobatches())
    return fail(since(begin).trim(), diag::StepsOrderLength, order.size(),
                schedule.numMicrobatches());
  schedule.order = std::move(order);
  return true;
}

// Parses `network 1 3` after `stream`.
bool StepsParser::parseStream() {
  StageStreams &streams = schedule.streams;
  skipBlanks();
  const char *begin = here();
  std::string name;
  if (!this->name(name, "the name of a stream"))
    return false;
  StringRef nameText = since(begin);
  if (is_contained(streams.names, name))
    return fail(nameText, diag::StepsEntryTwice, name);
  if (failed(addStream(streams.names, name, rangeOf(nameText), diags)))
    return false;
  streams.ofStage.resize(schedule.numStages);
  skipBlanks();
  if (atLineEnd())
    return expected("a stage");
  for (; !atLineEnd(); skipBlanks()) {
    unsigned stage = 0;
    const char *at = here();
    if (!numberBelow(schedule.numStages, maxStages, "stage", "stages", stage))
      return false;
    if (!schedule.numStages)
      continue;
    if (unsigned other = streams.ofStage[stage])
      return fail(since(at), diag::StreamStageTwice, stage,
                  streams.names[other - 1]);
    streams.ofStage[stage] = streams.names.size();
  }
  return true;
}

// Parses the quoted layout after `layout`. It has no escapes, so every place in
// it is one of the file.
bool StepsParser::parseLayout() {
  skipBlanks();
  if (*p != '"')
    return expected("a layout in double quotes");
  const char *begin = ++p;
  while (*p != '"' && !(*p == '\n' || p == end))
    ++p;
  StringRef layoutText = since(begin);
  if (*p != '"')
    return expected("`\"`");
  ++p;
  FailureOr<LayerLayout> layout = pipec::parseLayout(layoutText, diags);
  return succeeded(layout) &&
         (schedule.numStages == 0 ||
          succeeded(setLayout(schedule, *layout, rangeOf(layoutText), diags)));
}

// Parses `NAME = value` after the name.
bool StepsParser::parseExpectation() {
  skipBlanks();
  Expectation expect{};
  expect.source = sourceOf(here());
  StringRef metric = word();
  std::optional<Expectation::Metric> known = parseMetric(metric);
  if (!known) {
    if (metric.empty())
      expected(listOf(metricNames()));
    else
      diags
          .report(rangeOf(metric), diag::StepsUnknownMetric,
                  metric.take_front(40))
          .note(rangeOf(metric), diag::NoteChoices,
                join(metricNames(), "`, `"));
    return false;
  }
  expect.metric = *known;
  if (isPerRank(expect.metric)) {
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
    return expected("`==`, `!=`, `<`, `<=`, `>` or `>=`");
  }
  expect.relation = *relation;
  if (!rational(expect.value))
    return false;
  schedule.expectations.push_back(expect);
  return true;
}

} // namespace pipec
