//===- SearchReport.cpp - What is said of a search ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/SearchReport.h"

#include "Results/Figures.h"
#include "Support/Decimal.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

static StringRef nameOf(search::BoundSource source) {
  switch (source) {
  case search::BoundSource::Paths:
    return "paths";
  case search::BoundSource::Rank:
    return "rank";
  case search::BoundSource::Windows:
    return "windows";
  case search::BoundSource::Cases:
    return "cases";
  }
  llvm_unreachable("all sources are handled");
}

std::string gapText(Rational share) {
  std::optional<Rational> percent = Rational::mul(share, 100);
  if (!percent)
    return "many %";
  return toDecimal(*percent, 0, *percent < Rational(1) ? 3 : 1).text + " %";
}

void SearchReport::printLibrary(raw_ostream &os) const {
  if (!found.library) {
    if (request.library)
      os << "  the library has no schedule that fits\n";
    return;
  }
  const SearchStart &best = *found.library;
  os << "  best of the library: " << best.name;
  if (!best.params.empty())
    os << " (" << paramText(best.params) << ')';
  os << ' ' << decimalText(best.makespan);
  if (auto over = excess(best.makespan, found.makespan))
    os << " (+" << gapText(*over) << ')';
  os << '\n';
}

void SearchReport::printPeaks(raw_ostream &os) const {
  os << "  peak activations:";
  for (Rational peak : found.peaks)
    os << ' ' << decimalText(peak);
  const MemorySettings &memory = found.model.header.memory;
  if (memory.hasLimit()) {
    os << "; limit of memory";
    bool same = true;
    for (unsigned rank = 1; rank != request.ranks; ++rank)
      same &= memory.limit(rank) == memory.limit(0);
    for (unsigned rank = 0; rank != (same ? 1 : request.ranks); ++rank) {
      std::optional<Rational> limit = memory.limit(rank);
      os << ' ' << (limit ? decimalText(*limit) : "-");
    }
  }
  os << '\n';
}

static std::string nameOf(bool isV, unsigned chunks) {
  return std::string(isV ? "placement v, " : "placement loop, ") +
         countText(chunks, "chunk");
}

static Rational gapOf(const MemoryPoint &point) {
  return excess(point.makespan, point.bound).value_or(0);
}

void SearchReport::printMemory(raw_ostream &os) const {
  if (minimal) {
    os << "  memory: limit " << decimalText(minimal->limit) << " is the least ";
    if (minimal->bound < minimal->limit)
      os << "found ";
    os << "for a makespan of at most " << decimalText(minimal->goal);
    if (minimal->bound < minimal->limit)
      os << "; there is none below " << decimalText(minimal->bound);
    os << '\n';
  }
  if (frontier.empty())
    return;
  TextTable table(2);
  for (const char *heading : {"limit", "makespan", "bound", "gap", "peak"})
    table.column(heading);
  for (const MemoryPoint &point : frontier)
    table.row({decimalText(point.limit), decimalText(point.makespan),
               decimalText(point.bound), gapText(gapOf(point)),
               decimalText(point.peak)});
  table.print(os);
}

void SearchReport::printMemory(json::OStream &json) const {
  if (minimal)
    json.attributeObject("minimal_memory", [&] {
      writeExact(json, "limit", minimal->limit);
      writeExact(json, "bound", minimal->bound);
      writeExact(json, "goal", minimal->goal);
    });
  if (frontier.empty())
    return;
  json.attributeArray("frontier", [&] {
    for (const MemoryPoint &point : frontier)
      json.object([&] {
        writeExact(json, "limit", point.limit);
        writeExact(json, "makespan", point.makespan);
        writeExact(json, "bound", point.bound);
        writeExact(json, "gap", gapOf(point));
        writeExact(json, "peak", point.peak);
      });
  });
}

/// What a readable schedule repeats, and costs.
void SearchReport::printBlocks(raw_ostream &os) const {
  if (!found.bestMakespan)
    return;
  if (!found.blocks) {
    os << "  readable: no block of steps that repeats was found\n";
    return;
  }
  os << "  readable: each rank runs a block of "
     << countText(found.blocks->batch, "micro-batch", "es") << ' '
     << found.blocks->copies << " times";
  if (found.makespan > *found.bestMakespan)
    os << "; without blocks, makespan " << decimalText(*found.bestMakespan);
  os << '\n';
}

/// The best layout, what its bound says of all layouts, and the even one.
void SearchReport::printLayouts(raw_ostream &os) const {
  if (!layouts)
    return;
  os << "  layout " << layouts->best;
  if (layouts->bound == found.makespan)
    os << ": none is better";
  else if (auto gap = excess(found.makespan, layouts->bound))
    os << ": at most " << gapText(*gap) << " above the best layout";
  os << ", by the bound " << decimalText(layouts->bound) << " of all layouts\n";
  os << "  layouts: " << layouts->searched << " searched, "
     << layouts->bounded - layouts->searched << " bounded; even layout "
     << layouts->even;
  if (!layouts->evenMakespan) {
    os << ": no schedule\n";
    return;
  }
  os << ' ' << decimalText(*layouts->evenMakespan);
  if (auto over = excess(*layouts->evenMakespan, found.makespan))
    os << " (+" << gapText(*over) << ')';
  os << '\n';
}

