//===- DataFlowTest.cpp - The table of data flow against its graph --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/DataFlow.h"
#include "IR/GraphSchedules.h"
#include "IR/StagePeers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include "gtest/gtest.h"

#include <set>
#include <string>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

std::string text(Step step) {
  return (stepKindName(step.kind()) + Twine(step.stage()) + "." +
          Twine(step.unit()))
      .str();
}

/// The steps at the other ends of some ports, and their ranks.
std::string text(ArrayRef<DataFlow::Port> ports) {
  std::string all;
  for (const DataFlow::Port &port : ports)
    all += (all.empty() ? "" : " ") + stepKindName(port.kind).str() +
           std::to_string(port.stage) + "@" + std::to_string(port.rank) +
           (port.transfers ? "!" : "");
  return all;
}

std::vector<Step> stepsOf(const Schedule &schedule) {
  std::vector<Step> steps;
  for (const StepList &list : schedule.ranks)
    llvm::append_range(steps, list);
  return steps;
}

/// Checks the whole table of a graph against its edges.
void checkTable(const Schedule &schedule, const Model &graph) {
  DataFlow flow(schedule);
  std::vector<Step> steps = stepsOf(schedule);
  std::set<size_t> numbers;
  for (Step consumer : steps) {
    std::vector<std::string> producers;
    for (Step producer : producersOf(graph, consumer))
      producers.push_back(text(producer));
    std::vector<std::string> found;
    for (const auto &[number, input] : enumerate(flow.inputs(consumer))) {
      Step producer = DataFlow::partner(input, consumer.unit());
      found.push_back(text(producer));
      ASSERT_EQ(input.rank, schedule.placement.rankOf(input.stage, 0));
      ASSERT_EQ(input.transfers, input.rank != flow.home(consumer));
      // The same datum, seen from its producer.
      ASSERT_LT(input.port, flow.outputs(producer).size());
      const DataFlow::Port &output = flow.outputs(producer)[input.port];
      ASSERT_EQ(output.stage, consumer.stage());
      ASSERT_EQ(output.kind, consumer.kind());
      ASSERT_EQ(output.port, number);
      size_t datum = flow.datum(input, consumer.unit());
      ASSERT_EQ(flow.datum(output, consumer.unit()), datum);
      ASSERT_LT(datum, flow.size());
      ASSERT_TRUE(numbers.insert(datum).second);
    }
    llvm::sort(producers);
    llvm::sort(found);
    ASSERT_EQ(found, producers) << text(consumer);
  }
  // Every output is an input of some step.
  size_t outputs = 0;
  for (Step producer : steps)
    outputs += flow.outputs(producer).size();
  ASSERT_EQ(outputs, numbers.size());
}

} // namespace

TEST(StepFacts, FollowFromTheTableOfKinds) {
  auto kindsThat = [](auto is) {
    std::string names;
    for (unsigned kind = 0; kind != numStepKinds; ++kind)
      if (is(StepKind(kind)))
        names += stepKindName(StepKind(kind)).str() + " ";
    return names;
  };
  EXPECT_EQ(kindsThat(isCompute), "F B I W R UPDATE ");
  EXPECT_EQ(kindsThat(isSend), "SEND_F SEND_B ");
  EXPECT_EQ(kindsThat(isRecv), "RECV_F RECV_B ");
  EXPECT_EQ(kindsThat(isP2P), "SEND_F RECV_F SEND_B RECV_B ");
  EXPECT_EQ(kindsThat(isSendWait), "WAIT_SEND_F WAIT_SEND_B ");
  EXPECT_EQ(
      kindsThat([](StepKind kind) { return streamOf(kind) == Stream::Gather; }),
      "UNSHARD RESHARD REDUCE_GRAD ");
  EXPECT_EQ(kindsThat(isWait),
            "WAIT_SEND_F WAIT_SEND_B WAIT_REDUCE_GRAD WAIT_OFFLOAD ");
  EXPECT_EQ(kindsThat(makesInputGradient), "B I ");
  EXPECT_EQ(kindsThat(makesWeightGradient), "B W ");
  EXPECT_EQ(kindsThat(makesData), "F B I ");
  EXPECT_EQ(kindsThat([](StepKind kind) { return !hasUnit(kind); }),
            "UPDATE UNSHARD RESHARD REDUCE_GRAD WAIT_REDUCE_GRAD REDUCE_TIED "
            "bubble ");
  EXPECT_EQ(kindsThat([](StepKind kind) { return !hasStage(kind); }),
            "REDUCE_TIED bubble ");
  EXPECT_EQ(kindsThat(isPosted),
            "UNSHARD RESHARD REDUCE_GRAD OFFLOAD RELOAD REDUCE_TIED ");
  EXPECT_EQ(sendOfWait(StepKind::WaitSendB), StepKind::SendB);
  EXPECT_EQ(waitOfSend(StepKind::SendF), StepKind::WaitSendF);
  EXPECT_EQ(recvKind(DataKind::Gradient), StepKind::RecvB);
}

