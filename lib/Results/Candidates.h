//===- Candidates.h - Schedules for one model at one size -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedules that `pipec compare` ranks. To make their figures comparable,
// all run the same model: costs and sizes are given for one of a number of
// equal parts of it, and spread over the stages that a schedule cuts it into
// (Cost/ModelParts.h), or for its layers (Cost/LayerCosts.h). The costs and
// memory settings of a program are for its own stages, and are ignored.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_CANDIDATES_H
#define PIPEC_RESULTS_CANDIDATES_H

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Pass/PassManager.h"
#include "Results/Figures.h"

#include <optional>

namespace pipec {

struct CandidateOptions {
  unsigned ranks = 0;
  unsigned microbatches = 0;
  /// Costs and sizes of the model: of one of a number of equal parts of it, or
  /// of its layers in one or several layouts. There is at least one.
  std::vector<GivenSettings> given;
  /// The communication model, for runs with transfers; nothing means the
  /// compute steps alone, under free arrival.
  std::optional<WaitModel> model;
  uint64_t maxSteps = LowerOptions().maxSteps;
};

/// A schedule with one choice of its other parameters.
struct Candidate {
  enum class Outcome {
    Fits,
    TooLarge, // a rank exceeds the memory limit
    Refused,  // it does not exist at these sizes, or cannot run
  };

  std::string name;
  std::string path;
  /// Its parameters except the ranks and the micro-batches, and as text.
  ParamValues values;
  std::string params;
  /// The layers of its stages; empty without a layout.
  std::string layout;
  unsigned stages = 0;
  /// The number of copies of the model's parameters: 2 for a bidirectional
  /// schedule.
  unsigned copies = 1;
  Outcome outcome = Outcome::Refused;
  /// Why it does not fit; empty if it does.
  std::string reason;
  /// Nothing if it was refused.
  std::optional<Report> figures;

  /// The order of a list: candidates that fit, by makespan, peak and name, then
  /// the others.
  bool isBefore(const Candidate &other) const;
};

/// Computes the figures of candidates.
class CandidateEvaluator {
public:
  static llvm::FailureOr<CandidateEvaluator>
  make(const CandidateOptions &options, DiagEngine &diags);

  /// Evaluates a schedule of a program, with values for its other parameters,
  /// under one of the given settings.
  Candidate evaluate(const ScheduleSource &source,
                     const CheckedSchedule &schedule, const ParamValues &params,
                     const GivenSettings &given);
  /// Evaluates a schedule that was read as steps.
  Candidate evaluate(const ScheduleSource &source, const GivenSettings &given);

private:
  CandidateEvaluator(const CandidateOptions &options, PassManager transfers,
                     DiagEngine &diags)
      : options(options), transfers(std::move(transfers)), diags(diags) {}
  void measure(llvm::FailureOr<Schedule> schedule, const GivenSettings &given,
               Candidate &candidate);
  llvm::FailureOr<Report> run(Schedule &schedule, const GivenSettings &given,
                              Candidate &candidate);

  const CandidateOptions &options;
  /// Adds transfers to a schedule without any.
  PassManager transfers;
  DiagEngine &diags;
};

} // namespace pipec

#endif // PIPEC_RESULTS_CANDIDATES_H
