//===- WaitTest.cpp - WAIT_SEND and WAIT_REDUCE_GRAD ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

#include <sstream>

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

auto untouched = [](TestModel &, int) {};

constexpr Schedule waiting2 = {"waiting", "waiting.pipe", 2,    2,
                               4,         false,          1,    twoRanks,
                               nullptr,   false,          true, false};

/// GPipe on two ranks. Each send is waited for after `behind` more steps of the
/// same kind, and at the end.
template <class X> void waitingSteps(X &x, int rank, int behind) {
  auto forEach = [&](auto step, auto wait) {
    for (int m = 0; m != 4; ++m) {
      if (m >= behind)
        wait(m - behind);
      step(m);
    }
    for (int m = std::max(0, 4 - behind); m != 4; ++m)
      wait(m);
  };
  x.at(3);
  forEach(
      [&](int m) {
        if (rank == 1)
          x.recvForward(1, m);
        x.forward(rank, m);
        if (rank == 0)
          x.sendForward(0, m);
      },
      [&](int m) {
        if (rank == 0)
          x.waitSendForward(0, m);
      });
  x.at(4);
  forEach(
      [&](int m) {
        if (rank == 0)
          x.recvBackward(0, m);
        x.backward(rank, m);
        if (rank == 1)
          x.sendBackward(1, m);
      },
      [&](int m) {
        if (rank == 1)
          x.waitSendBackward(1, m);
      });
}

TEST(Wait, FreesTensorsAtTheWait) {
  for (bool blocking : {false, true})
    for (int behind : {1, 2, 4}) {
      Options options;
      options.blocking = blocking;
      EXPECT_EQ(runRanks(waiting2, options, untouched,
                         [&](Worker &worker, int rank) {
                           for (int k = 0; k != 20; ++k)
                             worker.run(waiting2, rank, [&](auto &x) {
                               waitingSteps(x, rank, behind);
                             });
                           EXPECT_EQ(worker.statistics().peakSends, behind);
                           EXPECT_EQ(worker.statistics().peakTensors, behind);
                         }),
                "");
    }
}

TEST(Wait, CompleteSendsKeepTheirTensors) {
  // Rank 0 sends before rank 1 has started, and checks after everything has
  // arrived.
  EXPECT_EQ(runRanks(waiting2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(waiting2, rank, [&](auto &x) {
                         if (rank == 1)
                           return waitingSteps(x, rank, 1);
                         for (int m = 0; m != 4; ++m) {
                           x.forward(0, m);
                           x.sendForward(0, m);
                         }
                         // All four had been received when their gradients
                         // arrived.
                         for (int m = 0; m != 4; ++m) {
                           x.recvBackward(0, m);
                           x.backward(0, m);
                           EXPECT_EQ(worker.statistics().peakTensors, 5);
                         }
                         for (int m = 3; m >= 0; --m)
                           x.waitSendForward(0, m);
                       });
                       EXPECT_EQ(worker.statistics().peakSends,
                                 rank == 0 ? 4 : 1);
                     }),
            "");
}

TEST(Wait, ListsWithoutWaitsAreAsBefore) {
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(gpipe2, rank,
                                  [&](auto &x) { gpipeSteps(x, rank); });
                       EXPECT_GE(worker.statistics().peakSends, 1);
                       EXPECT_LE(worker.statistics().peakSends, 4);
                     }),
            "");
}

TEST(Wait, TablesAndHandlers) {
  static constexpr Step table[] = {
      {StepKind::Forward, 0, 0},         {StepKind::SendForward, 0, 0},
      {StepKind::WaitSendForward, 0, 0}, {StepKind::Forward, 0, 1},
      {StepKind::SendForward, 0, 1},     {StepKind::Forward, 0, 2},
      {StepKind::SendForward, 0, 2},     {StepKind::WaitSendForward, 0, 2},
      {StepKind::WaitSendForward, 0, 1}, {StepKind::Forward, 0, 3},
      {StepKind::SendForward, 0, 3},     {StepKind::WaitSendForward, 0, 3},
      {StepKind::RecvBackward, 0, 0},    {StepKind::Backward, 0, 0},
      {StepKind::RecvBackward, 0, 1},    {StepKind::Backward, 0, 1},
      {StepKind::RecvBackward, 0, 2},    {StepKind::Backward, 0, 2},
      {StepKind::RecvBackward, 0, 3},    {StepKind::Backward, 0, 3}};
  for (bool proceeds : {false, true}) {
    std::atomic<int> waits = 0;
    EXPECT_EQ(runRanks(waiting2, {}, untouched,
                       [&](Worker &worker, int rank) {
                         worker.handle(
                             StepKind::WaitSendForward, [&](auto &step) {
                               ++waits;
                               EXPECT_EQ(step.peer, 1);
                               EXPECT_EQ(step.tensor->values.size(), 3u);
                               // The executor waits in either case.
                               if (proceeds)
                                 step.proceed();
                             });
                         worker.run(waiting2, rank, [&](auto &x) {
                           if (rank == 0)
                             return x.steps(table);
                           waitingSteps(x, rank, 2);
                         });
                         EXPECT_EQ(worker.statistics().peakSends, 2);
                       }),
              "");
    EXPECT_EQ(waits, 4);
  }
}

