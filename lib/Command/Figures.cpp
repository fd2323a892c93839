//===- Figures.cpp - What two commands compare schedules by ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Figures.h"

#include "IR/SettingWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The sends; in a schedule without transfers, what they would be.
static uint64_t countTransfers(const Schedule &schedule) {
  bool placed = schedule.hasP2P();
  uint64_t transfers = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      if (placed) {
        transfers += isSend(step.kind());
        continue;
      }
      bool forward = step.kind() == StepKind::F;
      if (!forward && !makesInputGradient(step.kind()))
        continue;
      if (forward ? schedule.isLastStage(step.stage()) : step.stage() == 0)
        continue;
      unsigned next = forward ? step.stage() + 1 : step.stage() - 1;
      transfers += schedule.rankOf(step.stage(), step.microbatch()) !=
                   schedule.rankOf(next, step.microbatch());
    }
  return transfers;
}

static void raise(MemoryPeaks &peaks, const MemoryPeaks &other) {
  peaks.activations = std::max(peaks.activations, other.activations);
  peaks.receives = std::max(peaks.receives, other.receives);
  peaks.parameters = std::max(peaks.parameters, other.parameters);
  peaks.total = std::max(peaks.total, other.total);
  peaks.receiveCount = std::max(peaks.receiveCount, other.receiveCount);
}

FailureOr<Figures> measure(const Schedule &schedule,
                           std::optional<WaitModel> model, DiagEngine &diags) {
  FailureOr<Simulation> run =
      schedule.hasP2P()
          ? simulate(schedule, model.value_or(WaitModel::Edge), diags)
          : simulate(schedule, diags);
  if (failed(run))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  Figures figures;
  figures.makespan = run->time(run->makespan());
  figures.span = run->time(run->span());
  figures.work = run->time(run->work());
  auto bubbleMakespan = run->bubbleRate(run->makespan());
  auto bubbleSpan = run->bubbleRate(run->span());
  if (!bubbleMakespan || !bubbleSpan)
    return diags.report(schedule.source, diag::TimesTooLarge);
  figures.bubbleMakespan = *bubbleMakespan;
  figures.bubbleSpan = *bubbleSpan;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    figures.ranks.push_back(
        {run->time(run->makespan() - run->ranks()[rank].work),
         memory->peaks(rank)});
    raise(figures.memory, figures.ranks.back().memory);
  }
  figures.transfers = countTransfers(schedule);
  return figures;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// `value` rounded half away from zero to `digits` behind the point; with
/// `exact`, nothing when that changes it.
static std::optional<std::string> decimal(Rational value, unsigned digits,
                                          bool exact) {
  __int128 scale = 1;
  for (unsigned i = 0; i != digits; ++i)
    scale *= 10;
  __int128 denominator = value.denominator();
  __int128 scaled = __int128(value.numerator()) * scale;
  bool negative = scaled < 0;
  scaled = negative ? -scaled : scaled;
  if (exact && scaled % denominator != 0)
    return std::nullopt;
  __int128 whole = (scaled + denominator / 2) / denominator;
  std::string text;
  for (unsigned i = 0; whole || i <= digits; ++i, whole /= 10) {
    if (i == digits && digits)
      text += '.';
    text += char('0' + int(whole % 10));
  }
  if (negative)
    text += '-';
  std::reverse(text.begin(), text.end());
  if (exact && digits)
    text = StringRef(text).rtrim('0').rtrim('.').str();
  return text;
}

std::string costText(const CostSettings &costs) {
  std::string text;
  raw_string_ostream os(text);
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
    if (std::optional<Rational> cost = costs.of(kind, maxStages))
      os << stepKindName(kind) << " = " << *cost << ", ";
  for (const CostSettings::Overlap &overlap : costs.overlaps) {
    ListSeparator between(" & ");
    for (StepKind member : overlap.members)
      os << between << stepKindName(member);
    os << (overlap.isFactor ? " factor = " : " = ") << overlap.cost << ", ";
  }
  os << "p2p = " << costs.p2p.value_or(Rational(0));
  for (const SettingWord<CostSettings> &word : settingWords<CostSettings>())
    if (word.name.size() > 1 && word.name != "p2p")
      if (const auto *cost = findSetting(costs, word.name); *cost)
        os << ", " << word.name << " = " << **cost;
  for (const auto &[stage, row] : costs.stages)
    os << ", stage " << stage << " has its own";
  std::set<unsigned> ranks;
  for (const auto &[rank, row] : costs.ranks)
    ranks.insert(rank);
  for (const auto &[rank, factor] : costs.rankFactors)
    ranks.insert(rank);
  for (unsigned rank : ranks)
    os << ", rank " << rank << " has its own";
  for (const auto &[microbatch, factor] : costs.microbatchFactors)
    os << ", micro-batch " << microbatch << " has its own";
  if (costs.nodes)
    os << ", nodes of " << costs.nodes->size << " have their own";
  for (const auto &[ends, edge] : costs.edges)
    os << ", edge " << ends.first << " -> " << ends.second << " has its own";
  return text;
}

std::string rateText(Rational rate) {
  return *decimal(rate, 4, /*exact=*/false);
}

std::string numberText(Rational value) {
  if (auto text = decimal(value, 6, /*exact=*/true))
    return *text;
  return "~" + *decimal(value, 4, /*exact=*/false);
}

void writeExact(json::OStream &json, StringRef key, Rational value) {
  if (auto text = decimal(value, 15, /*exact=*/true)) {
    json.attributeBegin(key);
    json.rawValue(*text);
    json.attributeEnd();
    return;
  }
  json.attribute(key, value.toDouble());
  json.attribute((key + "_exact").str(), formatv("{0}", value).str());
}

} // namespace pipec
