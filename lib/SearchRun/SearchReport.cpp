//===- SearchReport.cpp - The report of a search --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/SearchReport.h"

#include "Driver/Figures.h"
#include "Support/Decimal.h"
#include "Support/Json.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

std::string gapText(Rational share) {
  std::optional<Rational> percent = Rational::mul(share, 100);
  if (!percent)
    return "many %";
  return toDecimal(*percent, 0, *percent < Rational(1) ? 3 : 1).text + " %";
}

/// ` (+3.1 %)`, by how much a makespan is above another one; empty if that
/// cannot be told.
static std::string overText(Rational makespan, Rational base) {
  std::optional<Rational> over = excess(makespan, base);
  if (!over)
    return "";
  bool isLess = over->isNegative();
  return (isLess ? " (-" : " (+") +
         gapText(isLess ? *Rational::sub(0, *over) : *over) + ")";
}

/// ` with split backwards`: the form of the result, unless the bound covers
/// all.
static std::string formText(const PlacementResult &result) {
  if (result.coverage == Coverage::All)
    return "";
  return (" with " + nameOf(result.found.form) + " backwards").str();
}

Rational SearchReport::gap() const {
  return excess(found.makespan, result.bound().bound).value_or(0);
}

AssumedCosts SearchReport::assumed() const {
  CostUse use = found.schedule.costUse();
  // The best of the library is shown with its own form.
  bool all =
      request.anyForm || (found.library && found.library->form != found.form);
  return {found.schedule.costs,
          all ? use.with(CostUse::allKinds | use.kinds()) : use};
}

void SearchReport::printLibrary(raw_ostream &os) const {
  if (found.libraryLeftOut)
    os << "  left out for lack of time: "
       << countText(found.libraryLeftOut, "schedule") << " of the library\n";
  if (!found.library) {
    if (request.library && !found.libraryLeftOut)
      os << "  the library has no schedule that fits"
         << (found.memoryBy.empty() ? "\n" : " plain\n");
    return;
  }
  const SearchStart &best = *found.library;
  os << "  best of the library: " << best.title() << ' '
     << decimalText(best.makespan) << overText(best.makespan, found.makespan)
     << '\n';
}

/// The best start that is better than the result, which must have another form.
void SearchReport::printNotTaken(raw_ostream &os) const {
  const SearchStart *best =
      bestStart(result.problem.starts, found.makespan,
                [](const SearchStart &start) { return !!start.schedule; });
  if (!best)
    return;
  bool isForm = !request.anyForm && best->form != request.form();
  std::string why =
      isForm ? ("--backward=" + nameOf(request.form())).str() : wordsFor;
  os << "  not taken" << (why.empty() ? "" : " with ") << why << ": "
     << best->title() << ' ' << decimalText(best->makespan) << ", which has ";
  if (isForm || !best->overlaps)
    os << nameOf(best->form) << " backwards\n";
  else
    os << "overlaps\n";
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

/// What keeps the result within the limit, and the best result without.
void SearchReport::printMemoryBy(raw_ostream &os) const {
  if (found.memoryBy.empty())
    return;
  os << "  memory by " << found.memoryBy << "; plain, ";
  if (const auto &plain = result.plain)
    os << "makespan " << decimalText(plain->makespan) << ", bound "
       << decimalText(plain->bound.bound) << '\n';
  else
    os << "no schedule fits\n";
}

void SearchReport::printMemoryBy(json::OStream &json) const {
  json.attribute("memory_by", textOrNull(found.memoryBy));
  json.attribute("bound_plain", boundIsPlain());
  if (found.memoryBy.empty())
    return;
  if (const auto &plain = result.plain)
    json.attributeObject("plain", [&] {
      writeExact(json, "makespan", plain->makespan);
      writeExact(json, "bound", plain->bound.bound);
    });
  else
    json.attribute("plain", nullptr);
}

static std::string nameOf(bool isV, unsigned chunks) {
  return std::string(isV ? "placement v, " : "placement loop, ") +
         countText(chunks, "chunk");
}

/// The columns of `--frontier`, in text and JSON.
static constexpr struct {
  StringLiteral name;
  Rational (*of)(const MemoryPoint &);
  std::string (*text)(Rational) = decimalText;
} frontierColumns[] = {
    {"limit", [](const MemoryPoint &point) { return point.limit; }},
    {"makespan", [](const MemoryPoint &point) { return point.makespan; }},
    {"bound", [](const MemoryPoint &point) { return point.bound; }},
    {"gap", [](const MemoryPoint &point) { return point.gap(); }, gapText},
    {"peak", [](const MemoryPoint &point) { return point.peak; }},
};

void SearchReport::printMemory(raw_ostream &os) const {
  if (minimal) {
    bool isProved = minimal->bound >= minimal->limit;
    os << "  memory: limit " << decimalText(minimal->limit) << " is the least "
       << (isProved ? "" : "found ") << "for a makespan of at most "
       << decimalText(minimal->goal) << formText(result);
    if (!isProved)
      os << "; there is none below " << decimalText(minimal->bound);
    os << '\n';
  }
  if (frontier.empty())
    return;
  if (std::string form = formText(result); !form.empty())
    os << " " << form << ":\n";
  TextTable table(2);
  for (const auto &column : frontierColumns)
    table.column(column.name.str());
  for (const MemoryPoint &point : frontier) {
    std::vector<std::string> cells;
    for (const auto &[name, of, text] : frontierColumns)
      cells.push_back(text(of(point)));
    table.row(std::move(cells));
  }
  table.print(os);
}

void SearchReport::printMemory(json::OStream &json) const {
  if (minimal)
    json.attributeObject("minimal_memory", [&] {
      writeExact(json, "limit", minimal->limit);
      writeExact(json, "bound", minimal->bound);
      writeExact(json, "goal", minimal->goal);
      json.attribute("backward", nameOf(request.form()));
    });
  if (frontier.empty())
    return;
  writeObjects(json, "frontier", frontier, [&](const MemoryPoint &point) {
    for (const auto &column : frontierColumns)
      writeExact(json, column.name, column.of(point));
    json.attribute("backward", nameOf(request.form()));
  });
}

/// The blocks of a readable schedule, and its makespan without them.
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

/// The best layout, its bound among all layouts, and the even layout.
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
  os << ' ' << decimalText(*layouts->evenMakespan)
     << overText(*layouts->evenMakespan, found.makespan) << '\n';
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
    writeExact(json, "even_makespan", layouts->evenMakespan);
  });
}

