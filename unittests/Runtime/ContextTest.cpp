//===- ContextTest.cpp - What handlers are given --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

auto untouched = [](TestModel &, int) {};

/// What handlers of compute steps see: `F0:first`, ...
std::vector<std::string> seen(const std::function<void(Worker &)> &body,
                              int microbatches) {
  static constexpr int one[] = {0};
  const Schedule schedule = {"one", "", 1,   1,       microbatches,
                             false, 1,  one, nullptr, false};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  TestModel model(1, microbatches);
  Worker worker(model, transport);
  std::vector<std::string> marks;
  for (StepKind kind : {StepKind::Forward, StepKind::Backward,
                        StepKind::BackwardInput, StepKind::BackwardWeight})
    worker.handle(kind, [&](auto &step) {
      std::string name = stepName(step.kind) + std::to_string(step.microbatch);
      if (step.firstForward)
        marks.push_back(name + " first forward");
      if (step.lastForward)
        marks.push_back(name + " last forward");
      if (step.firstBackward)
        marks.push_back(name + " first backward");
      if (step.lastBackward)
        marks.push_back(name + " last backward");
      EXPECT_TRUE(step.ready());
      step.proceed();
    });
  for (int k = 0; k != 2; ++k) {
    marks.clear();
    worker.run(schedule, 0, body);
  }
  return marks;
}

TEST(Context, KnowsTheFirstAndTheLastOfAStage) {
  using Marks = std::vector<std::string>;
  EXPECT_EQ(seen(
                [](Worker &x) {
                  for (int m : {1, 0, 2})
                    x.forward(0, m);
                  for (int m : {2, 0, 1})
                    x.backward(0, m);
                },
                3),
            (Marks{"F1 first forward", "F2 last forward", "B2 first backward",
                   "B1 last backward"}));
  // Split backwards, whole ones and overlaps in one list: the last backward is
  // the last one that has a weight gradient.
  EXPECT_EQ(seen(
                [](Worker &x) {
                  x.forward(0, 0);
                  x.overlap(Forward{0, 1}, Forward{0, 2});
                  x.backwardInput(0, 1);
                  x.overlap(Backward{0, 0}, BackwardInput{0, 2});
                  x.backwardWeight(0, 2);
                  x.backwardWeight(0, 1);
                },
                3),
            (Marks{"F0 first forward", "F2 last forward", "I1 first backward",
                   "W1 last backward"}));
  EXPECT_EQ(seen([](Worker &x) { x.forward(0, 0), x.backward(0, 0); }, 1),
            (Marks{"F0 first forward", "F0 last forward", "B0 first backward",
                   "B0 last backward"}));
}

TEST(Context, IsAHandleOfItsTransfer) {
  std::atomic<int> received = 0;
  EXPECT_EQ(runRanks(gpipe2, {}, untouched,
                     [&](Worker &worker, int rank) {
                       worker.handle(StepKind::RecvForward, [&](auto &step) {
                         EXPECT_FALSE(step.ready());
                         step.wait();
                         EXPECT_TRUE(step.ready());
                         EXPECT_EQ(step.tensor->values[0], step.microbatch);
                         ++received;
                       });
                       worker.handle(StepKind::SendForward, [&](auto &step) {
                         EXPECT_FALSE(step.ready());
                         step.proceed();
                         step.wait();
                         EXPECT_TRUE(step.ready());
                       });
                       worker.run(gpipe2, rank,
                                  [&](auto &x) { gpipeSteps(x, rank); });
                     }),
            "");
  EXPECT_EQ(received, 4);
}

