//===- ExpectCheck.cpp - Checking `expect` clauses ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/ExpectCheck.h"

#include "Simulation/Memory.h"
#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static bool holds(Expectation::Relation relation, Rational measured,
                  Rational expected) {
  // In the order of the relations: if the measured value is less, equal, more.
  static constexpr bool table[][3] = {
      {false, true, false}, {true, false, true},  {true, false, false},
      {true, true, false},  {false, false, true}, {false, true, true}};
  return table[unsigned(relation)][Rational::compare(measured, expected) + 1];
}

/// The value of a metric; empty if a rate does not fit 64 bits.
static std::optional<Rational>
measure(const Expectation &expectation, const Simulation &run,
        function_ref<ArrayRef<MemoryPeaks>()> peaks) {
  unsigned rank = expectation.rank.value_or(0);
  switch (expectation.metric) {
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc)                            \
  case Expectation::Metric::Id:                                                \
    return Value;
#include "Cost/Metrics.def"
  }
  llvm_unreachable("all metrics are measured");
}

FailureOr<std::vector<CheckedFigure>>
checkExpectations(const Schedule &schedule, DiagEngine &diags) {
  std::vector<CheckedFigure> figures;
  if (schedule.expectations.empty())
    return figures;
  FailureOr<Simulation> run = simulate(schedule, diags);
  if (failed(run))
    return failure();
  // Computed for the first clause that needs them.
  std::optional<std::vector<MemoryPeaks>> peaks;
  bool failed = false;
  auto peaksOnce = [&]() -> ArrayRef<MemoryPeaks> {
    if (!peaks) {
      FailureOr<MemoryModel> model = MemoryModel::make(schedule, diags);
      failed = llvm::failed(model);
      peaks.emplace(schedule.numRanks);
      for (unsigned rank = 0; !failed && rank != schedule.numRanks; ++rank)
        (*peaks)[rank] = model->peaks(rank);
    }
    return *peaks;
  };
  figures.reserve(schedule.expectations.size());
  for (const Expectation &expectation : schedule.expectations) {
    std::optional<Rational> measured = measure(expectation, *run, peaksOnce);
    if (failed)
      return failure();
    if (!measured)
      return diags.report(expectation.source, diag::TimesTooLarge);
    figures.push_back(
        {expectation, *measured,
         holds(expectation.relation, *measured, expectation.value)});
  }
  return figures;
}

std::string figureName(const Expectation &expectation) {
  std::string name = metricName(expectation.metric).str();
  if (expectation.rank)
    name += " of rank " + std::to_string(*expectation.rank);
  return name;
}

} // namespace pipec