TEST(Wait, HandledSendsKeepTheirTensorsForTheWait) {
  // Rank 0 puts its outputs in a mailbox and takes them back at the wait.
  std::array<std::atomic<int *>, 4> mailbox = {};
  EXPECT_EQ(runRanks(waiting2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.handle(StepKind::SendForward, [&](auto &step) {
                         mailbox[step.microbatch] = step.tensor->values.data();
                       });
                       worker.handle(StepKind::WaitSendForward,
                                     [&](auto &step) {
                                       while (mailbox[step.microbatch])
                                         std::this_thread::yield();
                                     });
                       worker.handle(StepKind::RecvForward, [&](auto &step) {
                         int *values;
                         while (!(values = mailbox[step.microbatch]))
                           std::this_thread::yield();
                         step.tensor->values.assign(values, values + 3);
                         mailbox[step.microbatch] = nullptr;
                       });
                       worker.run(waiting2, rank, [&](auto &x) {
                         waitingSteps(x, rank, rank == 0 ? 4 : 1);
                       });
                     }),
            "");
}

/// The message of a run in which rank 0 runs `wrong`.
template <class Wrong> std::string failing(Wrong wrong) {
  Options options;
  options.patience = std::chrono::milliseconds(300);
  return runRanks(waiting2, options, untouched, [&](Worker &worker, int rank) {
    worker.run(waiting2, rank, [&](auto &x) {
      if (rank == 0)
        wrong(x);
      else
        waitingSteps(x, rank, 1);
    });
  });
}

TEST(Wait, WaitsThatCannotBeMeant) {
  EXPECT_EQ(failing([](auto &x) {
              x.forward(0, 0);
              x.waitSendForward(0, 0);
            }),
            "`WAIT_SEND_F s0 m0` comes before its send (rank 0)");
  EXPECT_EQ(failing([](auto &x) {
              x.forward(0, 0);
              x.sendForward(0, 0);
              x.waitSendForward(0, 0);
              x.waitSendForward(0, 0);
            }),
            "`WAIT_SEND_F s0 m0` comes twice (rank 0)");
  EXPECT_EQ(failing([](auto &x) {
              for (int m = 0; m != 4; ++m) {
                x.forward(0, m);
                x.sendForward(0, m);
                if (m != 2)
                  x.waitSendForward(0, m);
              }
              for (int m = 0; m != 4; ++m) {
                x.recvBackward(0, m);
                x.backward(0, m);
              }
            }),
            "the run ended without WAIT_SEND_F s0 m2 (rank 0)");
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(gpipe2, rank, [&](auto &x) {
                         if (rank == 1)
                           return gpipeSteps(x, rank);
                         x.forward(0, 0);
                         x.sendForward(0, 0);
                         x.waitSendForward(0, 0);
                       });
                     }),
            "`WAIT_SEND_F s0 m0` runs in a schedule whose waitsForSends is "
            "false (rank 0)");
}

TEST(Wait, AStallNamesTheWait) {
  // Rank 1 does not receive.
  Options options;
  options.patience = std::chrono::milliseconds(300);
  std::string message =
      runRanks(waiting2, options, untouched, [&](Worker &worker, int rank) {
        worker.run(waiting2, rank, [&](auto &x) {
          x.at(8 + rank);
          if (rank == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
            return;
          }
          x.forward(0, 0);
          x.sendForward(0, 0);
          x.waitSendForward(0, 0);
        });
      });
  EXPECT_NE(message.find("no progress:\n  rank 0 waits for WAIT_SEND_F s0 m0 "
                         "to rank 1 at waiting.pipe:8, for 0."),
            std::string::npos)
      << message;
}

TEST(Wait, TracesHaveTheWaits) {
  std::vector<RankTrace> traces(2);
  ThreadGroup group(2);
  group.run([&](int rank) {
    TestModel model(2, 4);
    ThreadTransport transport(group, rank);
    Options options;
    options.trace = &traces[std::size_t(rank)];
    Worker worker(model, transport, options);
    worker.run(waiting2, rank, [&](auto &x) { waitingSteps(x, rank, 1); });
  });
  std::ostringstream os;
  writeChromeTrace(os, waiting2, traces);
  std::string text = os.str();
  EXPECT_NE(text.find("\"name\":\"WAIT_SEND_F s0 m3\",\"cat\":\"transfer\""),
            std::string::npos)
      << text;
  // Arrows connect sends and receives, four in each direction; waits have none.
  std::size_t arrows = 0;
  for (std::size_t at = 0;
       (at = text.find("\"ph\":\"s\"", at)) != std::string::npos; ++at)
    ++arrows;
  EXPECT_EQ(arrows, 8u);
}

