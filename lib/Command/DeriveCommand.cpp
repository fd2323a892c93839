//===- DeriveCommand.cpp - The derive command -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Derive/Derivation.h"
#include "Driver/Input.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

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
static std::string clauseLines(StringRef metric, const json::Object &clause,
                               bool latex) {
  StringRef value = *clause.getString("value");
  StringRef condition = *clause.getString("condition");
  std::string line = clause.getString("clause")->str();
  if (latex)
    line = latexText(metric) + " &= " + latexText(value) +
           (condition.empty() ? "" : " && \\text{if } ") +
           latexText(condition) + " \\\\";
  else if (line.size() > 100 && !condition.empty())
    line.replace(line.find(" if "), 4, "\n    if ");
  if (std::optional<int64_t> from = clause.getInteger("every_m"))
    line += (latex ? " % proven from " : " // proven from ") +
            countText(*from, "micro-batch", "es") + " on";
  return line;
}

/// Prints the clauses of a schedule, those for few sizes with `all` only.
static void printText(raw_ostream &os, const json::Object &result, bool latex,
                      bool all) {
  std::string lines, comment = latex ? "% " : "// ";
  auto remarks = [&](const json::Object &object) {
    for (const json::Value &remark : *object.getArray("remarks"))
      lines += comment + remark.getAsString()->str() + "\n";
  };
  remarks(result);
  lines += latex ? "\\begin{align*}\n" : "";
  bool isProven = false;
  for (const json::Value &each : *result.getArray("figures")) {
    const json::Object &figure = *each.getAsObject();
    StringRef metric = *figure.getString("metric");
    size_t hidden = 0;
    for (const json::Value &value : *figure.getArray("clauses")) {
      const json::Object &clause = *value.getAsObject();
      isProven |= clause.getInteger("every_m").has_value();
      if (all || !*clause.getBoolean("sliver"))
        lines += clauseLines(metric, clause, latex) + "\n";
      else
        ++hidden;
    }
    if (hidden)
      lines += comment + countText(hidden, "more clause") + " for " +
               metric.str() + " at few sizes: --all\n";
    remarks(figure);
  }
  int64_t refused = *result.getInteger("refused");
  os << comment << terminalText(*result.getString("name")) << ": fitted to "
     << countText(*result.getInteger("fitted"), "size") << " and equal at "
     << *result.getInteger("held_out") << " others, "
     << (isProven ? "proven for every m where it says so"
                  : "not proven for all")
     << (refused ? "; " + countText(refused, "size") + " refused" : "") << '\n'
     << lines << (latex ? "\\end{align*}\n" : "");
}

LogicalResult runDerive(const CommandRun &run) {
  const Arguments &args = run.args;
  DiagEngine &diags = run.diags;
  LowerOptions lowering;
  Grid grid;
  ScheduleList schedules;
  if (failed(readLowering(args, lowering, diags)))
    return failure();
  if (args.list(Opt::Cost).size() > 1)
    return reportUsageError(
        diags, "derive takes one --cost: its clauses are for these costs");
  if (lowering.given.perPart())
    return reportUsageError(
        diags, "derive takes a profile of costs per stage, not per part");
  lowering.given.keepOwnSizes = true;
  if (failed(schedules.addAll(grid, run.search, args, diags)))
    return failure();
  if (schedules.hasSteps())
    return reportUsageError(
        diags, "derive takes programs, since steps have one size only");
  grid.setDefault("ranks", to_vector(seq_inclusive<int64_t>(2, 12)));
  grid.setDefault("microbatches", to_vector(seq_inclusive<int64_t>(2, 30)));
  if (failed(grid.fit(schedules.decls(), /*otherInputs=*/false, diags)))
    return failure();

  bool ownCosts = args.has(Opt::Cost) || args.has(Opt::CostProfile);
  json::Array results;
  for (const auto &[source, schedule] : schedules.entries()) {
    run.progress.phase("deriving " + schedule->decl->name.text.str());
    run.progress.setTotal(grid.numPoints(*schedule->decl));
    FailureOr<json::Object> derived = derive(
        {*source, *schedule, lowering, grid, ownCosts || schedule->cost, diags},
        [&] { run.progress.advance(); });
    if (succeeded(derived))
      results.push_back(std::move(*derived));
  }
  auto printAll = [&](raw_ostream &os) {
    for (const json::Value &result : results)
      printText(os, *result.getAsObject(), args.has(Opt::Latex),
                args.has(Opt::AllClauses));
  };
  auto printJson = [&](json::OStream &json) {
    json.attribute("schedules", json::Value(json::Array(results)));
  };
  if (results.empty() || failed(run.write(printAll, printJson)))
    return failure();
  return success(results.size() == schedules.entries().size());
}

} // namespace pipec
