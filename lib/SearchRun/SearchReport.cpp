//===- SearchReport.cpp - The report of a search --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/SearchReport.h"

#include "Driver/Figures.h"
#include "SearchRun/WeightedSearch.h"
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
     << (found.inGivenOrder ? ", as given\n" : "\n");
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
  if (std::vector<unsigned> units = recomputed(); !units.empty()) {
    os << "  recomputed micro-batches of each stage:";
    for (unsigned own : units)
      os << ' ' << own;
    os << '\n';
  }
}

std::vector<unsigned> SearchReport::recomputed() const {
  std::vector<unsigned> units;
  if (found.schedule.has(step_facts::bit(StepKind::R)))
    units.resize(found.schedule.numStages);
  for (const StepList &list : found.schedule.ranks)
    for (Step step : list)
      if (step.kind() == StepKind::R)
        ++units[step.stage()];
  return units;
}

unsigned SearchReport::overlaps() const {
  unsigned number = 0;
  for (const StepList &list : found.schedule.ranks)
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      number += end - begin != 1;
    }
  return number;
}

/// `placement v, 2 chunks`, or the number of stages if ranks have different
/// ones.
std::string SearchReport::placementText(bool isV, unsigned chunks) const {
  if (!request.model)
    return std::string(isV ? "placement v, " : "placement loop, ") +
           countText(chunks, "chunk");
  unsigned stages = request.model->numStages;
  return "placement " + request.placementName() + ", " +
         (stages == request.ranks * chunks ? countText(chunks, "chunk")
                                           : countText(stages, "stage"));
}

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

/// The line of the makespans, and how good it is.
void SearchReport::printEveryM(raw_ostream &os) const {
  if (!everyM)
    return;
  const EveryM &every = *everyM;
  os << "  every m = " << every.sizes(every.from) << ": makespan "
     << lineText(every.makespan) << ", proven\n  ";
  if (everyIsCertified && every.proof.bound)
    os << "certificate: no schedule with " << nameOf(found.form)
       << " backwards has less than " << lineText(every.proven.line)
       << " for every m >= " << every.proven.from << "\n  ";
  StringRef cover = coverText(result.coverage);
  if (every.optimalFrom) {
    os << "optimal for every m = " << every.sizes(*every.optimalFrom)
       << ", for this placement and memory" << (cover.empty() ? "" : ", ")
       << cover << '\n';
    return;
  }
  os << "bound " << lineText(every.bound)
     << " for every m >= " << every.boundFrom << (cover.empty() ? "" : ", ")
     << cover << ": at most ";
  if (every.makespan.rate == every.bound.rate)
    os << decimalText(*Rational::sub(every.makespan.base, every.bound.base))
       << " above the optimum\n";
  else if (auto gap = excess(every.makespan.rate, every.bound.rate))
    os << gapText(*gap) << " above the optimum in the long run\n";
  else
    os << "as much\n";
}

/// The best layout, its bound among all layouts, and the even layout.
void SearchReport::printLayouts(raw_ostream &os) const {
  if (!layouts)
    return;
  os << "  layout " << layouts->best;
  if (!hasPlacements()) {
    if (layouts->bound == found.makespan)
      os << ": none is better";
    else if (auto gap = excess(found.makespan, layouts->bound))
      os << ": at most " << gapText(*gap) << " above the best layout";
    os << ", by the bound " << decimalText(layouts->bound) << " of all layouts"
       << (request.isFixed ? " for any order of steps" : "");
  }
  os << '\n';
  os << "  layouts: ";
  if (request.isFixed)
    os << layouts->bounded << " measured";
  else
    os << layouts->searched << " searched, "
       << layouts->bounded - layouts->searched << " bounded";
  os << "; even layout " << layouts->even;
  if (!layouts->evenMakespan) {
    os << ": no schedule\n";
    return;
  }
  os << ' ' << decimalText(*layouts->evenMakespan)
     << overText(*layouts->evenMakespan, found.makespan) << '\n';
}

