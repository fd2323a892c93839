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
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// `makespan`, `peak(rank)`
static std::string metricText(Expectation::Metric metric) {
  return metricName(metric).str() + (isPerRank(metric) ? "(rank)" : "");
}

/// A clause of a program, with its condition after `separator`.
static std::string clauseText(Expectation::Metric metric,
                              const DerivedClause &clause,
                              const char *separator) {
  return "expect " + metricText(metric) + " == " + clause.value +
         (clause.condition.empty() ? "" : separator + clause.condition) + ";";
}

/// Puts an expression of a clause into LaTeX.
static std::string latexText(StringRef text) {
  static constexpr StringRef closeCeil = "} \\right\\rceil";
  // With what closes the parenthesis of a function.
  static constexpr std::array<StringRef, 3> symbols[] = {
      {" && ", ",\\ "},
      {"<=", "\\le"},
      {">=", "\\ge"},
      {"==", "="},
      {"!=", "\\ne"},
      {"%", "\\bmod"},
      {"*", "\\,"},
      {"&", "\\&"},
      {"ceil_div(", "\\left\\lceil \\frac{", closeCeil},
      {"cost(", "c_{", "}"},
      {"min(", "\\min(", ")"},
      {"max(", "\\max(", ")"},
      {"(", "(", ")"}};
  std::string result;
  SmallVector<StringRef> open = {""};
  while (!text.empty()) {
    auto symbol = find_if(
        symbols, [&](const auto &each) { return text.consume_front(each[0]); });
    if (symbol != std::end(symbols)) {
      result += (*symbol)[1];
      if (!(*symbol)[2].empty())
        open.push_back((*symbol)[2]);
    } else if (text.consume_front(")")) {
      result += open.pop_back_val();
    } else if (open.back() == closeCeil && text.consume_front(", ")) {
      result += "}{";
    } else {
      StringRef word = text.take_front(
          std::max<size_t>(1, text.take_while(isWordByte).size()));
      text = text.drop_front(word.size());
      bool isName = word.size() > 1 && !isDigit(word[0]);
      result += isName ? "\\mathit{" + join(split(word, '_'), "\\_") + "}"
                       : word.str();
    }
  }
  return result;
}

/// A clause on one line, or on two if it is as long as the lines of programs in
/// canonical form.
static std::string clauseLines(Expectation::Metric metric,
                               const DerivedClause &clause, bool latex) {
  std::string line = clauseText(metric, clause, " if ");
  if (latex)
    line = latexText(metricText(metric)) + " &= " + latexText(clause.value) +
           (clause.condition.empty() ? "" : " && \\text{if } ") +
           latexText(clause.condition) + " \\\\";
  else if (line.size() > 100)
    line = clauseText(metric, clause, "\n    if ");
  if (clause.everyM)
    line += (latex ? " % proven from " : " // proven from ") +
            countText(*clause.everyM, "micro-batch", "es") + " on";
  return line;
}

namespace {

/// One run of the command.
class Derive : CommandRun {
public:
  explicit Derive(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run() {
    if (failed(readInput()))
      return failure();
    LogicalResult derived = derive();
    if (results.empty() ||
        failed(write([&](raw_ostream &os) { printText(os); },
                     [&](json::OStream &json) { printJson(json); })))
      return failure();
    return derived;
  }

private:
  LogicalResult readInput() {
    if (failed(readLowering(args, lowering, diags)))
      return failure();
    if (args.list(Opt::Cost).size() > 1)
      return reportUsageError(
          diags, "derive takes one --cost: its clauses are for these costs");
    if (lowering.given.perPart())
      return reportUsageError(
          diags, "derive takes a profile of costs per stage, not per part");
    lowering.given.keepOwnSizes = true;
    if (failed(schedules.addAll(grid, search, args, diags)))
      return failure();
    if (schedules.hasSteps())
      return reportUsageError(
          diags, "derive takes programs, since steps have one size only");
    grid.setDefault("ranks", to_vector(seq_inclusive<int64_t>(2, 12)));
    grid.setDefault("microbatches", to_vector(seq_inclusive<int64_t>(2, 30)));
    return grid.fit(schedules.decls(), /*otherInputs=*/false, diags);
  }

  LogicalResult derive() {
    bool ownCosts = args.has(Opt::Cost) || args.has(Opt::CostProfile);
    bool good = true;
    for (const auto &[source, schedule] : schedules.entries()) {
      progress.phase("deriving " + schedule->decl->name.text.str());
      progress.setTotal(grid.numPoints(*schedule->decl));
      FailureOr<Derivation> derived =
          pipec::derive({*source, *schedule, lowering, grid,
                         ownCosts || schedule->cost, diags},
                        [&] { progress.advance(); });
      auto isEmpty = [](const auto &figure) { return figure.clauses.empty(); };
      bool found = succeeded(derived) && !all_of(derived->figures, isEmpty);
      if (found)
        results.push_back(std::move(*derived));
      else if (succeeded(derived))
        (void)diags.report(schedule->decl->name.range, diag::NoFormula,
                           derived->name);
      good &= found;
    }
    return success(good);
  }

  void printText(raw_ostream &os) const {
    bool latex = args.has(Opt::Latex);
    const char *comment = latex ? "% " : "// ";
    for (const Derivation &result : results) {
      bool isProven = any_of(result.figures, [](const auto &figure) {
        return any_of(figure.clauses, [](auto &one) { return one.everyM; });
      });
      os << comment << terminalText(result.name) << ": fitted to "
         << countText(result.fitted, "size") << " and equal at "
         << result.heldOut << " others, "
         << (isProven ? "proven for every m where it says so"
                      : "not proven for all");
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
          if (!clause.isSliver || args.has(Opt::AllClauses))
            os << clauseLines(figure.metric, clause, latex) << '\n';
          else
            ++hidden;
        std::string metric = " for " + metricText(figure.metric) + " at ";
        remark(hidden,
               countText(hidden, "more clause") + metric + "few sizes: --all");
        remark(figure.uncovered, "no formula found" + metric +
                                     countText(figure.uncovered, "size") +
                                     ", such as " +
                                     paramText(figure.firstUncovered));
      }
      if (latex)
        os << "\\end{align*}\n";
    }
  }

  void printJson(json::OStream &json) const {
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
          json.attribute("clause", clauseText(figure.metric, clause, " if "));
          json.attribute("value", clause.value);
          json.attribute("condition", clause.condition);
          json.attribute("fitted", clause.fitted);
          json.attribute("held_out", clause.heldOut);
          json.attribute("sliver", clause.isSliver);
          json.attribute("every_m", valueOrNull(clause.everyM));
        });
        json.attribute("uncovered", figure.uncovered);
        if (figure.uncovered)
          writeParams(json, figure.firstUncovered, "first_uncovered");
        else
          json.attribute("first_uncovered", nullptr);
      });
    });
  }

  Grid grid;
  LowerOptions lowering;
  ScheduleList schedules;
  std::vector<Derivation> results;
};

} // namespace

LogicalResult runDerive(const CommandRun &run) { return Derive(run).run(); }

} // namespace pipec
