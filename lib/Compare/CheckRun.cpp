//===- CheckRun.cpp - The `expect` clauses at many sizes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/CheckRun.h"

#include "Cost/SettingsText.h"
#include "Driver/Figures.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void CheckRun::begin(const CheckedSchedule &schedule, StringRef path) {
  result = CheckResult();
  result.name = schedule.decl->name.text.str();
  result.path = path.str();
  name = diags.sourceFiles().compress(schedule.decl->name.range.Start);
  reported.clear();
  for (const ast::ExpectStmt *expect : schedule.expects) {
    ClauseResult &clause = result.clauses.emplace_back();
    clause.metric = *parseMetric(expect->metric.text);
    clause.source = diags.sourceFiles().compress(expect->range.Start);
  }
}

ClauseResult &CheckRun::clauseOf(const Expectation &expectation) {
  auto it = std::ranges::find(result.clauses, expectation.source,
                              &ClauseResult::source);
  if (it != result.clauses.end())
    return *it;
  ClauseResult &clause = result.clauses.emplace_back();
  clause.metric = expectation.metric;
  clause.source = expectation.source;
  return clause;
}

LogicalResult CheckRun::check(const Schedule &schedule) {
  if (failed(verify(schedule, VerifyLevel::Compute, diags)))
    return failure();
  FailureOr<std::vector<CheckedFigure>> figures =
      checkExpectations(schedule, diags);
  if (failed(figures))
    return failure();
  for (const CheckedFigure &figure : *figures) {
    ClauseResult &clause = clauseOf(figure.expectation);
    ++clause.figures;
    ++result.figures;
    if (figure.holds)
      continue;
    ++result.failures;
    if (clause.failures++ < ClauseResult::maxShown)
      clause.shown.push_back({figure, schedule.params,
                              costText(schedule.costs, schedule.costUse())});
  }
  return success();
}

void CheckRun::checkSize(const ScheduleSource &source,
                         const CheckedSchedule &schedule,
                         const LowerOptions &options,
                         const ParamValues &params) {
  // A size that a requirement refuses is not an error; any other error is
  // reported at the first size at which it occurs.
  std::string refusal;
  std::string costsNow;
  DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
    if (isSizeRefusal(found)) {
      if (refusal.empty())
        refusal = found.message;
      return false;
    }
    if (!reported.insert({found.id, found.range.Start.getPointer()}).second)
      return false;
    if (!params.empty())
      noteSize(found, paramText(params) + costsNow);
    return true;
  });

  LowerOptions lowering = options;
  lowering.params.insert(lowering.params.end(), params.begin(), params.end());
  for (const CostSettings &over : costs) {
    lowering.given.costs = options.given.costs;
    lowering.given.costs.push_back(over);
    costsNow.clear();
    FailureOr<Schedule> lowered = source.lower(schedule, lowering, diags);
    if (succeeded(lowered)) {
      costsNow = "; " + costText(lowered->costs, lowered->costUse());
      warnOfCosts(&*lowered, diags);
    }
    if (succeeded(lowered) && succeeded(check(*lowered)))
      continue;
    if (refusal.empty())
      ++result.broken;
    else
      result.refused.push_back({params, refusal});
    return;
  }
  ++result.checked;
}

void CheckRun::checkSteps(const ScheduleSource &source,
                          const LowerOptions &options,
                          const InputOptions &sizes) {
  result = CheckResult();
  result.name = source.path();
  result.path = source.path();
  name = SourceLoc();
  reported.clear();
  for (const CostSettings &over : costs) {
    LowerOptions lowering = options;
    lowering.given.costs.push_back(over);
    FailureOr<Schedule> schedule = source.read(sizes, lowering, diags);
    if (succeeded(schedule)) {
      result.name = schedule->name;
      name = schedule->source;
      warnOfCosts(&*schedule, diags);
    }
    if (failed(schedule) || failed(check(*schedule))) {
      ++result.broken;
      return;
    }
  }
  ++result.checked;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

CheckResult CheckRun::finish() {
  std::string runs = countText(result.checked, "size");
  if (costs.size() > 1)
    runs += " under " + std::to_string(costs.size()) + " costs";
  for (const ClauseResult &clause : result.clauses) {
    if (clause.failures) {
      const FailedFigure &first = clause.shown[0];
      const Expectation &expectation = first.figure.expectation;
      InFlightDiagnostic error =
          diags.report(clause.source, diag::ExpectFailed,
                       figureName(expectation), first.figure.measured,
                       relationName(expectation.relation), expectation.value);
      std::string at = paramText(first.params);
      at += (at.empty() ? "" : "; ") + first.costs;
      error.note(DiagLoc(), diag::NoteExpectAt, at);
      if (clause.figures > 1)
        error.note(DiagLoc(), diag::NoteExpectMore, clause.failures,
                   clause.figures);
    } else if (!clause.figures && result.figures) {
      (void)diags.report(clause.source, diag::ExpectUnchecked, runs);
    }
  }
  if (!result.figures && !result.broken) {
    std::string why = result.clauses.empty() ? "it has no `expect` clause"
                      : result.checked
                          ? "the conditions of its `expect` clauses hold at "
                            "none of " +
                                runs
                          : "none of its " +
                                std::to_string(result.refused.size()) +
                                " sizes exists";
    InFlightDiagnostic error =
        diags.report(name, diag::NothingChecked, result.name, why);
    if (!result.clauses.empty() && !result.checked)
      error.note(DiagLoc(), diag::NoteExpectAt,
                 paramText(result.refused[0].params) + ": " +
                     result.refused[0].reason);
  }
  return std::move(result);
}

} // namespace pipec