bool SearchReport::hasPlacements() const {
  return llvm::any_of(result.trials, [&](const PlacementTrial &trial) {
    return !isOfBest(trial);
  });
}

/// The placement, if there are several, and the form, if there are several for
/// the placement.
std::string SearchReport::nameOfTrial(const PlacementTrial &trial) const {
  std::string name;
  if (hasPlacements())
    name = nameOf(trial.isV, trial.chunks);
  bool hasForms = llvm::any_of(result.trials, [&](const PlacementTrial &other) {
    return other.chunks == trial.chunks && other.isV == trial.isV &&
           other.form != trial.form &&
           other.outcome != PlacementTrial::Outcome::Covered;
  });
  if (hasForms)
    name += ((name.empty() ? "backward " : ", backward ") + nameOf(trial.form))
                .str();
  return name;
}

void SearchReport::printPlacements(raw_ostream &os) const {
  using Outcome = PlacementTrial::Outcome;
  constexpr unsigned most = search::Problem::maxLetters / 3;
  bool someHaveMore = false;
  for (const PlacementTrial &trial : result.trials) {
    bool hasMore = hasPlacements() && trial.chunks > most;
    someHaveMore |= hasMore;
    if (trial.outcome == Outcome::Best || trial.outcome == Outcome::Covered ||
        hasMore)
      continue;
    os << "  " << nameOfTrial(trial) << ": ";
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
    os << "  " << most + 1 << " or more chunks: a search supports at most "
       << most << " chunks per rank\n";
}

void SearchReport::printTrial(json::OStream &json,
                              const PlacementTrial &trial) const {
  json.attribute("backward", nameOf(trial.form));
  json.attribute("outcome", nameOf(trial.outcome));
  writeExact(json, "makespan", trial.makespan);
  writeExact(json, "bound", trial.bound);
  if (!trial.reason.empty())
    json.attribute("reason", trial.reason);
}

void SearchReport::printPlacements(json::OStream &json) const {
  if (!hasPlacements())
    return;
  json.attributeArray("placements", [&] {
    for (const PlacementTrial &trial : result.trials)
      if (trial.outcome != PlacementTrial::Outcome::Covered)
        json.object([&] {
          json.attribute("placement", trial.isV ? "v" : "loop");
          json.attribute("chunks", trial.chunks);
          printTrial(json, trial);
        });
  });
}

/// The form of the result, the forms of its placement, and those that the bound
/// covers.
void SearchReport::printForms(json::OStream &json) const {
  json.attribute("backward", nameOf(found.form));
  if (request.anyForm && found.memoryBy.empty())
    json.attributeArray("forms", [&] {
      for (const PlacementTrial &trial : result.trials)
        if (isOfBest(trial))
          json.object([&] { printTrial(json, trial); });
    });
  json.attributeArray("bound_covers", [&] {
    if (result.coverage != Coverage::Whole)
      json.value("split");
    if (result.coverage != Coverage::Split)
      json.value("whole");
    if (result.coverage == Coverage::All)
      json.value("mixed");
  });
}

void SearchReport::printBound(raw_ostream &os) const {
  search::LowerBound bound = result.bound();
  StringRef cover = coverText(result.coverage);
  os << "  bound " << decimalText(bound.bound) << " (" << nameOf(bound.source)
     << "): ";
  if (isOptimal())
    os << "optimal for this placement and memory"
       << (cover.empty() ? "" : ", ");
  else
    os << "at most " << gapText(gap()) << " above the optimum"
       << (cover.empty() ? "" : " ");
  os << cover << '\n';
  if (savesMemory && boundIsPlain())
    os << "  the bound is of schedules without recomputation and copies\n";
  if (!found.memoryBy.empty())
    os << "  the bound leaves out the limit of memory\n";
  if (found.overlapsGain)
    os << "  the bound covers overlaps\n";
  if (found.model.leavesOutOccupancy)
    os << "  the bound leaves out the occupancy of edges\n";
  if (found.model.leavesOutPorts)
    os << "  the bound leaves out the ports of ranks\n";
  if (found.model.takesCheapestMicrobatch)
    os << "  the bound takes the costs of the cheapest micro-batch for all\n";
  if (certified)
    os << "  certificate: no schedule " << (layouts ? "of this layout " : "")
       << "with " << nameOf(found.form) << " backwards has less than "
       << decimalText(*certified) << '\n';
}

void SearchReport::print(raw_ostream &os) const {
  os << "search: " << countText(request.ranks, "rank") << ", "
     << nameOf(request.isV, request.chunks) << ", "
     << countText(request.microbatches, "micro-batch", "es")
     << (request.slices == 1 ? "" : " of " + countText(request.slices, "slice"))
     << ", backward " << nameOf(found.form) << ": makespan "
     << decimalText(found.makespan) << '\n';
  printBound(os);
  if (AssumedCosts costs = assumed(); !costs.empty())
    os << "  assumed: " << costs.text() << '\n';
  printMemoryBy(os);
  if (!found.start.empty())
    os << "  best start: " << found.start
       << (found.memoryBy.empty() ? ", taken as it is\n" : "\n");
  printLayouts(os);
  printBlocks(os);
  printPlacements(os);
  printLibrary(os);
  printNotTaken(os);
  printPeaks(os);
  printMemory(os);
  os << "  seed " << request.seed << ", effort " << request.effort << ": "
     << (found.stopped ? "stopped early, not reproducible" : "reproducible")
     << '\n';
}

void SearchReport::print(json::OStream &json) const {
  search::LowerBound bound = result.bound();
  writeExact(json, "makespan", found.makespan);
  writeExact(json, "bound", bound.bound);
  writeExact(json, "gap", gap());
  json.attribute("optimal", isOptimal());
  json.attribute("bound_by", nameOf(bound.source));
  if (certified)
    writeExact(json, "certified", *certified);
  json.attribute("bound_relaxed",
                 found.model.isRelaxed() || !found.memoryBy.empty());
  json.attribute("ranks", request.ranks);
  json.attribute("microbatches", request.microbatches);
  json.attribute("slices", request.slices);
  json.attribute("chunks", request.chunks);
  json.attribute("placement", request.isV ? "v" : "loop");
  printLayouts(json);
  printPlacements(json);
  printMemory(json);
  if (found.bestMakespan) {
    json.attribute("block", found.blocks ? found.blocks->batch : 0);
    json.attribute("copies", found.blocks ? found.blocks->copies : 0);
    writeExact(json, "makespan_without_blocks", *found.bestMakespan);
  }
  printForms(json);
  printMemoryBy(json);
  writeArray(json, "peaks", found.peaks, [&](Rational peak) {
    json.value(peak.isInteger() ? json::Value(peak.numerator())
                                : json::Value(peak.toDouble()));
  });
  if (const auto &best = found.library)
    json.attributeObject("library", [&] {
      json.attribute("name", best->name);
      writeParams(json, best->params);
      writeExact(json, "makespan", best->makespan);
      json.attribute("backward", nameOf(best->form));
    });
  else
    json.attribute("library", nullptr);
  if (found.libraryLeftOut)
    json.attribute("library_left_out", found.libraryLeftOut);
  json.attribute("seed", request.seed);
  json.attribute("effort", request.effort);
  json.attribute("reproducible", !found.stopped);
  assumed().write(json);
  writeRounding(found.schedule.rounding, json);
}

} // namespace pipec