TEST(DataFlow, OfAChain) {
  Schedule schedule = headerFor(chainOf(3), 4);
  schedule.placement = Placement({{0, 0, 1}, {2, 1, 1}});
  schedule.numRanks = 3;
  schedule.ranks.resize(3);
  DataFlow flow(schedule);
  auto row = [&](StepKind kind, unsigned stage, unsigned microbatch) {
    Step step(kind, stage, microbatch);
    return text(flow.inputs(step)) + " -> " + text(flow.outputs(step));
  };
  EXPECT_EQ(row(StepKind::F, 0, 0), " -> F1@0");
  EXPECT_EQ(row(StepKind::F, 1, 1), "F0@0 -> F2@1!");
  EXPECT_EQ(row(StepKind::F, 2, 1), "F1@0! -> ");
  EXPECT_EQ(row(StepKind::B, 2, 1), " -> B1@0!");
  EXPECT_EQ(row(StepKind::I, 1, 0), "B2@1! -> B0@0");
  // Direction 1.
  EXPECT_EQ(row(StepKind::F, 0, 2), " -> F1@1!");
  EXPECT_EQ(row(StepKind::B, 1, 3), "B2@1 -> B0@2!");
  for (StepKind kind :
       {StepKind::W, StepKind::SendF, StepKind::RecvB, StepKind::Unshard,
        StepKind::ReduceGrad, StepKind::WaitReduceGrad, StepKind::ReduceTied,
        StepKind::Bubble})
    EXPECT_EQ(row(kind, 1, 0), " -> ");
  EXPECT_EQ(flow.home(1, 1), 0u);
  EXPECT_EQ(flow.home(1, 2), 1u);
  EXPECT_TRUE(flow.isSimple());

  // The peers of P2P steps are those of the closed form.
  for (StepKind kind :
       {StepKind::SendF, StepKind::RecvF, StepKind::SendB, StepKind::RecvB})
    for (unsigned stage = 0; stage != 3; ++stage)
      for (unsigned m = 0; m != 4; ++m) {
        Step step(kind, stage, m);
        const DataFlow::Port *port = flow.transfer(step);
        ASSERT_EQ(port != nullptr, test::hasPeer(schedule, step));
        if (!port)
          continue;
        EXPECT_EQ(port->rank, test::peerOf(schedule, step));
        Step other = DataFlow::otherEnd(step, *port);
        EXPECT_EQ(isSend(other.kind()), !isSend(kind));
        EXPECT_TRUE(
            DataFlow::otherEnd(other, *flow.transfer(other)).sameAction(step));
      }
  EdgeNumbers edges(flow);
  ASSERT_EQ(edges.size(), 4u);
  EXPECT_EQ(edges.ranks(0), std::pair(0u, 1u));
  EXPECT_EQ(edges.find(2, 1), 3u);
}

