//===- DeriveCommand.cpp - The derive command -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Derive/Derivation.h"
#include "Driver/Figures.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/TerminalText.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class Derive : CommandRun {
public:
  explicit Derive(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult openSources();
  LogicalResult derive();
  void printText(raw_ostream &os) const;
  void printJson(json::OStream &json) const;

  Grid grid;
  LowerOptions lowering;
  std::vector<std::string> inputs;
  ScheduleList schedules;
  std::vector<Derivation> results;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Derive::readOptions() {
  if (failed(readLowering(args, lowering, diags)))
    return failure();
  if (args.list(Opt::Cost).size() > 1)
    return reportUsageError(diags,
                            "derive takes one --cost: its formulas are for all "
                            "costs that include the given ones");
  if (lowering.given.perPart())
    return reportUsageError(
        diags, "derive takes a profile of costs per stage, not per "
               "part");
  lowering.given.keepOwnSizes = true;
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::Many, inputs, diags);
  if (failed(sizes))
    return failure();
  grid = std::move(*sizes);
  auto range = [](int64_t from, int64_t to) {
    std::vector<int64_t> values(to - from + 1);
    std::iota(values.begin(), values.end(), from);
    return values;
  };
  grid.setDefault("ranks", range(2, 12));
  grid.setDefault("microbatches", range(2, 30));
  if (args.isOn(Opt::Library, false))
    append_range(inputs, search.libraryFiles());
  if (inputs.empty())
    return reportMissingInput(diags);
  return success();
}

LogicalResult Derive::openSources() {
  for (const std::string &input : inputs)
    if (failed(schedules.add(input, args.text(Opt::Schedule), search, args,
                             diags)))
      return failure();
  if (schedules.hasSteps())
    return reportUsageError(
        diags, "derive takes programs, since steps have one size only");
  return grid.fit(schedules.decls(), /*otherInputs=*/false, diags);
}

LogicalResult Derive::derive() {
  bool ownCosts = args.has(Opt::Cost) || args.has(Opt::CostProfile);
  bool good = true;
  for (const auto &[source, schedule] : schedules.entries()) {
    progress.phase("deriving " + schedule->decl->name.text.str());
    progress.setTotal(grid.numPoints(*schedule->decl));
    FailureOr<Derivation> derived = Deriver(*source, *schedule, lowering, grid,
                                            ownCosts || schedule->cost, diags)
                                        .run([&] { progress.advance(); });
    if (failed(derived)) {
      good = false;
      continue;
    }
    if (!derived->hasClauses()) {
      good = false;
      InFlightDiagnostic error = diags.report(schedule->decl->name.range,
                                              diag::NoFormula, derived->name);
      for (const DerivedFigure &figure : derived->figures)
        error.note(DiagLoc(), diag::NoteNoFormula, metricName(figure.metric),
                   paramText(figure.firstUncovered));
      continue;
    }
    results.push_back(std::move(*derived));
  }
  return success(good);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// `makespan`, `peak(rank)`
static std::string metricText(Expectation::Metric metric) {
  return metricName(metric).str() + (isPerRank(metric) ? "(rank)" : "");
}

/// A clause, with its condition after `separator`.
static std::string clauseText(Expectation::Metric metric,
                              const DerivedClause &clause,
                              StringRef separator) {
  std::string text = "expect " + metricText(metric) + " == " + clause.value;
  if (!clause.condition.empty())
    text += separator.str() + "if " + clause.condition;
  return text + ";";
}

/// The same on one line, or on two if it is as long as the lines of programs in
/// canonical form.
static std::string clauseLines(Expectation::Metric metric,
                               const DerivedClause &clause) {
  constexpr size_t maxColumns = 100;
  std::string line = clauseText(metric, clause, " ");
  return line.size() <= maxColumns ? line
                                   : clauseText(metric, clause, "\n    ");
}

void Derive::printText(raw_ostream &os) const {
  for (const Derivation &result : results) {
    os << "// " << terminalText(result.name) << ": fitted to "
       << countText(result.fitted, "size") << " and equal at " << result.heldOut
       << " others, not proven for all";
    if (result.refused)
      os << "; " << countText(result.refused, "size") << " refused";
    os << '\n';
    if (result.ownCostsOnly)
      os << "// for the costs of the schedule only\n";
    if (result.hasPlaces)
      os << "// with its costs and factors of single stages, ranks, "
            "micro-batches or edges\n";
    if (!lowering.given.allMemory().empty())
      os << "// with the memory settings of the profile\n";
    for (const DerivedFigure &figure : result.figures) {
      for (const DerivedClause &clause : figure.clauses)
        os << clauseLines(figure.metric, clause) << '\n';
      if (figure.uncovered)
        os << "// no formula found for " << metricText(figure.metric) << " at "
           << countText(figure.uncovered, "size") << ", such as "
           << paramText(figure.firstUncovered) << '\n';
    }
  }
}

void Derive::printJson(json::OStream &json) const {
  json.attributeArray("schedules", [&] {
    for (const Derivation &result : results)
      json.object([&] {
        json.attribute("name", json::fixUTF8(result.name));
        json.attribute("file", json::fixUTF8(result.path));
        json.attribute("fitted", result.fitted);
        json.attribute("held_out", result.heldOut);
        json.attribute("refused", result.refused);
        json.attribute("own_costs_only", result.ownCostsOnly);
        json.attribute("has_places", result.hasPlaces);
        json.attribute("profile_memory", !lowering.given.allMemory().empty());
        json.attributeArray("figures", [&] {
          for (const DerivedFigure &figure : result.figures)
            json.object([&] {
              json.attribute("metric", metricText(figure.metric));
              json.attributeArray("clauses", [&] {
                for (const DerivedClause &clause : figure.clauses)
                  json.object([&] {
                    json.attribute("clause",
                                   clauseText(figure.metric, clause, " "));
                    json.attribute("value", clause.value);
                    json.attribute("condition", clause.condition);
                    json.attribute("fitted", clause.fitted);
                    json.attribute("held_out", clause.heldOut);
                  });
              });
              json.attribute("uncovered", figure.uncovered);
              json.attributeBegin("first_uncovered");
              if (figure.uncovered)
                json.object([&] {
                  for (const auto &[name, value] : figure.firstUncovered)
                    json.attribute(json::fixUTF8(name), value);
                });
              else
                json.value(nullptr);
              json.attributeEnd();
            });
        });
      });
  });
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Derive::run() {
  if (failed(readOptions()) || failed(openSources()))
    return failure();
  LogicalResult derived = derive();
  if (results.empty())
    return failure();
  if (failed(write([&](raw_ostream &os) { printText(os); },
                   [&](json::OStream &json) { printJson(json); })))
    return failure();
  return derived;
}

LogicalResult runDerive(const CommandRun &run) { return Derive(run).run(); }

} // namespace pipec
