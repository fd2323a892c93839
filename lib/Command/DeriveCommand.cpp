//===- DeriveCommand.cpp - The derive command -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Derive/Derivation.h"
#include "Driver/Figures.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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
  std::string clauseLines(Expectation::Metric metric,
                          const DerivedClause &clause) const;
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
  if (failed(store(Grid::read(args, Grid::Values::Many, inputs, diags), grid)))
    return failure();
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
  if (failed(schedules.addAll(inputs, search, args, diags)))
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
    FailureOr<Derivation> derived = pipec::derive(
        {*source, *schedule, lowering, grid, ownCosts || schedule->cost, diags},
        [&] { progress.advance(); });
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

/// A clause of a program, with its condition after `separator`.
static std::string clauseText(Expectation::Metric metric,
                              const DerivedClause &clause,
                              StringRef separator) {
  std::string text = "expect " + metricText(metric) + " == " + clause.value;
  if (!clause.condition.empty())
    text += separator.str() + "if " + clause.condition;
  return text + ";";
}

/// Puts an expression of a clause into LaTeX.
static std::string latexText(StringRef text) {
  static constexpr std::pair<StringLiteral, StringLiteral> symbols[] = {
      {" && ", ",\\ "}, {"<=", "\\le"},  {">=", "\\ge"}, {"==", "="},
      {"!=", "\\ne"},   {"%", "\\bmod"}, {"*", "\\,"},   {"&", "\\&"}};
  std::string result;
  while (!text.empty()) {
    StringRef word = text.take_while(isWordByte);
    if (word.empty()) {
      auto symbol = find_if(symbols, [&](const auto &each) {
        return text.starts_with(each.first);
      });
      bool known = symbol != std::end(symbols);
      result += known ? StringRef(symbol->second) : text.take_front();
      text = text.drop_front(known ? symbol->first.size() : 1);
      continue;
    }
    text = text.drop_front(word.size());
    std::string name;
    for (char c : word)
      name += c == '_' ? "\\_" : std::string(1, c);
    if (word.size() > 1 && !isDigit(word[0]))
      name = "\\mathit{" + name + "}";
    bool isCeil = word == "ceil_div", isCost = word == "cost";
    if (!text.starts_with("(") ||
        !(isCeil || isCost || word == "min" || word == "max")) {
      result += name;
      continue;
    }
    // The end of the arguments, and the last comma between them.
    size_t end = 1, comma = 0;
    for (int depth = 1; depth && end < text.size(); ++end) {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      if (depth == 1 && text[end] == ',')
        comma = end;
    }
    std::string inner = latexText(text.slice(1, end - 1));
    if (isCeil)
      result += "\\left\\lceil \\frac{" + latexText(text.slice(1, comma)) +
                "}{" + latexText(text.slice(comma + 2, end - 1)) +
                "} \\right\\rceil";
    else
      result += isCost ? "c_{" + inner + "}"
                       : ("\\" + word + "(" + inner + ")").str();
    text = text.drop_front(end);
  }
  return result;
}

/// A clause on one line, or on two if it is as long as the lines of programs in
/// canonical form.
std::string Derive::clauseLines(Expectation::Metric metric,
                                const DerivedClause &clause) const {
  if (args.has(Opt::Latex))
    return latexText(metricText(metric)) + " &= " + latexText(clause.value) +
           (clause.condition.empty()
                ? ""
                : " && \\text{if } " + latexText(clause.condition)) +
           " \\\\";
  constexpr size_t maxColumns = 100;
  std::string line = clauseText(metric, clause, " ");
  return line.size() <= maxColumns ? line
                                   : clauseText(metric, clause, "\n    ");
}

void Derive::printText(raw_ostream &os) const {
  bool latex = args.has(Opt::Latex), all = args.has(Opt::AllClauses);
  const char *comment = latex ? "% " : "// ";
  for (const Derivation &result : results) {
    os << comment << terminalText(result.name) << ": fitted to "
       << countText(result.fitted, "size") << " and equal at " << result.heldOut
       << " others, not proven for all";
    if (result.refused)
      os << "; " << countText(result.refused, "size") << " refused";
    os << '\n';
    auto remark = [&](bool holds, const Twine &text) {
      if (holds)
        os << comment << text << '\n';
    };
    remark(result.ownCostsOnly, "for the costs of the schedule only");
    remark(!result.assumed.empty(),
           "with costs that are not given: " + result.assumed.text());
    remark(result.hasPlaces, "with its costs and factors of single stages, "
                             "ranks, micro-batches or edges");
    remark(!lowering.given.allMemory().empty(),
           "with the memory settings of the profile");
    if (latex)
      os << "\\begin{align*}\n";
    for (const DerivedFigure &figure : result.figures) {
      size_t hidden = 0;
      for (const DerivedClause &clause : figure.clauses)
        if (all || !clause.isSliver)
          os << clauseLines(figure.metric, clause) << '\n';
        else
          ++hidden;
      std::string metric = metricText(figure.metric);
      remark(hidden, countText(hidden, "more clause") + " for " + metric +
                         " at few sizes: --all");
      remark(figure.uncovered, "no formula found for " + metric + " at " +
                                   countText(figure.uncovered, "size") +
                                   ", such as " +
                                   paramText(figure.firstUncovered));
    }
    if (latex)
      os << "\\end{align*}\n";
  }
}

void Derive::printJson(json::OStream &json) const {
  writeObjects(json, "schedules", results, [&](const Derivation &result) {
    json.attribute("name", json::fixUTF8(result.name));
    json.attribute("file", json::fixUTF8(result.path));
    json.attribute("fitted", result.fitted);
    json.attribute("held_out", result.heldOut);
    json.attribute("refused", result.refused);
    json.attribute("own_costs_only", result.ownCostsOnly);
    json.attribute("has_places", result.hasPlaces);
    result.assumed.write(json);
    json.attribute("profile_memory", !lowering.given.allMemory().empty());
    writeObjects(json, "figures", result.figures, [&](const auto &figure) {
      json.attribute("metric", metricText(figure.metric));
      writeObjects(json, "clauses", figure.clauses, [&](const auto &clause) {
        json.attribute("clause", clauseText(figure.metric, clause, " "));
        json.attribute("value", clause.value);
        json.attribute("condition", clause.condition);
        json.attribute("fitted", clause.fitted);
        json.attribute("held_out", clause.heldOut);
        json.attribute("sliver", clause.isSliver);
      });
      json.attribute("uncovered", figure.uncovered);
      if (figure.uncovered)
        writeParams(json, figure.firstUncovered, "first_uncovered");
      else
        json.attribute("first_uncovered", nullptr);
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
