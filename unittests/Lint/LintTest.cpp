//===- LintTest.cpp - The findings of lint --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/Lint.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/Waiting.h"

#include "gtest/gtest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

/// The kinds that lint reports, and its result.
struct Findings {
  std::vector<std::pair<diag::Id, Severity>> kinds;
  LintResult result;

  explicit Findings(const Schedule &schedule,
                    const LintOptions &options = LintOptions()) {
    SourceFiles files;
    DiagEngine diags(files, [this](const Diagnostic &d) {
      kinds.push_back({d.id, d.severity});
    });
    result = lint(schedule, options, diags);
  }
};

/// 1F1B of two ranks and two micro-batches after the passes for PyTorch.
Schedule lowered() {
  Schedule schedule;
  schedule.numRanks = schedule.numStages = schedule.numUnits = 2;
  schedule.placement = Placement({{0, 1}});
  schedule.phases = {"all"};
  using K = StepKind;
  schedule.ranks = {
      {Step(K::F, 0, 0), Step(K::SendF, 0, 0), Step(K::F, 0, 1),
       Step(K::RecvB, 0, 0), Step(K::SendF, 0, 1), Step(K::B, 0, 0),
       Step(K::RecvB, 0, 1), Step(K::B, 0, 1), Step(K::ReduceGrad, 0, 0)},
      {Step(K::RecvF, 1, 0), Step(K::F, 1, 0), Step(K::B, 1, 0),
       Step(K::SendB, 1, 0), Step(K::RecvF, 1, 1), Step(K::F, 1, 1),
       Step(K::B, 1, 1), Step(K::SendB, 1, 1), Step(K::ReduceGrad, 1, 0)}};
  return schedule;
}

using Kinds = std::vector<std::pair<diag::Id, Severity>>;

/// An outcome with these models.
static WaitOutcomes under(std::initializer_list<WaitModel> models) {
  WaitOutcomes outcomes;
  for (WaitModel model : models)
    outcomes[model] = true;
  return outcomes;
}
static WaitOutcomes everywhere() {
  WaitOutcomes outcomes;
  outcomes.fill(true);
  return outcomes;
}

} // namespace

TEST(Lint, CorrectListHasNoFinding) {
  Findings good(lowered());
  EXPECT_EQ(good.kinds, Kinds());
  EXPECT_EQ(good.result.safe, everywhere());
}

TEST(Lint, GradesWhatTrainingCountsOn) {
  Schedule schedule = lowered();
  schedule.ranks[0].pop_back();
  schedule.ranks[1].pop_back();
  Findings plain(schedule);
  EXPECT_EQ(plain.kinds, (Kinds{{diag::NoReduceGrad, Severity::Warning}}));
  LintOptions options;
  options.noReduceGrad = Severity::Error;
  EXPECT_EQ(Findings(schedule, options).kinds,
            (Kinds{{diag::NoReduceGrad, Severity::Error}}));
  options.noReduceGrad.reset();
  EXPECT_EQ(Findings(schedule, options).kinds, Kinds());

  // Without backwards there are no gradients to divide.
  for (StepList &list : schedule.ranks)
    llvm::erase_if(list, [](Step step) {
      return step.kind() == StepKind::B || step.kind() == StepKind::SendB ||
             step.kind() == StepKind::RecvB;
    });
  schedule.forwardOnly = true;
  EXPECT_EQ(Findings(schedule).kinds,
            (Kinds{{diag::ForwardOnly, Severity::Note}}));
  options.forwardOnly.reset();
  EXPECT_EQ(Findings(schedule, options).kinds, Kinds());

  // One of the two is an error in the list and not a configurable finding.
  schedule = lowered();
  schedule.ranks[0].pop_back();
  EXPECT_EQ(Findings(schedule).kinds,
            (Kinds{{diag::ReduceGradMissing, Severity::Error}}));

  schedule = lowered();
  schedule.ranks[1].insert(schedule.ranks[1].begin(),
                           {Step(StepKind::Unshard, 1, 0),
                            Step(StepKind::Reshard, 1, 0),
                            Step(StepKind::Unshard, 1, 0)});
  schedule.ranks[1].push_back(Step(StepKind::Reshard, 1, 0));
  EXPECT_EQ(Findings(schedule).kinds,
            (Kinds{{diag::UnshardUnused, Severity::Warning}}));
}

TEST(Lint, DeadlocksByTheRequiredModel) {
  // Both ranks send before they receive.
  Schedule schedule = lowered();
  std::swap(schedule.ranks[0][3], schedule.ranks[0][4]);
  Findings strict(schedule);
  EXPECT_EQ(strict.kinds, (Kinds{{diag::Deadlock, Severity::Error}}));
  EXPECT_EQ(strict.result.safe,
            under({WaitModel::Edge, WaitModel::Buffered, WaitModel::Blocking}));
  LintOptions options;
  options.require = WaitModel::Edge;
  EXPECT_EQ(Findings(schedule, options).kinds,
            (Kinds{{diag::Deadlock, Severity::Warning}}));
}

TEST(Lint, CrossedTensorsAreSafeNowhere) {
  Schedule schedule = lowered();
  StepList &list = schedule.ranks[1];
  std::swap(list[0], list[4]);
  std::swap(list[1], list[5]);
  std::swap(list[2], list[6]);
  std::swap(list[3], list[7]);
  Findings crossed(schedule);
  EXPECT_FALSE(crossed.kinds.empty());
  EXPECT_EQ(crossed.result.safe, under({}));
  auto hasError = [&](diag::Id id) {
    return llvm::is_contained(crossed.kinds,
                              std::make_pair(id, Severity::Error));
  };
  EXPECT_TRUE(hasError(diag::TransferCrossed));
  // Micro-batch 1 is first on the last stage: PyTorch would pair losses
  // incorrectly.
  EXPECT_TRUE(hasError(diag::LossOrder));
}

TEST(Lint, ComputesAloneAreSafeWhenTheyRun) {
  Rng rng(5);
  Schedule schedule = randomSchedule(rng, {3, 4, 3});
  EXPECT_EQ(Findings(schedule).result.safe, everywhere());
  std::reverse(schedule.ranks[0].begin(), schedule.ranks[0].end());
  EXPECT_EQ(Findings(schedule).result.safe, under({}));
}
