//===- ExecutorTest.cpp - The steps of an executor ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

#include <sstream>

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

auto untouched = [](TestModel &, int) {};

TEST(Executor, RunsManyStepsAndStartsClean) {
  for (bool blocking : {false, true}) {
    Options options;
    options.blocking = blocking;
    EXPECT_EQ(runRanks(gpipe2, options, untouched,
                       [&](Worker &worker, int rank) {
                         for (int k = 0; k != 50; ++k)
                           worker.run(gpipe2, rank,
                                      [&](auto &x) { gpipeSteps(x, rank); });
                         EXPECT_EQ(worker.runs(), 50u);
                         EXPECT_EQ(worker.statistics().peakActivations, 4);
                         // Posted and used one by one.
                         EXPECT_EQ(worker.statistics().peakReceived, 1);
                       }),
              "");
  }
}

TEST(Executor, CountsReceivedTensorsFromTheirPosting) {
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(gpipe2, rank, [&](auto &x) {
                         if (rank == 0)
                           return gpipeSteps(x, rank);
                         for (int m = 0; m != 4; ++m)
                           x.recvForward(1, m);
                         for (int m = 0; m != 4; ++m) {
                           x.forward(1, m);
                           x.backwardInput(1, m);
                           x.sendBackward(1, m);
                         }
                         for (int m = 0; m != 4; ++m)
                           x.backwardWeight(1, m);
                       });
                       EXPECT_EQ(worker.statistics().peakReceived,
                                 rank == 1 ? 4 : 1);
                       EXPECT_EQ(worker.statistics().peakActivations, 4);
                     }),
            "");
}

TEST(Executor, HandsTensorsOverWithinARank) {
  static constexpr int one[] = {0, 0, 0};
  static constexpr Schedule schedule = {"local", "", 1,   3,       2,
                                        false,   1,  one, nullptr, false};
  EXPECT_EQ(runRanks(schedule, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(schedule, rank, [&](auto &x) {
                         for (int m = 0; m != 2; ++m) {
                           for (int s = 0; s != 3; ++s)
                             x.forward(s, m);
                           for (int s = 2; s >= 0; --s)
                             x.backward(s, m);
                         }
                       });
                       EXPECT_EQ(worker.statistics().peakReceived, 0);
                       EXPECT_EQ(worker.statistics().peakActivations, 3);
                       // An input is freed when its forward ends.
                       EXPECT_EQ(worker.statistics().peakTensors, 2);
                     }),
            "");
}

TEST(Executor, RunsOverlapsBatchesAndTables) {
  static constexpr Step table[2][18] = {{{StepKind::Forward, 0, 0},
                                         {StepKind::SendForward, 0, 0},
                                         {StepKind::Forward, 0, 1},
                                         {StepKind::SendForward, 0, 1, 7, true},
                                         {StepKind::RecvBackward, 0, 0, 7},
                                         {StepKind::Forward, 0, 2, 8, true},
                                         {StepKind::Backward, 0, 0, 8},
                                         {StepKind::SendForward, 0, 2, 9, true},
                                         {StepKind::RecvBackward, 0, 1, 9},
                                         {StepKind::Forward, 0, 3, 8, true},
                                         {StepKind::Backward, 0, 1, 8},
                                         {StepKind::SendForward, 0, 3},
                                         {StepKind::RecvBackward, 0, 2},
                                         {StepKind::Backward, 0, 2},
                                         {StepKind::RecvBackward, 0, 3},
                                         {StepKind::BackwardInput, 0, 3},
                                         {StepKind::BackwardWeight, 0, 3}},
                                        {}};
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(gpipe2, rank, [&](auto &x) {
                         if (rank == 0)
                           return x.steps(std::span(table[0]).first(17));
                         for (int m = 0; m != 4; ++m) {
                           x.recvForward(1, m);
                           // The last stage may feed itself.
                           x.overlap(Forward{1, m}, Backward{1, m});
                           x.batch(SendBackward{1, m});
                         }
                       });
                     }),
            "");
}