bool SearchReport::hasPlacements() const {
  return llvm::any_of(result.trials, [&](const PlacementTrial &trial) {
    return !isOfBest(trial);
  });
}

Rational SearchReport::boundOfAll() const {
  return layouts ? layouts->bound : result.boundOfAll();
}

/// How good the result is among all placements and layouts, which the line
/// names.
void SearchReport::printAll(raw_ostream &os) const {
  if (!hasPlacements() || !found.memoryBy.empty())
    return;
  Rational bound = boundOfAll();
  os << "  of all: ";
  if (bound == found.makespan)
    os << "optimal";
  else if (auto gap = excess(found.makespan, bound))
    os << "at most " << gapText(*gap) << " above the optimum";
  os << ", by the bound " << decimalText(bound) << " of";
  std::string sep = " ";
  for (bool isV : {false, true}) {
    std::vector<std::string> chunks;
    for (const PlacementTrial &trial : result.trials)
      if (trial.isV == isV && trial.hasSchedules() &&
          (chunks.empty() || chunks.back() != std::to_string(trial.chunks)))
        chunks.push_back(std::to_string(trial.chunks));
    if (chunks.empty())
      continue;
    os << sep << "placement " << (isV ? "v" : "loop") << " with "
       << join(chunks, ", ")
       << (chunks.size() == 1 && chunks[0] == "1" ? " chunk" : " chunks");
    sep = " and ";
  }
  StringRef cover = coverText(result.coverage);
  os << (layouts ? ", all layouts" : "") << (cover.empty() ? "" : ", ") << cover
     << '\n';
}

/// The placement, if there are several, and the form, if there are several for
/// the placement.
std::string SearchReport::nameOfTrial(const PlacementTrial &trial) const {
  std::string name;
  if (hasPlacements())
    name = placementText(trial.isV, trial.chunks);
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
  if (!found.memoryBy.empty())
    return;
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
     << placementText(request.isV, request.chunks) << ", "
     << countText(request.microbatches, "micro-batch", "es")
     << (request.slices == 1 ? ""
                             : " of " + countText(request.slices, "slice"));
  if (request.isFixed)
    os << ", schedule " << request.model->name;
  else
    os << ", backward " << nameOf(found.form);
  os << ": makespan " << decimalText(found.makespan) << '\n';
  if (found.inGivenOrder) {
    os << "  order of the micro-batches: ";
    interleave(found.schedule.order, os, " ");
    os << " (as given: " << decimalText(*found.inGivenOrder) << ")\n";
    if (hasPlacements())
      os << "  the placement is the best one for the given order\n";
  } else if (found.searchedOrders) {
    os << "  no better order of the micro-batches was found\n";
  } else if (hasFactors(found.schedule.costs, request.microbatches) &&
             !request.keepsOrder.empty()) {
    os << "  the micro-batches keep their order, with " << request.keepsOrder
       << '\n';
  }
  if (!request.isFixed)
    printBound(os);
  if (AssumedCosts costs = assumed(); !costs.empty())
    os << "  assumed: " << costs.text() << '\n';
  printMemoryBy(os);
  if (unsigned number = overlaps())
    os << "  overlaps: " << number << '\n';
  if (!found.start.empty())
    os << "  best start: " << found.start
       << (found.inGivenOrder       ? ", in this order\n"
           : found.memoryBy.empty() ? ", taken as it is\n"
                                    : "\n");
  printAll(os);
  printLayouts(os);
  printBlocks(os);
  printEveryM(os);
  printPlacements(os);
  printLibrary(os);
  printNotTaken(os);
  printPeaks(os);
  printMemory(os);
  if (certifiedAll)
    os << "  certificate of all: no schedule of these "
       << (layouts           ? "layouts"
           : hasPlacements() ? "placements"
                             : "forms")
       << " has less than " << decimalText(*certifiedAll) << '\n';
  os << "  seed " << request.seed << ", effort " << request.effort << ": "
     << (found.stopped ? "stopped early, not reproducible" : "reproducible")
     << '\n';
}

} // namespace pipec