TEST(DataFlow, WithWhatStagesKeep) {
  Schedule schedule = headerFor(chainOf(2), 1);
  DataFlow flow = DataFlow::withKept(schedule);
  auto row = [&](StepKind kind, unsigned stage) {
    Step step(kind, stage, 0);
    return text(flow.inputs(step)) + " -> " + text(flow.outputs(step));
  };
  EXPECT_EQ(row(StepKind::F, 0), " -> F1@1! B0@0");
  EXPECT_EQ(row(StepKind::F, 1), "F0@0! -> B1@1");
  EXPECT_EQ(row(StepKind::B, 1), "F1@1 -> B0@0! W1@1");
  EXPECT_EQ(row(StepKind::I, 0), "B1@1! F0@0 -> W0@0");
  EXPECT_EQ(row(StepKind::W, 0), "B0@0 -> ");
}

TEST(DataFlow, OfAForwardOnlyChain) {
  Schedule schedule = headerFor(chainOf(3), 2);
  schedule.forwardOnly = true;
  EXPECT_EQ(DataFlow(schedule).size(), 6u);
  // An unverified schedule may have backwards.
  schedule.ranks[1].push_back(Step(StepKind::RecvB, 1, 0));
  EXPECT_EQ(DataFlow(schedule).size(), 12u);
}

TEST(DataFlow, OfAFork) {
  Schedule schedule = headerFor(forkGraph(), 2);
  DataFlow flow(schedule);
  EXPECT_EQ(text(flow.inputs(Step(StepKind::F, 0, 0))), "");
  EXPECT_EQ(text(flow.outputs(Step(StepKind::F, 0, 0))), "F1@1! F2@2!");
  EXPECT_EQ(text(flow.inputs(Step(StepKind::F, 2, 0))), "F0@0!");
  EXPECT_EQ(text(flow.inputs(Step(StepKind::I, 0, 0))), "B1@1! B2@2!");
  EXPECT_EQ(text(flow.outputs(Step(StepKind::B, 2, 0))), "B0@0!");
  // The second output of stage 0 is the first input of stage 2.
  Step send(StepKind::SendF, 0, 1);
  send.setPort(1);
  ASSERT_NE(flow.transfer(send), nullptr);
  EXPECT_EQ(flow.transfer(send)->rank, 2u);
  Step receive = DataFlow::otherEnd(send, *flow.transfer(send));
  EXPECT_TRUE(receive.sameAction(Step(StepKind::RecvF, 2, 1)));
  EXPECT_TRUE(
      DataFlow::otherEnd(receive, *flow.transfer(receive)).sameAction(send));
  send.setPort(2);
  EXPECT_EQ(flow.transfer(send), nullptr);
}

TEST(DataFlow, OfAJoin) {
  Schedule schedule = headerFor(joinGraph(), 2);
  DataFlow flow(schedule);
  EXPECT_EQ(text(flow.inputs(Step(StepKind::F, 2, 0))), "F0@0! F1@1!");
  EXPECT_EQ(text(flow.outputs(Step(StepKind::B, 2, 1))), "B0@0! B1@1!");
  EXPECT_EQ(text(flow.inputs(Step(StepKind::B, 2, 1))), "");
  EXPECT_EQ(text(flow.inputs(Step(StepKind::B, 1, 1))), "B2@2!");
  EXPECT_FALSE(flow.isSimple());
}

TEST(DataFlow, OfRandomGraphs) {
  Rng rng(3);
  for (unsigned round = 0; round != 500; ++round) {
    Model graph = randomGraph(rng);
    Schedule schedule = randomHeaderFor(rng, graph);
    fillLists(rng, graph, /*transfers=*/false, schedule);
    ASSERT_NO_FATAL_FAILURE(checkTable(schedule, graph));
  }
}