TEST(Executor, HandlersTakeStepsOver) {
  std::atomic<int> forwards = 0, sends = 0;
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.handle(StepKind::Forward, [&](auto &step) {
                         ++forwards;
                         EXPECT_EQ(step.rank, rank);
                         EXPECT_EQ(step.stage, rank);
                         EXPECT_EQ(step.input != nullptr, rank == 1);
                         step.proceed();
                       });
                       worker.handle(StepKind::SendForward, [&](auto &step) {
                         ++sends;
                         EXPECT_EQ(step.peer, 1);
                         EXPECT_EQ(step.tensor->values.size(), 3u);
                         step.proceed();
                       });
                       worker.run(gpipe2, rank,
                                  [&](auto &x) { gpipeSteps(x, rank); });
                       worker.handle(StepKind::Forward, {});
                       worker.run(gpipe2, rank,
                                  [&](auto &x) { gpipeSteps(x, rank); });
                     }),
            "");
  EXPECT_EQ(forwards, 8);
  EXPECT_EQ(sends, 8);
}

TEST(Executor, HandlersMayMoveTensorsThemselves) {
  // Rank 0 puts its outputs in a mailbox, rank 1 takes them from there.
  std::array<std::atomic<int>, 4> mailbox = {-1, -1, -1, -1};
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.handle(StepKind::SendForward, [&](auto &step) {
                         mailbox[step.microbatch] = step.tensor->values[0];
                       });
                       worker.handle(StepKind::RecvForward, [&](auto &step) {
                         int value;
                         while ((value = mailbox[step.microbatch]) < 0)
                           std::this_thread::yield();
                         step.tensor->values.assign(3, value);
                       });
                       worker.run(gpipe2, rank,
                                  [&](auto &x) { gpipeSteps(x, rank); });
                     }),
            "");
}

/// A model that runs the members of an overlap itself.
struct OverlappingModel : TestModel {
  using TestModel::TestModel;
  int overlaps = 0;
  void overlapped(std::span<StepContext<OverlappingModel>> members) {
    ++overlaps;
    // The members do not depend on each other, so any order is valid.
    for (std::size_t i = members.size(); i-- != 0;)
      members[i].proceed();
  }
};

TEST(Executor, ModelsMayRunOverlapsThemselves) {
  static constexpr int one[] = {0};
  static constexpr Schedule schedule = {"pair", "", 1,   1,       2,
                                        false,  1,  one, nullptr, false};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  OverlappingModel model(1, 2);
  Executor worker(model, transport);
  worker.run(schedule, 0, [](auto &x) {
    x.forward(0, 0);
    x.overlap(Forward{0, 1}, Backward{0, 0});
    x.backward(0, 1);
  });
  EXPECT_EQ(model.overlaps, 1);
  EXPECT_EQ(model.gradients[0], 2);
}

TEST(Executor, FsdpActionsReachTheModel) {
  static constexpr int one[] = {0};
  static constexpr bool sharded[] = {true};
  static constexpr Schedule schedule = {"fsdp", "", 1,   1,       1,
                                        false,  1,  one, sharded, true};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  TestModel model(1, 1);
  Executor worker(model, transport);
  for (int k = 0; k != 2; ++k)
    worker.run(schedule, 0, [](auto &x) {
      x.unshard(0);
      x.forward(0, 0);
      x.reshard(0);
      x.unshard(0);
      x.backward(0, 0);
      x.reduceGrad(0);
      x.reshard(0);
    });
  EXPECT_EQ(model.actions,
            (std::vector<std::string>{"+0", "-0", "+0", "=0", "-0", "+0", "-0",
                                      "+0", "=0", "-0"}));
}

