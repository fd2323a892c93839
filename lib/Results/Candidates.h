//===- Candidates.h - Schedules for one model at one size -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `pipec compare` ranks. So that figures of different schedules can be
// held side by side, all run the same model: costs and sizes are those of one
// of a number of equal parts of it, and are spread over the stages that a
// schedule cuts it into (Cost/ModelParts.h). What a program says about
// costs and memory itself is meant for its own stages, and is not looked at.
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
  /// Costs and sizes of one of a number of equal parts of the model.
  GivenSettings given;
  /// Under a model of waiting, with transfers; otherwise the compute steps
  /// alone, under free arrival.
  std::optional<WaitModel> model;
  uint64_t maxSteps = LowerOptions().maxSteps;
};

/// One schedule with one choice of its further parameters.
struct Candidate {
  enum class Outcome {
    Fits,
    TooLarge, // a rank keeps more than it has room for
    Refused,  // it does not exist at these sizes, or cannot run
  };

  std::string name;
  std::string path;
  /// Its parameters but the ranks and the micro-batches, and as text.
  ParamValues values;
  std::string params;
  unsigned stages = 0;
  /// Copies of the model's parameters: 2 of a bidirectional schedule.
  unsigned copies = 1;
  Outcome outcome = Outcome::Refused;
  /// Why it does not fit; empty for one that does.
  std::string reason;
  /// Nothing when it was refused.
  std::optional<Report> figures;

  /// The order of a list: those that fit, by makespan, peak and name, then the
  /// others.
  bool isBefore(const Candidate &other) const;
};

/// Finds out about candidates.
class CandidateEvaluator {
public:
  static llvm::FailureOr<CandidateEvaluator>
  make(const CandidateOptions &options, DiagEngine &diags);

  /// A schedule of a program, with values for further parameters.
  Candidate evaluate(const ScheduleSource &source,
                     const CheckedSchedule &schedule,
                     const ParamValues &params);
  /// A schedule that was read as steps.
  Candidate evaluate(const ScheduleSource &source);

private:
  CandidateEvaluator(const CandidateOptions &options, PassManager transfers,
                     DiagEngine &diags)
      : options(options), transfers(std::move(transfers)), diags(diags) {}
  void measure(llvm::FailureOr<Schedule> schedule, Candidate &candidate);
  llvm::FailureOr<Report> run(Schedule &schedule, Candidate &candidate);

  const CandidateOptions &options;
  /// Puts transfers into a schedule that has none.
  PassManager transfers;
  DiagEngine &diags;
};

} // namespace pipec

#endif // PIPEC_RESULTS_CANDIDATES_H