TEST(Wait, ABatchIsWaitedForAsAWhole) {
  // Rank 0 posts a send and a receive together. The send completes long before
  // the receive; its wait ends with the receive.
  std::atomic<bool> sent = false;
  EXPECT_EQ(runRanks(waiting2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.run(waiting2, rank, [&](auto &x) {
                         if (rank == 0) {
                           x.forward(0, 0);
                           x.sendForward(0, 0);
                           x.forward(0, 1);
                           x.batch(RecvBackward{0, 0}, SendForward{0, 1});
                           x.waitSendForward(0, 1);
                           EXPECT_TRUE(sent);
                           x.waitSendForward(0, 0);
                           x.backward(0, 0);
                           x.forward(0, 2);
                           x.batch(SendForward{0, 2}, RecvBackward{0, 1});
                           // The receive has been used and replaced by another
                           // one.
                           x.backward(0, 1);
                           x.forward(0, 3);
                           x.batch(SendForward{0, 3}, RecvBackward{0, 2});
                           x.waitSendForward(0, 2);
                           x.waitSendForward(0, 3);
                           x.backward(0, 2);
                           x.recvBackward(0, 3);
                           x.backward(0, 3);
                         } else {
                           for (int m = 0; m != 4; ++m)
                             x.recvForward(1, m);
                           for (int m = 0; m != 4; ++m) {
                             x.forward(1, m);
                             x.backward(1, m);
                             if (m == 0) {
                               std::this_thread::sleep_for(
                                   std::chrono::milliseconds(50));
                               sent = true;
                             }
                             x.sendBackward(1, m);
                             x.waitSendBackward(1, m);
                           }
                         }
                       });
                     }),
            "");
}

/// A model that starts reductions and waits for them.
struct ReducingModel : TestModel {
  using TestModel::TestModel;
  struct Reduction {
    ReducingModel *model;
    int stage;
    void wait() { model->actions.push_back("~" + std::to_string(stage)); }
  };
  Reduction reduceGrad(int stage) {
    TestModel::reduceGrad(stage);
    return {this, stage};
  }
};

/// The calls of the model in the second of two runs, or the message of the
/// exception. `body(x, stage)` runs after the last backward of each stage, and
/// with -1 at the end.
template <class Body>
std::vector<std::string> actionsOf(bool waits, Body body) {
  static constexpr int one[] = {0, 0};
  static constexpr bool sharded[] = {true, true};
  static constexpr Schedule schedules[] = {
      {"fsdp", "", 1, 2, 1, false, 1, one, sharded, true, false, false},
      {"fsdp", "", 1, 2, 1, false, 1, one, sharded, true, false, true}};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  ReducingModel model(2, 1);
  Executor worker(model, transport);
  try {
    for (int k = 0; k != 2; ++k) {
      model.actions.clear();
      worker.run(schedules[waits], 0, [&](auto &x) {
        x.unshard(0);
        x.unshard(1);
        x.forward(0, 0);
        x.forward(1, 0);
        x.backward(1, 0);
        body(x, 1);
        x.reshard(1);
        x.backward(0, 0);
        body(x, 0);
        x.reshard(0);
        body(x, -1);
      });
    }
  } catch (const Error &error) {
    return {error.what()};
  }
  return model.actions;
}

TEST(Wait, ReductionsAreWaitedForWhereTheScheduleSays) {
  using Actions = std::vector<std::string>;
  EXPECT_EQ(actionsOf(false,
                      [](auto &x, int stage) {
                        if (stage >= 0)
                          x.reduceGrad(stage);
                      }),
            (Actions{"+0", "+1", "=1", "~1", "-1", "=0", "~0", "-0"}));
  EXPECT_EQ(actionsOf(true,
                      [](auto &x, int stage) {
                        if (stage == 0)
                          x.waitReduceGrad(1);
                        if (stage >= 0)
                          x.reduceGrad(stage);
                        else
                          x.waitReduceGrad(0);
                      }),
            (Actions{"+0", "+1", "=1", "-1", "~1", "=0", "-0", "~0"}));
}

TEST(Wait, ReductionsThatCannotBeMeant) {
  auto errorOf = [](bool waits, auto body) {
    return actionsOf(waits, body).back();
  };
  EXPECT_EQ(errorOf(true,
                    [](auto &x, int stage) {
                      if (stage == 1)
                        x.waitReduceGrad(1);
                    }),
            "WAIT_REDUCE_GRAD s1 comes before its REDUCE_GRAD (rank 0)");
  EXPECT_EQ(errorOf(true,
                    [](auto &x, int stage) {
                      if (stage != 1)
                        return;
                      x.reduceGrad(1);
                      x.waitReduceGrad(1);
                      x.waitReduceGrad(1);
                    }),
            "WAIT_REDUCE_GRAD s1 comes twice (rank 0)");
  EXPECT_EQ(errorOf(true,
                    [](auto &x, int stage) {
                      if (stage < 0)
                        return;
                      x.reduceGrad(stage);
                      if (stage == 1)
                        x.waitReduceGrad(1);
                    }),
            "the run ended without WAIT_REDUCE_GRAD s0 (rank 0)");
  EXPECT_EQ(errorOf(false,
                    [](auto &x, int stage) {
                      if (stage != 1)
                        return;
                      x.reduceGrad(1);
                      x.waitReduceGrad(1);
                    }),
            "`WAIT_REDUCE_GRAD s1` runs in a schedule whose "
            "waitsForReductions is false (rank 0)");
}

} // namespace