TEST(Executor, OnlyChosenStagesMustBeReduced) {
  static constexpr int one[] = {0, 0};
  static constexpr bool reduced[] = {false, true};
  static constexpr Schedule schedule = {"chosen", "",    1,   2,       1,
                                        false,    1,     one, nullptr, true,
                                        false,    false, {},  reduced};
  auto run = [&](bool reduces) {
    ThreadGroup group(1);
    ThreadTransport transport(group, 0);
    TestModel model(2, 1);
    Worker worker(model, transport);
    worker.run(schedule, 0, [&](auto &x) {
      x.forward(0, 0);
      x.forward(1, 0);
      x.backward(1, 0);
      if (reduces)
        x.reduceGrad(1);
      x.backward(0, 0);
    });
    return model.actions;
  };
  EXPECT_EQ(run(true), std::vector<std::string>{"=1"});
  EXPECT_THROW(run(false), ScheduleError);
}

TEST(Executor, ForwardOnlyKeepsNothing) {
  static constexpr Schedule schedule = {
      "inference", "", 2, 2, 4, true, 1, twoRanks, nullptr, false};
  EXPECT_EQ(runRanks(schedule, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(schedule, rank, [&](auto &x) {
                         for (int m = 0; m != 4; ++m) {
                           if (rank == 1)
                             x.recvForward(1, m);
                           x.forward(rank, m);
                           if (rank == 0)
                             x.sendForward(0, m);
                         }
                       });
                       EXPECT_EQ(worker.statistics().peakActivations, 1);
                     }),
            "");
}

TEST(Executor, ReplicasSumTheirGradients) {
  static constexpr int bothWays[] = {0, 1, 1, 0};
  static constexpr Schedule schedule = {
      "bidirectional", "", 2, 2, 6, false, 2, bothWays, nullptr, false};
  EXPECT_EQ(schedule.microbatchesOf(0, 0), 3);
  EXPECT_EQ(schedule.stagesOf(1), (std::vector<int>{0, 1}));
  EXPECT_EQ(schedule.rankOf(0, 2), 0);
  EXPECT_EQ(schedule.rankOf(0, 3), 1);
  ThreadGroup group(2);
  group.run([&](int rank) {
    TestModel model(2, 6);
    ThreadTransport transport(group, rank);
    Worker worker(model, transport);
    worker.run(schedule, rank, [&](auto &x) {
      int near = rank == 0 ? 0 : 3, far = 3 - near;
      for (int m = 0; m != 3; ++m) {
        x.forward(0, near + m);
        x.sendForward(0, near + m);
      }
      for (int m = 0; m != 3; ++m) {
        x.recvForward(1, far + m);
        x.forward(1, far + m);
        x.backward(1, far + m);
        x.sendBackward(1, far + m);
      }
      for (int m = 0; m != 3; ++m) {
        x.recvBackward(0, near + m);
        x.backward(0, near + m);
      }
      x.sumReplicas();
    });
    // Three of this rank and three of the other.
    EXPECT_EQ(model.gradients[0], 6);
    EXPECT_EQ(model.gradients[1], 6);
  });
}

TEST(Executor, WritesATraceThatNamesEverything) {
  RankTrace traces[2];
  ThreadGroup group(2);
  group.run([&](int rank) {
    TestModel model(2, 4);
    ThreadTransport transport(group, rank);
    Options options;
    options.trace = &traces[rank];
    Worker worker(model, transport, options);
    worker.run(gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); });
  });
  // All steps of the rank: 8 computes, 4 sends, 4 receives.
  EXPECT_EQ(traces[0].all().size(), 16u);
  for (const TraceRecord &record : traces[1].all())
    EXPECT_LE(record.start, record.end);
  std::ostringstream os;
  writeChromeTrace(os, gpipe2, traces);
  std::string text = os.str();
  EXPECT_NE(text.find("\"name\":\"RECV_F s1 m3\""), std::string::npos);
  EXPECT_NE(text.find("\"source\":\"gpipe.pipe:3\""), std::string::npos);
  EXPECT_NE(text.find("\"name\":\"rank 1\""), std::string::npos);
  // The two ends of an arrow.
  EXPECT_NE(text.find("\"ph\":\"s\""), std::string::npos);
  EXPECT_NE(text.find("\"id\":3}"), text.rfind("\"id\":3}"));
}

} // namespace
