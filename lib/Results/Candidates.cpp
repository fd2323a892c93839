//===- Candidates.cpp - Schedules for one model at one size ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/Candidates.h"

#include "Support/Words.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace llvm;

namespace pipec {

bool Candidate::isBefore(const Candidate &other) const {
  if (outcome != other.outcome)
    return outcome < other.outcome;
  if (outcome == Outcome::Fits) {
    if (int order =
            Rational::compare(figures->makespan, other.figures->makespan))
      return order < 0;
    if (int order = Rational::compare(figures->memory.total,
                                      other.figures->memory.total))
      return order < 0;
  }
  return std::tie(name, values) < std::tie(other.name, other.values);
}

FailureOr<CandidateEvaluator>
CandidateEvaluator::make(const CandidateOptions &options, DiagEngine &diags) {
  FailureOr<Pipeline> pipeline =
      parsePipeline("insert-p2p", allPasses(), diags);
  if (failed(pipeline))
    return failure();
  return CandidateEvaluator(options, PassManager(std::move(*pipeline)), diags);
}

/// Keeps only the compute steps.
static void dropTransfers(Schedule &schedule) {
  for (StepList &list : schedule.ranks)
    llvm::erase_if(list, [](Step step) { return !isCompute(step.kind()); });
  schedule.times.clear();
}

FailureOr<Report> CandidateEvaluator::run(Schedule &schedule,
                                          const GivenSettings &given,
                                          Candidate &candidate) {
  candidate.stages = schedule.numStages;
  candidate.copies = schedule.placement.numDirections();
  schedule.costs = CostSettings();
  schedule.memory = MemorySettings();
  if (given.layout)
    if (auto stages = given.layout->cut(schedule.numStages))
      candidate.layout = layoutText(*stages);
  if (failed(applyCosts(schedule, given, diags)) ||
      failed(applyMemory(schedule, given, diags)) ||
      failed(verify(schedule, diags)))
    return failure();
  if (!options.model)
    dropTransfers(schedule);
  else if (!schedule.hasP2P() && failed(transfers.run(schedule, diags)))
    return failure();
  return pipec::measure(schedule, options.model, diags);
}

void CandidateEvaluator::measure(FailureOr<Schedule> schedule,
                                 const GivenSettings &given,
                                 Candidate &candidate) {
  if (failed(schedule))
    return;
  FailureOr<Report> figures = run(*schedule, given, candidate);
  if (failed(figures))
    return;
  candidate.figures = std::move(*figures);
  candidate.reason.clear();
  candidate.outcome = Candidate::Outcome::Fits;
  Rational most = candidate.figures->memory.total;
  if (candidate.figures->isOverLimit()) {
    candidate.outcome = Candidate::Outcome::TooLarge;
    candidate.reason = "a rank keeps " + decimalText(most);
  }
}

/// For the lifetime of the result, errors are stored as the reason why the
/// candidate is not ranked.
static DiagEngine::ScopedFilter keepReason(Candidate &candidate,
                                           DiagEngine &diags) {
  return DiagEngine::ScopedFilter(diags, [&candidate](Diagnostic &found) {
    if (candidate.reason.empty())
      candidate.reason = found.message;
    return false;
  });
}

Candidate CandidateEvaluator::evaluate(const ScheduleSource &source,
                                       const CheckedSchedule &schedule,
                                       const ParamValues &params,
                                       const GivenSettings &given) {
  Candidate candidate;
  candidate.name = schedule.decl->name.text.str();
  candidate.path = source.path();
  // Leave out the size, which is the same for all candidates.
  ParamValues further;
  for (const auto &[name, value] : params) {
    const auto *param =
        find_if(schedule.decl->params, [&, &name = name](const auto &param) {
          return param.name.text == name || param.label.text == name;
        });
    if (param->role != ast::Role::Ranks &&
        param->role != ast::Role::Microbatches)
      further.push_back({name, value});
  }
  candidate.values = further;
  candidate.params = paramText(further);
  auto kept = keepReason(candidate, diags);

  LowerOptions lowering;
  lowering.maxSteps = options.maxSteps;
  lowering.params = {{"ranks", options.ranks},
                     {"microbatches", options.microbatches}};
  llvm::append_range(lowering.params, further);
  FailureOr<Schedule> lowered = source.lower(schedule, lowering, diags);
  if (succeeded(lowered)) {
    candidate.values.clear();
    for (const auto &[param, value] :
         zip_equal(schedule.decl->params, lowered->params))
      if (param.role != ast::Role::Ranks &&
          param.role != ast::Role::Microbatches)
        candidate.values.push_back(
            {(param.label.text.empty() ? param.name : param.label).text.str(),
             value.second});
    candidate.params = paramText(candidate.values);
  }
  measure(std::move(lowered), given, candidate);
  return candidate;
}

Candidate CandidateEvaluator::evaluate(const ScheduleSource &source,
                                       const GivenSettings &given) {
  Candidate candidate;
  candidate.name = candidate.path = source.path();
  FailureOr<Schedule> schedule = source.read({}, {}, diags);
  if (failed(schedule)) {
    candidate.reason = "it cannot be read";
    return candidate;
  }
  candidate.name = schedule->name;
  if (schedule->numRanks != options.ranks ||
      schedule->numMicrobatches != options.microbatches) {
    candidate.reason =
        "it has " + countText(schedule->numRanks, "rank") + " and " +
        countText(schedule->numMicrobatches, "micro-batch", "es");
    return candidate;
  }
  auto kept = keepReason(candidate, diags);
  measure(std::move(schedule), given, candidate);
  return candidate;
}

} // namespace pipec