TEST(Context, IsAHandleOfTheSendOfAWait) {
  static constexpr Schedule waiting = {
      "waiting", "", 2, 2, 4, false, 1, twoRanks, nullptr, false, true, false};
  std::atomic<int> waits = 0;
  EXPECT_EQ(runRanks(waiting, {}, untouched,
                     [&](Worker &worker, int rank) {
                       auto handler = [&](auto &step) {
                         step.wait();
                         EXPECT_TRUE(step.ready());
                         ++waits;
                       };
                       worker.handle(StepKind::WaitSendForward, handler);
                       worker.handle(StepKind::WaitSendBackward, handler);
                       worker.run(waiting, rank, [&](auto &x) {
                         gpipeSteps(x, rank);
                         for (int m = 0; m != 4; ++m)
                           rank == 0 ? x.waitSendForward(0, m)
                                     : x.waitSendBackward(1, m);
                       });
                     }),
            "");
  EXPECT_EQ(waits, 8);
}

TEST(BlockingReceives, HoldUpTheListAndSendsDoNot) {
  // Both ranks send before they receive: with blocking sends neither goes on.
  static constexpr int there[] = {0, 1, 0};
  static constexpr Schedule schedule = {"there", "", 2,     3,       2,
                                        false,   1,  there, nullptr, false};
  auto run = [&](Options options) {
    return runRanks(schedule, options, untouched,
                    [&](Worker &worker, int rank) {
                      worker.run(schedule, rank, [&](auto &x) {
                        if (rank == 0) {
                          x.forward(0, 0);
                          x.forward(0, 1);
                          x.sendForward(0, 0);
                          x.sendForward(0, 1);
                          for (int m = 0; m != 2; ++m) {
                            x.recvForward(2, m);
                            x.forward(2, m);
                            x.backward(2, m);
                            x.sendBackward(2, m);
                          }
                          for (int m = 0; m != 2; ++m) {
                            x.recvBackward(0, m);
                            x.backward(0, m);
                          }
                        } else {
                          x.recvForward(1, 0);
                          x.forward(1, 0);
                          x.sendForward(1, 0);
                          x.batch(RecvForward{1, 1}, RecvBackward{1, 0});
                          x.forward(1, 1);
                          x.backward(1, 0);
                          x.sendForward(1, 1);
                          x.sendBackward(1, 0);
                          x.recvBackward(1, 1);
                          x.backward(1, 1);
                          x.sendBackward(1, 1);
                        }
                      });
                    });
  };
  Options options;
  EXPECT_EQ(run(options), "");
  options.blockingReceives = true;
  EXPECT_EQ(run(options), "");
  options.blocking = true;
  options.patience = std::chrono::milliseconds(300);
  EXPECT_NE(run(options).find("no progress:"), std::string::npos);
}

TEST(BlockingReceives, AReceiveIsThereAtTheNextStep) {
  // Rank 0 sends its second micro-batch when rank 1 has begun the first one,
  // before which rank 1 has posted both receives.
  static constexpr Schedule schedule = {
      "late", "late.pipe", 2, 2, 2, true, 1, twoRanks, nullptr, false};
  for (bool blocking : {false, true}) {
    Options options;
    options.blockingReceives = blocking;
    options.patience = std::chrono::seconds(1);
    std::atomic<bool> begun = false;
    std::string message = runRanks(
        schedule, options,
        [&](TestModel &model, int rank) {
          model.onForward = [&, rank](int, int microbatch) {
            if (rank == 1 && microbatch == 0)
              begun = true;
            // Until the other rank has begun its first F.
            for (int i = 0; rank == 0 && microbatch == 1 && !begun && i != 3000;
                 ++i)
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
          };
        },
        [&](Worker &worker, int rank) {
          worker.run(schedule, rank, [&](auto &x) {
            x.at(4);
            if (rank == 0) {
              for (int m = 0; m != 2; ++m) {
                x.forward(0, m);
                x.sendForward(0, m);
              }
              return;
            }
            x.recvForward(1, 0);
            x.recvForward(1, 1);
            x.forward(1, 0);
            x.forward(1, 1);
          });
        });
    if (blocking)
      EXPECT_NE(message.find("rank 1 waits for RECV_F s1 m1 from rank 0 at "
                             "late.pipe:4"),
                std::string::npos)
          << message;
    else
      EXPECT_EQ(message, "");
  }
}

} // namespace
