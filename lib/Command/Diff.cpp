//===- Diff.cpp - The diff command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Divergence.h"
#include "Command/Command.h"
#include "Command/Figures.h"
#include "Command/Grid.h"
#include "Driver/Input.h"
#include "IR/SettingsText.h"
#include "IR/StepPlaces.h"
#include "IR/Verifier.h"
#include "Support/TextTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

struct DiffFlags {
  cl::OptionCategory category{"pipec diff options"};
  cl::list<std::string> inputs{cl::Positional,
                               cl::desc("<file or name> <file or name>"),
                               cl::cat(category)};
  ModelFlag model{category};
  LowerFlags lower{category};
  cl::opt<std::string> format{"format", cl::desc("text (default) or json"),
                              cl::value_desc("FORMAT"), cl::init("text"),
                              cl::cat(category)};
  DiagFlags diags{category};
  cl::opt<std::string> output{"o", cl::desc("Write the result to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
};

/// One of the two schedules.
struct Side {
  std::unique_ptr<ScheduleSource> source;
  /// The schedule of a program.
  const CheckedSchedule *checked = nullptr;
  Schedule schedule;
  Report figures;
};

/// One step where the lists of a rank part.
struct SideStep {
  /// Nothing behind the end of the list.
  std::optional<StepPlace> place;
  SourceLoc source;
};

/// One run of the command.
class Diff {
public:
  Diff(const DiffFlags &flags, const SearchPath &search, DiagSession &session)
      : flags(flags), search(search), diags(session.engine()),
        progress(session.progress()) {}

  LogicalResult run(raw_ostream &out);

private:
  LogicalResult load();
  LogicalResult makeSchedules();
  LogicalResult measure(Side &side);
  void compare();
  SideStep stepOf(const Side &side, unsigned rank, size_t index) const;
  std::string text(const SideStep &step) const;
  void printFigures(raw_ostream &os) const;
  void printDivergences(raw_ostream &os) const;
  void printJson(raw_ostream &os) const;
  void printSide(json::OStream &json, const Side &side) const;
  void printStep(json::OStream &json, StringRef key,
                 const SideStep &step) const;

  const DiffFlags &flags;
  const SearchPath &search;
  DiagEngine &diags;
  Progress &progress;

  Side sides[2];
  CompareSteps which = CompareSteps::All;
  std::vector<std::optional<Divergence>> divergences;
};

} // namespace

//===----------------------------------------------------------------------===//
// The two schedules
//===----------------------------------------------------------------------===//

LogicalResult Diff::load() {
  if (flags.format != "text" && flags.format != "json")
    return unusable(diags, "no format `" + flags.format + "`");
  if (flags.inputs.size() != 2)
    return unusable(diags,
                    Twine(flags.inputs.size()) +
                        (flags.inputs.size() == 1 ? " input" : " inputs") +
                        " where two are compared");
  for (auto [side, name] : zip_equal(sides, flags.inputs)) {
    auto source = ScheduleSource::find(name, search, diags);
    if (failed(source))
      return failure();
    side.source = std::move(*source);
    if (!side.source->isProgram())
      continue;
    auto chosen = side.source->schedule(flags.lower.schedule, diags);
    if (failed(chosen))
      return failure();
    side.checked = *chosen;
  }
  return success();
}

LogicalResult Diff::makeSchedules() {
  LowerOptions lowering;
  if (failed(flags.lower.read(lowering, diags)))
    return failure();
  FailureOr<std::vector<CostSettings>> costs = flags.lower.readCosts(diags);
  if (failed(costs))
    return failure();
  llvm::append_range(lowering.costs, *costs);
  // A value goes to the side that has its parameter, or to both.
  Grid grid;
  std::vector<const ast::ScheduleDecl *> decls;
  if (failed(grid.add(lowering.params, diags)))
    return failure();
  for (const Side &side : sides)
    if (side.checked)
      decls.push_back(side.checked->decl);
  if (decls.empty() && !lowering.params.empty())
    return unusable(diags, "-D on inputs that have no parameters");
  if (failed(grid.fit(decls, diags)))
    return failure();
  for (Side &side : sides) {
    FailureOr<Schedule> schedule = failure();
    if (side.checked)
      grid.forEachPoint(*side.checked->decl, [&](const ParamValues &params) {
        lowering.params = params;
        schedule = side.source->lower(*side.checked, lowering, diags);
      });
    else
      schedule = side.source->read({}, lowering, diags);
    if (failed(schedule))
      return failure();
    side.schedule = std::move(*schedule);
  }
  return success();
}

LogicalResult Diff::measure(Side &side) {
  if (failed(verify(side.schedule, diags)))
    return failure();
  std::optional<WaitModel> model;
  if (failed(flags.model.read(model, diags)))
    return failure();
  FailureOr<Report> figures = pipec::measure(side.schedule, model, diags);
  if (failed(figures))
    return failure();
  side.figures = std::move(*figures);
  return success();
}

void Diff::compare() {
  auto computesOnly = [](const Schedule &schedule) {
    return !schedule.hasP2P() && !schedule.hasFsdp();
  };
  const Schedule &first = sides[0].schedule, &second = sides[1].schedule;
  if (computesOnly(first) != computesOnly(second))
    which = CompareSteps::Compute;
  divergences = findDivergence(first, second, which);
}

SideStep Diff::stepOf(const Side &side, unsigned rank, size_t index) const {
  const StepList &list = side.schedule.ranks[rank];
  if (index == list.size())
    return {};
  // An overlap or a batch is shown as a whole: what differs may be another of
  // its members.
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

void Diff::printFigures(raw_ostream &os) const {
  TextTable table;
  table.column("", TextTable::Align::Left);
  table.column();
  table.column();
  auto row = [&](const std::string &title, auto figure) {
    table.row({title, figure(sides[0]), figure(sides[1])});
  };
  auto number = [](auto value) { return std::to_string(value); };
  row("", [](const Side &side) { return side.schedule.name; });
  row("ranks",
      [&](const Side &side) { return number(side.schedule.numRanks); });
  row("stages",
      [&](const Side &side) { return number(side.schedule.numStages); });
  row("micro-batches",
      [&](const Side &side) { return number(side.schedule.numMicrobatches); });
  row("steps",
      [&](const Side &side) { return number(side.schedule.numSteps()); });
  row("transfers",
      [&](const Side &side) { return number(side.figures.transfers); });
  row("makespan",
      [](const Side &side) { return decimalText(side.figures.makespan); });
  row("bubble_makespan",
      [](const Side &side) { return rateText(side.figures.bubbleMakespan); });
  row("span", [](const Side &side) { return decimalText(side.figures.span); });
  row("bubble_span",
      [](const Side &side) { return rateText(side.figures.bubbleSpan); });
  row("work", [](const Side &side) { return decimalText(side.figures.work); });
  row("peak", [](const Side &side) {
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
      row((title + " of rank " + Twine(rank)).str(),
          [&, figure = figure](const Side &side) -> std::string {
            if (rank >= side.schedule.numRanks)
              return "-";
            return decimalText(figure(side.figures.ranks[rank]));
          });
  table.print(os);
  std::string costs[2] = {costText(sides[0].schedule.costs),
                          costText(sides[1].schedule.costs)};
  if (costs[0] == costs[1]) {
    os << "\ncosts: " << costs[0] << '\n';
    return;
  }
  os << "\ncosts of the first:  " << costs[0] << '\n'
     << "costs of the second: " << costs[1] << '\n';
}

std::string Diff::text(const SideStep &step) const {
  if (!step.place)
    return "the end of its list";
  std::string text = "`" + step.place->step + "`";
  SMLoc loc = diags.sourceFiles().expand(step.source);
  if (!loc.isValid())
    return text;
  LineColumn at = diags.sourceFiles().lineColumn(loc);
  return text + " (" + at.file.str() + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column) + ")";
}

void Diff::printDivergences(raw_ostream &os) const {
  os << '\n';
  if (which == CompareSteps::Compute)
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
    SideStep first = stepOf(sides[0], rank, divergences[rank]->first);
    SideStep second = stepOf(sides[1], rank, divergences[rank]->second);
    os << "rank " << rank << ": step "
       << (first.place ? first.place : second.place)->position;
    if (first.place && second.place &&
        first.place->position != second.place->position)
      os << " and step " << second.place->position;
    os << ": " << text(first) << ", " << text(second) << '\n';
    ++rank;
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

void Diff::printSide(json::OStream &json, const Side &side) const {
  json.attribute("name", side.schedule.name);
  json.attribute("file", side.source->path());
  json.attributeObject("params", [&] {
    for (const auto &[name, value] : side.schedule.params)
      json.attribute(name, value);
  });
  json.attribute("ranks", side.schedule.numRanks);
  json.attribute("stages", side.schedule.numStages);
  json.attribute("microbatches", side.schedule.numMicrobatches);
  json.attribute("steps", side.schedule.numSteps());
  json.attribute("transfers", side.figures.transfers);
  json.attribute("costs", costText(side.schedule.costs));
  writeExact(json, "makespan", side.figures.makespan);
  writeExact(json, "bubble_makespan", side.figures.bubbleMakespan);
  writeExact(json, "span", side.figures.span);
  writeExact(json, "bubble_span", side.figures.bubbleSpan);
  writeExact(json, "work", side.figures.work);
  json.attributeArray("per_rank", [&] {
    for (const RankReport &rank : side.figures.ranks)
      json.object([&] {
        writeExact(json, "peak", rank.memory.activations);
        writeExact(json, "idle", rank.idle);
      });
  });
}

void Diff::printStep(json::OStream &json, StringRef key,
                     const SideStep &step) const {
  if (!step.place) {
    json.attribute(key, nullptr);
    return;
  }
  json.attributeObject(key, [&] {
    json.attribute("position", step.place->position);
    json.attribute("step", step.place->step);
    SMLoc loc = diags.sourceFiles().expand(step.source);
    if (!loc.isValid())
      return;
    LineColumn at = diags.sourceFiles().lineColumn(loc);
    json.attribute("file", at.file);
    json.attribute("line", at.line);
    json.attribute("column", at.column);
  });
}

void Diff::printJson(raw_ostream &os) const {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    bool same = sides[0].schedule.numRanks == sides[1].schedule.numRanks &&
                llvm::none_of(divergences, [](const auto &divergence) {
                  return divergence.has_value();
                });
    json.attribute("same", same);
    json.attribute("compared",
                   which == CompareSteps::Compute ? "compute" : "all");
    json.attributeArray("schedules", [&] {
      for (const Side &side : sides)
        json.object([&] { printSide(json, side); });
    });
    json.attributeArray("divergences", [&] {
      for (size_t rank = 0; rank != divergences.size(); ++rank)
        if (divergences[rank])
          json.object([&] {
            json.attribute("rank", rank);
            printStep(json, "first",
                      stepOf(sides[0], rank, divergences[rank]->first));
            printStep(json, "second",
                      stepOf(sides[1], rank, divergences[rank]->second));
          });
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Diff::run(raw_ostream &out) {
  progress.phase("lowering");
  if (failed(load()) || failed(makeSchedules()))
    return failure();
  progress.phase("comparing");
  if (failed(measure(sides[0])) || failed(measure(sides[1])))
    return failure();
  compare();
  progress.end();
  auto file = OutputFile::open(flags.output, out, diags);
  if (failed(file))
    return failure();
  raw_ostream &os = (*file)->stream();
  if (flags.format == "json") {
    printJson(os);
  } else {
    printFigures(os);
    printDivergences(os);
  }
  return (*file)->commit(diags);
}

int diffMain(int argc, const char *const *argv, raw_ostream &out,
             raw_ostream &err) {
  DiagSession session("pipec", err);
  DiffFlags flags;
  if (failed(parseCommandLine(argc, argv, flags.category,
                              "Shows two schedules side by side, and where "
                              "their orders part.",
                              flags.diags, session)))
    return session.finish(failure());
  std::string program =
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&diffMain));
  SearchPath search(program, flags.lower.includes);
  return session.finish(Diff(flags, search, session).run(out));
}

} // namespace pipec
