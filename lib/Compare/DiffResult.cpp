//===- DiffResult.cpp - How two schedules differ --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/DiffResult.h"

#include "Cost/SettingsText.h"
#include "Driver/Figures.h"
#include "IR/StepPlaces.h"
#include "Support/DiagPrinter.h"
#include "Support/Json.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// A step at which the lists of a rank diverge.
struct SideStep {
  /// Empty if the list has ended.
  std::optional<StepPlace> place;
  SourceLoc source;
};

} // namespace

static SideStep stepOf(const DiffSide &side, unsigned rank, size_t index) {
  const StepList &list = side.schedule.ranks[rank];
  if (index == list.size())
    return {};
  // Show the whole overlap or batch, since another member may differ.
  size_t begin = index;
  while (begin != 0 && list[begin - 1].joined())
    --begin;
  SideStep step{StepPlaces(side.schedule).name(rank, begin),
                list[begin].source()};
  for (size_t i = begin; list[i].joined(); ++i)
    step.place->step += (isCompute(list[i].kind()) ? " & " : " + ") +
                        stepText(side.schedule, list[i + 1]);
  return step;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr struct {
  StringLiteral title, key;
  uint64_t (*of)(const DiffSide &);
} counts[] = {
    {"ranks", "ranks",
     [](auto &side) -> uint64_t { return side.schedule.numRanks; }},
    {"stages", "stages",
     [](auto &side) -> uint64_t { return side.schedule.numStages; }},
    {"micro-batches", "microbatches",
     [](auto &side) -> uint64_t { return side.schedule.numMicrobatches(); }},
    {"slices", "slices",
     [](auto &side) -> uint64_t { return side.schedule.numSlices; }},
    {"steps", "steps",
     [](auto &side) -> uint64_t { return side.schedule.numSteps(); }},
    {"transfers", "transfers",
     [](auto &side) -> uint64_t { return side.figures.transfers; }},
};
static constexpr struct {
  StringLiteral name;
  Rational Report::*figure;
  std::string (*text)(Rational) = decimalText;
} times[] = {
    {"makespan", &Report::makespan},
    {"bubble_makespan", &Report::bubbleMakespan, rateText},
    {"span", &Report::span},
    {"bubble_span", &Report::bubbleSpan, rateText},
    {"work", &Report::work},
};

static void printFigures(const DiffResult &result, raw_ostream &os) {
  const DiffSide *sides = result.sides;
  TextTable table("<||");
  auto row = [&](const Twine &title, auto figure) {
    table.row({title.str(), figure(sides[0]), figure(sides[1])});
  };
  row("", [](const DiffSide &side) { return side.schedule.name; });
  for (const auto &[title, key, of] : counts) {
    if (title == "slices" && of(sides[0]) == 1 && of(sides[1]) == 1)
      continue;
    row(title, [of = of](const DiffSide &side) { return utostr(of(side)); });
    if (title != "stages")
      continue;
    if (!sides[0].schedule.graph.isChain() ||
        !sides[1].schedule.graph.isChain())
      row("edges of stages", [](const DiffSide &side) {
        size_t edges = 0;
        side.schedule.graph.forEachEdge(side.schedule.numStages,
                                        [&](StageGraph::Edge) { ++edges; });
        return utostr(edges);
      });
    if (!sides[0].schedule.layers.empty() || !sides[1].schedule.layers.empty())
      row("layout", [](const DiffSide &side) -> std::string {
        const StageLayers &layers = side.schedule.layers;
        return layers.empty() ? "-" : layoutText(layers);
      });
  }
  for (const auto &[name, figure, text] : times)
    row(name, [&, figure = figure, text = text](const DiffSide &side) {
      return text(side.figures.*figure);
    });
  row("peak", [](const DiffSide &side) {
    return decimalText(side.figures.memory.activations);
  });
  size_t ranks =
      std::max(sides[0].schedule.numRanks, sides[1].schedule.numRanks);
  for (auto [title, figure] :
       {std::pair<StringRef, Rational (*)(const RankReport &)>(
            "peak",
            [](const RankReport &rank) { return rank.memory.activations; }),
        {"idle", [](const RankReport &rank) { return rank.idle; }}})
    for (size_t rank = 0; rank != ranks; ++rank)
      row(title + " of rank " + Twine(rank),
          [&, figure = figure](const DiffSide &side) -> std::string {
            if (rank >= side.schedule.numRanks)
              return "-";
            return decimalText(figure(side.figures.ranks[rank]));
          });
  table.print(os);
  std::string costs[2];
  // Of the kinds of both, so that equal costs are equal lines.
  CostUse uses[2] = {sides[0].schedule.costUse(), sides[1].schedule.costUse()};
  uint8_t kinds = uses[0].kinds() | uses[1].kinds();
  for (auto [text, side, use] : zip_equal(costs, result.sides, uses))
    text = costTitle(side.schedule) + ": " +
           costText(side.schedule.costs, use.with(kinds));
  if (costs[0] == costs[1])
    os << '\n' << costs[0] << '\n';
  else
    os << "\nfirst:  " << costs[0] << "\nsecond: " << costs[1] << '\n';
}

static std::string textOf(const SideStep &step, const SourceFiles &files) {
  if (!step.place)
    return "the end of its list";
  std::string text = "`" + step.place->step + "`";
  SMLoc loc = files.expand(step.source);
  if (!loc.isValid())
    return text;
  LineColumn at = files.lineColumn(loc);
  return text + " (" + terminalText(files.shownName(at.file)) + ":" +
         std::to_string(at.line) + ":" + std::to_string(at.column) + ")";
}

static void printDivergences(const DiffResult &result, const SourceFiles &files,
                             raw_ostream &os) {
  const auto &divergences = result.divergences;
  os << '\n';
  if (result.which == CompareSteps::Compute)
    os << "compute steps alone, since one of the two has no communication:\n";
  for (size_t rank = 0; rank != divergences.size();) {
    if (!divergences[rank]) {
      size_t end = rank + 1;
      while (end != divergences.size() && !divergences[end])
        ++end;
      os << (end - rank == 1 ? "rank " : "ranks ") << rank;
      if (end - rank > 1)
        os << (end - rank == 2 ? " and " : " to ") << end - 1;
      os << ": the same\n";
      rank = end;
      continue;
    }
    SideStep first = stepOf(result.sides[0], rank, divergences[rank]->first);
    SideStep second = stepOf(result.sides[1], rank, divergences[rank]->second);
    os << "rank " << rank << ": step "
       << (first.place ? first.place : second.place)->position;
    if (first.place && second.place &&
        first.place->position != second.place->position)
      os << " and step " << second.place->position;
    os << ": " << textOf(first, files) << ", " << textOf(second, files) << '\n';
    ++rank;
  }
}

bool DiffResult::isSame() const {
  return sides[0].schedule.numRanks == sides[1].schedule.numRanks &&
         std::ranges::none_of(divergences,
                              &std::optional<Divergence>::has_value);
}

/// The cost of a forward through all stages; empty if it does not fit.
/// Backwards may differ between schedules of one model.
static std::optional<Rational> forwardOf(const Schedule &schedule) {
  std::optional<Rational> sum = Rational(0);
  for (unsigned stage = 0; stage != schedule.numStages && sum; ++stage)
    if (auto cost = schedule.costs.of(StepKind::F, stage))
      sum = Rational::add(*sum, *cost);
  return sum;
}

std::string DiffResult::otherWork() const {
  const Schedule &first = sides[0].schedule, &second = sides[1].schedule;
  std::string text;
  auto differ = [&](unsigned one, unsigned other, StringRef what) {
    if (one != other)
      text += ((text.empty() ? "" : ", ") + Twine(one) + " and " +
               Twine(other) + " " + what)
                  .str();
  };
  differ(first.numRanks, second.numRanks, "ranks");
  differ(first.numMicrobatches(), second.numMicrobatches(), "micro-batches");
  differ(first.numSlices, second.numSlices, "slices");
  auto one = forwardOf(first), other = forwardOf(second);
  if (text.empty() && first.numStages != second.numStages && one && other &&
      !(*one == *other))
    text = "a forward through all stages takes " + decimalText(*one) + " and " +
           decimalText(*other);
  return text;
}

void DiffResult::printText(raw_ostream &os, const SourceFiles &files,
                           bool colors) const {
  printFigures(*this, os);
  if (std::string why = otherWork(); !why.empty()) {
    if (colors)
      os.changeColor(raw_ostream::RED, /*Bold=*/true);
    os << "\nnot the same work: " << why << '\n';
    if (colors)
      os.resetColor();
  }
  printDivergences(*this, files, os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printSide(json::OStream &json, const DiffSide &side) {
  json.attribute("name", json::fixUTF8(side.schedule.name));
  json.attribute("file", json::fixUTF8(side.source->path()));
  writeParams(json, side.schedule.params);
  for (const auto &[title, key, of] : counts)
    json.attribute(key, of(side));
  json.attribute("costs",
                 costText(side.schedule.costs, side.schedule.costUse()));
  writeCostBasis(side.schedule, side.schedule.assumedCosts(), json);
  for (const auto &[name, figure, text] : times)
    writeExact(json, name, side.figures.*figure);
  writeObjects(json, "per_rank", side.figures.ranks, [&](const auto &rank) {
    writeExact(json, "peak", rank.memory.activations);
    writeExact(json, "idle", rank.idle);
  });
}

static void printStep(json::OStream &json, StringRef key, const SideStep &step,
                      const SourceFiles &files) {
  if (!step.place) {
    json.attribute(key, nullptr);
    return;
  }
  json.attributeObject(key, [&] {
    json.attribute("position", step.place->position);
    json.attribute("step", step.place->step);
    if (SMLoc loc = files.expand(step.source); loc.isValid())
      writeLocation(json, loc, files);
  });
}

void DiffResult::printJson(json::OStream &json,
                           const SourceFiles &files) const {
  json.attribute("same", isSame());
  json.attribute("same_work", otherWork().empty());
  json.attribute("compared",
                 which == CompareSteps::Compute ? "compute" : "all");
  writeObjects(json, "schedules", sides,
               [&](const DiffSide &side) { printSide(json, side); });
  json.attributeArray("divergences", [&] {
    for (size_t rank = 0; rank != divergences.size(); ++rank)
      if (divergences[rank])
        json.object([&] {
          json.attribute("rank", rank);
          printStep(json, "first",
                    stepOf(sides[0], rank, divergences[rank]->first), files);
          printStep(json, "second",
                    stepOf(sides[1], rank, divergences[rank]->second), files);
        });
  });
}

//===----------------------------------------------------------------------===//
// Finding where two schedules diverge
//===----------------------------------------------------------------------===//

/// Advances `at` to the next step that is compared, or to the end.
static void skip(const StepList &list, size_t &at, CompareSteps which) {
  while (at != list.size() &&
         (which == CompareSteps::Compute ? !isCompute(list[at].kind())
                                         : list[at].kind() == StepKind::Bubble))
    ++at;
}

/// Compares two lists; `same` compares two steps.
template <typename Same>
static std::optional<Divergence> compareLists(const StepList &first,
                                              const StepList &second,
                                              CompareSteps which, Same same) {
  Divergence at;
  while (true) {
    skip(first, at.first, which);
    skip(second, at.second, which);
    bool ended = at.first == first.size();
    if (ended != (at.second == second.size()))
      return at;
    if (ended)
      return std::nullopt;
    if (!same(first[at.first], second[at.second]))
      return at;
    ++at.first;
    ++at.second;
  }
}

std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which) {
  // The same port is another edge in another stage graph.
  bool sameGraph = first.graph == second.graph;
  std::optional<DataFlow> flows[2];
  if (!sameGraph) {
    flows[0].emplace(first);
    flows[1].emplace(second);
  }
  auto same = [&](Step a, Step b) {
    if (sameGraph || !(isP2P(a.kind()) || isSendWait(a.kind())))
      return a.sameAction(b);
    const DataFlow::Port *ports[] = {flows[0]->transfer(a), nullptr};
    a.setPort(0);
    if (a.kind() == b.kind())
      ports[1] = flows[1]->transfer(b);
    b.setPort(0);
    return a.sameAction(b) &&
           (ports[0] && ports[1] ? ports[0]->stage == ports[1]->stage
                                 : ports[0] == ports[1]);
  };
  std::vector<std::optional<Divergence>> divergences;
  for (size_t rank = 0, end = std::min(first.numRanks, second.numRanks);
       rank != end; ++rank)
    divergences.push_back(
        compareLists(first.ranks[rank], second.ranks[rank], which, same));
  return divergences;
}

} // namespace pipec