void SearchReport::printLayouts(json::OStream &json) const {
  if (!layouts)
    return;
  json.attribute("layout", layouts->best);
  json.attributeObject("layouts", [&] {
    writeExact(json, "bound", layouts->bound);
    json.attribute("optimal", layouts->bound == found.makespan);
    json.attribute("searched", layouts->searched);
    json.attribute("bounded", layouts->bounded);
    json.attribute("even", layouts->even);
    if (layouts->evenMakespan)
      writeExact(json, "even_makespan", *layouts->evenMakespan);
    else
      json.attribute("even_makespan", nullptr);
  });
}

void SearchReport::printPlacements(raw_ostream &os) const {
  using Outcome = PlacementTrial::Outcome;
  constexpr unsigned most = search::Problem::maxLetters / 3;
  bool someHaveMore = false;
  for (const PlacementTrial &trial : placements) {
    someHaveMore |= trial.chunks > most;
    if (trial.outcome == Outcome::Best || trial.chunks > most)
      continue;
    os << "  " << nameOf(trial.isV, trial.chunks) << ": ";
    if (trial.outcome == Outcome::NoSchedule)
      os << trial.reason;
    else if (trial.outcome == Outcome::NotSearched)
      os << "not searched; bound " << decimalText(*trial.bound);
    else if (trial.outcome == Outcome::Excluded)
      os << "not better, by its bound " << decimalText(*trial.bound);
    else
      os << "makespan " << decimalText(*trial.makespan) << ", bound "
         << decimalText(*trial.bound);
    os << '\n';
  }
  if (someHaveMore)
    os << "  " << most + 1 << " or more chunks: a search takes at most " << most
       << " chunks per rank\n";
}

void SearchReport::printPlacements(json::OStream &json) const {
  using Outcome = PlacementTrial::Outcome;
  auto text = [](Outcome outcome) -> StringRef {
    switch (outcome) {
    case Outcome::Best:
      return "best";
    case Outcome::Slower:
      return "slower";
    case Outcome::Excluded:
      return "excluded";
    case Outcome::NoSchedule:
      return "no schedule";
    case Outcome::NotSearched:
      return "not searched";
    }
    llvm_unreachable("all outcomes are handled");
  };
  json.attributeArray("placements", [&] {
    for (const PlacementTrial &trial : placements)
      json.object([&] {
        json.attribute("placement", trial.isV ? "v" : "loop");
        json.attribute("chunks", trial.chunks);
        json.attribute("outcome", text(trial.outcome));
        writeExact(json, "makespan", trial.makespan);
        writeExact(json, "bound", trial.bound);
        if (!trial.reason.empty())
          json.attribute("reason", trial.reason);
      });
  });
}

void SearchReport::print(raw_ostream &os) const {
  os << "search: " << countText(request.ranks, "rank") << ", "
     << nameOf(request.isV, request.chunks) << ", "
     << countText(request.microbatches, "micro-batch", "es") << ": makespan "
     << decimalText(found.makespan) << '\n';
  os << "  bound " << decimalText(found.bound) << " (" << nameOf(found.source)
     << "): ";
  if (found.isOptimal())
    os << "optimal for this placement, split and memory\n";
  else
    os << "at most " << gapText(found.gap) << " above the optimum\n";
  if (found.model.leavesOutOccupancy)
    os << "  the bound leaves out the occupancy of edges\n";
  if (found.model.takesCheapestMicrobatch)
    os << "  the bound takes the costs of the cheapest micro-batch for all\n";
  if (certified)
    os << "  certificate: no schedule "
       << (layouts ? "of this layout has less than " : "has less than ")
       << decimalText(*certified) << '\n';
  printLayouts(os);
  printBlocks(os);
  printPlacements(os);
  printLibrary(os);
  printPeaks(os);
  printMemory(os);
  os << "  seed " << request.seed << ", effort " << request.effort << ": "
     << (found.stopped ? "stopped early, not reproducible" : "reproducible")
     << '\n';
}

void SearchReport::print(json::OStream &json) const {
  writeExact(json, "makespan", found.makespan);
  writeExact(json, "bound", found.bound);
  writeExact(json, "gap", found.gap);
  json.attribute("optimal", found.isOptimal());
  json.attribute("bound_by", nameOf(found.source));
  if (certified)
    writeExact(json, "certified", *certified);
  json.attribute("bound_relaxed", found.model.isRelaxed());
  json.attribute("ranks", request.ranks);
  json.attribute("microbatches", request.microbatches);
  json.attribute("chunks", request.chunks);
  json.attribute("placement", request.isV ? "v" : "loop");
  printLayouts(json);
  if (!placements.empty())
    printPlacements(json);
  printMemory(json);
  if (found.bestMakespan) {
    json.attribute("block", found.blocks ? found.blocks->batch : 0);
    json.attribute("copies", found.blocks ? found.blocks->copies : 0);
    writeExact(json, "makespan_without_blocks", *found.bestMakespan);
  }
  json.attribute("backward", request.split ? "split" : "whole");
  json.attributeArray("peaks", [&] {
    for (Rational peak : found.peaks) {
      if (peak.isInteger())
        json.value(peak.numerator());
      else
        json.value(peak.toDouble());
    }
  });
  if (!found.library)
    json.attribute("library", nullptr);
  else
    json.attributeObject("library", [&] {
      json.attribute("name", found.library->name);
      writeParams(json, found.library->params);
      writeExact(json, "makespan", found.library->makespan);
    });
  json.attribute("seed", request.seed);
  json.attribute("effort", request.effort);
  json.attribute("reproducible", !found.stopped);
}

} // namespace pipec
