//===- StepTest.cpp - One step, packed ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/Schedule.h"
#include "IR/StagePeers.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

namespace {

constexpr StepKind allKinds[] = {
#define PIPEC_STEP(Id, Text) StepKind::Id,
#include "Support/Steps.def"
};

TEST(Step, KeepsItsFieldsAtTheirLimits) {
  for (StepKind kind : allKinds)
    for (bool joined : {false, true}) {
      Step step(kind, maxStages - 1, maxUnits - 1, maxPhases - 1,
                SourceLoc{0xffffffff}, joined);
      EXPECT_EQ(step.kind(), kind);
      EXPECT_EQ(step.stage(), maxStages - 1);
      EXPECT_EQ(step.unit(), maxUnits - 1);
      EXPECT_EQ(step.phase(), maxPhases - 1);
      EXPECT_EQ(step.source(), SourceLoc{0xffffffff});
      EXPECT_EQ(step.joined(), joined);
    }
}

TEST(Step, GroupsEndWithTheirList) {
  Step single(StepKind::F, 0, 0), joined(StepKind::F, 0, 1);
  joined.setJoined(true);
  std::vector<Step> list = {single, joined, joined, single};
  EXPECT_EQ(Schedule::groupEnd(list, 0), 1u);
  EXPECT_EQ(Schedule::groupEnd(list, 1), 4u);
  // A faulty pass may leave a joined step at the end of a list.
  EXPECT_EQ(Schedule::groupEnd(ArrayRef(list).take_front(3), 1), 3u);
}

TEST(Step, ReferencesAreInvalidByDefault) {
  EXPECT_FALSE(StepRef().isValid());
  EXPECT_TRUE((StepRef{0, 0}).isValid());
}

TEST(Step, FieldsAreIndependent) {
  Step step(StepKind::F, 1, 2, 3, SourceLoc{4});
  step.setKind(StepKind::Bubble);
  step.setJoined(true);
  step.setPhase(255);
  EXPECT_EQ(step.stage(), 1u);
  EXPECT_EQ(step.unit(), 2u);
  EXPECT_EQ(step.source(), SourceLoc{4});
  step.setSource({});
  step.setJoined(false);
  EXPECT_EQ(step.kind(), StepKind::Bubble);
  EXPECT_EQ(step.phase(), 255u);
}

TEST(Step, NamesAndKinds) {
  for (StepKind kind : allKinds) {
    EXPECT_EQ(parseStepKind(stepKindName(kind)), kind);
    // Every step without a stream is a wait or a bubble.
    EXPECT_EQ(streamOf(kind) == Stream::None,
              isWait(kind) || kind == StepKind::Bubble);
    EXPECT_EQ(objectOf(stateBefore(kind)), objectOf(stateAfter(kind)));
    EXPECT_EQ(objectOf(stateBefore(kind)) == Object::Unit,
              isCompute(kind) && kind != StepKind::Update);
    EXPECT_EQ(isP2P(kind), isSend(kind) || isRecv(kind));
    EXPECT_FALSE(isSend(kind) && isRecv(kind));
    if (isSend(kind)) {
      EXPECT_EQ(sendOfWait(waitOfSend(kind)), kind);
    }
    if (isSendWait(kind)) {
      EXPECT_TRUE(hasUnit(kind) && isWait(kind));
    }
  }
  EXPECT_EQ(parseStepKind("f"), std::nullopt);
  EXPECT_EQ(parseStepKind(""), std::nullopt);
}

TEST(Schedule, PeersFollowFromTheMaps) {
  Schedule schedule;
  schedule.numRanks = 3;
  schedule.numStages = 3;
  schedule.numUnits = 4;
  schedule.placement = Placement({{0, 1, 2}, {2, 1, 0}});
  EXPECT_EQ(schedule.directionOf(1), 0u);
  EXPECT_EQ(schedule.directionOf(2), 1u);
  EXPECT_EQ(test::peerOf(schedule, Step(StepKind::SendF, 0, 0)), 1u);
  EXPECT_EQ(test::peerOf(schedule, Step(StepKind::RecvB, 1, 0)), 2u);
  EXPECT_EQ(test::peerOf(schedule, Step(StepKind::SendB, 1, 0)), 0u);
  EXPECT_EQ(test::peerOf(schedule, Step(StepKind::RecvF, 1, 3)), 2u);
  EXPECT_EQ(test::peerOf(schedule, Step(StepKind::SendF, 1, 3)), 0u);
  EXPECT_FALSE(test::hasPeer(schedule, Step(StepKind::SendF, 2, 0)));
  EXPECT_FALSE(test::hasPeer(schedule, Step(StepKind::RecvB, 2, 0)));
  EXPECT_FALSE(test::hasPeer(schedule, Step(StepKind::RecvF, 0, 0)));
  EXPECT_FALSE(test::hasPeer(schedule, Step(StepKind::SendB, 0, 0)));
}

TEST(Schedule, PhaseNumbers) {
  Schedule schedule;
  EXPECT_EQ(schedule.phaseIndex("warmup"), 0u);
  EXPECT_EQ(schedule.phaseIndex("steady"), 1u);
  EXPECT_EQ(schedule.phaseIndex("warmup"), 0u);
}

} // namespace
