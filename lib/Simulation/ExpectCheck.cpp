//===- ExpectCheck.cpp - `expect` clauses against a run -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simulation/ExpectCheck.h"

#include "Simulation/Memory.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static bool holds(Expectation::Relation relation, Rational measured,
                  Rational expected) {
  int order = Rational::compare(measured, expected);
  switch (relation) {
  case Expectation::Relation::EQ:
    return order == 0;
  case Expectation::Relation::NE:
    return order != 0;
  case Expectation::Relation::LT:
    return order < 0;
  case Expectation::Relation::LE:
    return order <= 0;
  case Expectation::Relation::GT:
    return order > 0;
  case Expectation::Relation::GE:
    return order >= 0;
  }
  llvm_unreachable("all relations are compared");
}

/// The value of a metric; nothing when a rate does not fit 64 bits.
static std::optional<Rational> measure(const Expectation &expectation,
                                       const Simulation &run,
                                       ArrayRef<Rational> peaks) {
  switch (expectation.metric) {
  case Expectation::Metric::Makespan:
    return run.time(run.makespan());
  case Expectation::Metric::Span:
    return run.time(run.span());
  case Expectation::Metric::BubbleMakespan:
    return run.bubbleRate(run.makespan());
  case Expectation::Metric::BubbleSpan:
    return run.bubbleRate(run.span());
  case Expectation::Metric::Idle:
    return run.time(run.makespan() - run.ranks()[*expectation.rank].work);
  case Expectation::Metric::Peak:
    return peaks[*expectation.rank];
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
  std::vector<Rational> peaks;
  if (any_of(schedule.expectations, [](const Expectation &expectation) {
        return expectation.metric == Expectation::Metric::Peak;
      })) {
    FailureOr<std::vector<Rational>> measured = peakMemory(schedule, diags);
    if (failed(measured))
      return failure();
    peaks = std::move(*measured);
  }
  figures.reserve(schedule.expectations.size());
  for (const Expectation &expectation : schedule.expectations) {
    std::optional<Rational> measured = measure(expectation, *run, peaks);
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
