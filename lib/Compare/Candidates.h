//===- Candidates.h - Schedules for one model at one size -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedules that `pipec compare` ranks. To make their figures comparable,
// all run the same model: costs and sizes are given for one of a number of
// equal parts of it, and spread over the stages that a schedule cuts it into
// (Cost/ModelParts.h), or for its layers (Cost/LayerCosts.h). The costs and
// memory settings of a program are for its own stages, and are ignored.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Compare/Frameworks.h"
#include "Driver/Figures.h"
#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Pass/PassManager.h"
#include "SearchRun/PlacementSearch.h"
#include "Transforms/Passes.h"

#include <optional>

namespace pipec {

/// A target whose lists are compared.
struct ShippedTarget {
  std::string name;
  PassManager passes;
  /// For a target of PyTorch, its version; null for another one.
  const TorchVersion *torch = nullptr;
};

/// The target called `name`, for a job with communicators of a form.
llvm::FailureOr<ShippedTarget>
makeShippedTarget(llvm::StringRef name, DiagEngine &diags,
                  std::optional<CommunicatorForm> communicators = {});

struct CandidateOptions {
  unsigned ranks = 0;
  unsigned microbatches = 0;
  /// The slices of a micro-batch, where a schedule can have them.
  unsigned slices = 1;
  /// Costs and sizes of the model: of one of a number of equal parts of it, or
  /// of its layers in one or several layouts. There is at least one.
  std::vector<GivenSettings> given;
  /// Empty: the computes alone, or with `model` the lists of `insert-p2p`.
  std::vector<ShippedTarget> targets;
  /// `--communicators`, for the targets that search for the order of transfers.
  std::optional<CommunicatorForm> communicators;
  /// The communication model, for runs with transfers; nothing means the
  /// compute steps alone, under free arrival.
  std::optional<CommModel> model;
  std::optional<Jitter> jitter;
  uint64_t maxSteps = LowerOptions().maxSteps;
};

/// One of the forms in which each schedule is compared.
struct CandidateForm {
  const GivenSettings *given;
  /// Null without a target.
  ShippedTarget *target;
};

/// A schedule with one choice of its other parameters, in one form.
struct Candidate {
  enum class Outcome {
    Fits,
    TooLarge, // a rank exceeds the memory limit
    Refused,  // it does not exist at these sizes, or cannot run
  };
  static constexpr size_t numOutcomes = size_t(Outcome::Refused) + 1;

  std::string name;
  /// The file that it is read from; empty for one that was found.
  std::string path;
  /// `library` or the file, which tells it from another one of its name; after
  /// `Comparison::sort` empty if there is none.
  std::string origin;
  /// The words with which a command line names it: a name or a file, and an
  /// option if the file has several schedules.
  std::vector<std::string> input;
  /// It has parameters, also for its sizes.
  bool isProgram = false;
  /// Its parameters except the ranks and the micro-batches, and as text.
  ParamValues values;
  std::string params;
  /// The form: the layers of its stages and the target; empty without.
  std::string layout;
  std::string target;
  /// True if the layers of its stages are known, from `layout` or its own.
  bool hasLayers = false;
  unsigned stages = 0;
  /// What keeps it within the memory limit: "recompute" or "offload"; empty if
  /// nothing has to.
  std::string memoryBy;
  /// For a program that gets slices by the option: their number.
  unsigned slices = 1;
  /// The number of copies of the model's parameters: 2 for a bidirectional
  /// schedule.
  unsigned copies = 1;
  Outcome outcome = Outcome::Refused;
  /// Why it does not fit; empty if it does.
  std::string reason;
  /// Empty if it was refused.
  std::optional<Report> figures;
  /// The compute kinds of its steps (CostUse), those with costs that were
  /// assumed, and how its costs were rounded.
  uint8_t kinds = 0;
  AssumedCosts assumed;
  CostRounding rounding;
  /// Where it runs; of no meaning if it was refused.
  Verdicts verdicts;
  /// A hash of the placement and the compute steps: equal for equal orders.
  std::pair<uint64_t, uint64_t> order;
  /// For a schedule that was found: how, the form of its backwards, and the
  /// bound of the schedules of the same placement, with any backwards and, if
  /// layouts were searched, all layouts.
  std::optional<SearchRequest> request;
  BackwardForm form = BackwardForm::Split;
  std::optional<Rational> bound;
  /// The row of the table, from 1; 0 if it does not fit.
  unsigned place = 0;

  /// The order of a list: candidates that fit, by makespan, peak and name, then
  /// the others.
  bool isBefore(const Candidate &other) const;
  /// `zbv`, `zbv (library)`
  std::string shownName() const {
    return origin.empty() ? name : name + " (" + origin + ")";
  }
  /// `zbv`, `interleaved (chunks = 2)`
  std::string title() const {
    return params.empty() ? shownName() : shownName() + " (" + params + ")";
  }
};

/// Computes the figures of candidates.
class CandidateEvaluator {
public:
  static llvm::FailureOr<CandidateEvaluator>
  make(const CandidateOptions &options, FrameworkJudge &judge,
       DiagEngine &diags);

  /// Evaluates a schedule of a program, with values for its other parameters.
  Candidate evaluate(const ScheduleSource &source,
                     const CheckedSchedule &schedule, const ParamValues &params,
                     CandidateForm form);
  /// Evaluates a schedule that was read as steps.
  Candidate evaluate(const ScheduleSource &source, CandidateForm form);
  /// Searches a schedule, under the settings of `forms`, and evaluates it in
  /// each of them.
  std::vector<Candidate> search(ScheduleSearch &search,
                                const SearchRequest &request,
                                llvm::ArrayRef<CandidateForm> forms);

private:
  CandidateEvaluator(const CandidateOptions &options, PassManager transfers,
                     FrameworkJudge &judge, DiagEngine &diags)
      : options(options), transfers(std::move(transfers)), judge(judge),
        diags(diags) {}
  void measure(llvm::FailureOr<Schedule> schedule, CandidateForm form,
               Candidate &candidate);
  void measureAsIs(Schedule schedule, CandidateForm form, Candidate &candidate);
  void saveMemory(const Schedule &schedule, CandidateForm form,
                  Candidate &candidate);
  llvm::LogicalResult applySettings(Schedule &schedule,
                                    const GivenSettings &given,
                                    Candidate &candidate);
  llvm::LogicalResult runPasses(Schedule &schedule, ShippedTarget *target);
  llvm::FailureOr<Report> run(Schedule &schedule, CandidateForm form,
                              Candidate &candidate);

  const CandidateOptions &options;
  /// Adds transfers to a schedule without any.
  PassManager transfers;
  FrameworkJudge &judge;
  DiagEngine &diags;
};

} // namespace pipec
