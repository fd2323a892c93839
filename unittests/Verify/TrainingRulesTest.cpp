//===- TrainingRulesTest.cpp - Assumptions of training loops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verify/TrainingRules.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

namespace {

class TrainingRules : public testing::Test {
protected:
  TrainingRules() {
    schedule.numRanks = 2;
    schedule.numStages = 2;
    schedule.numUnits = 3;
    schedule.placement = Placement({{0, 1}});
    schedule.ranks.resize(2);
  }

  SourceFiles files;
  std::vector<std::string> messages;
  DiagEngine diags{files, [this](const Diagnostic &d) {
                     messages.push_back(d.message);
                     for (const Diagnostic &note : d.notes)
                       messages.push_back(note.message);
                   }};
  Schedule schedule;
};

TEST_F(TrainingRules, LossOrder) {
  // Other stages may run in any order.
  schedule.ranks[0] = {Step(StepKind::F, 0, 2), Step(StepKind::F, 0, 0)};
  schedule.ranks[1] = {Step(StepKind::F, 1, 0), Step(StepKind::F, 1, 1),
                       Step(StepKind::B, 1, 0), Step(StepKind::F, 1, 2)};
  EXPECT_TRUE(checkLossOrder(schedule, Severity::Error, diags));
  EXPECT_TRUE(messages.empty());

  std::swap(schedule.ranks[1][1], schedule.ranks[1][3]);
  EXPECT_FALSE(checkLossOrder(schedule, Severity::Error, diags));
  EXPECT_EQ(diags.numErrors(), 1u);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0],
            "rank 1 step 3, `F s1 m1`, computes its loss after that of "
            "`F s1 m2`");
  EXPECT_EQ(messages[1], "rank 1 step 1, `F s1 m2` is here");

  // The caller chooses the severity.
  EXPECT_FALSE(checkLossOrder(schedule, Severity::Warning, diags));
  EXPECT_EQ(diags.numErrors(), 1u);
  EXPECT_EQ(diags.numWarnings(), 1u);
}

TEST_F(TrainingRules, UnshardsUsed) {
  schedule.ranks[0] = {Step(StepKind::Unshard, 0, 0), Step(StepKind::F, 0, 0),
                       Step(StepKind::Reshard, 0, 0)};
  EXPECT_TRUE(checkUnshardsUsed(schedule, Severity::Warning, diags));
  for (Step step :
       {Step(StepKind::Unshard, 0, 0), Step(StepKind::Unshard, 1, 0),
        Step(StepKind::F, 1, 0), Step(StepKind::Reshard, 0, 0),
        Step(StepKind::Reshard, 1, 0)})
    schedule.ranks[0].push_back(step);
  EXPECT_FALSE(checkUnshardsUsed(schedule, Severity::Warning, diags));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], "rank 0 step 3, `UNSHARD s0`, is not used by any step "
                         "before its `RESHARD`");
}

} // namespace
