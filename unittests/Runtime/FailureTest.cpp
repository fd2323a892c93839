//===- FailureTest.cpp - How a run fails ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

auto untouched = [](TestModel &, int) {};

/// The message if rank `where` runs `wrong` instead of its steps.
template <class Wrong> std::string failing(int where, Wrong wrong) {
  Options options;
  options.patience = std::chrono::milliseconds(300);
  return runRanks(gpipe2, options, untouched, [&](Worker &worker, int rank) {
    worker.run(gpipe2, rank, [&](auto &x) {
      if (rank == where)
        wrong(x);
      else
        gpipeSteps(x, rank);
    });
  });
}

TEST(Failure, RefusesAWorkerThatDoesNotFit) {
  auto refused = [](const Schedule &schedule, TestModel model, int ranks,
                    int rank, int transportRank) {
    ThreadGroup group(ranks);
    ThreadTransport transport(group, transportRank);
    Worker worker(model, transport);
    try {
      worker.run(schedule, rank, [](auto &) { FAIL() << "a step ran"; });
    } catch (const RefusedError &error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_EQ(refused(gpipe2, TestModel(2, 4), 3, 0, 0),
            "`gpipe` is compiled for 2 ranks, and the transport has 3");
  EXPECT_EQ(refused(gpipe2, TestModel(3, 4), 2, 0, 0),
            "`gpipe` is compiled for 2 stages, and the model has 3");
  EXPECT_EQ(refused(gpipe2, TestModel(2, 5), 2, 0, 0),
            "`gpipe` is compiled for 4 micro-batches, and the model has 5");
  EXPECT_EQ(refused(gpipe2, TestModel(2, 4), 2, 2, 0), "`gpipe` has no rank 2");
  EXPECT_EQ(refused(gpipe2, TestModel(2, 4), 2, 1, 0),
            "rank 1 was given the transport of rank 0");
}

TEST(Failure, AModelsExceptionEndsAllRanks) {
  std::atomic<int> stopped = 0;
  ThreadGroup group(2);
  std::string message;
  try {
    group.run([&](int rank) {
      TestModel model(2, 4);
      model.onForward = [&](int stage, int microbatch) {
        if (stage == 1 && microbatch == 2)
          throw std::runtime_error("out of memory");
      };
      ThreadTransport transport(group, rank);
      Worker worker(model, transport);
      try {
        worker.run(gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); });
      } catch (const StoppedError &error) {
        EXPECT_EQ(rank, 0);
        EXPECT_STREQ(error.what(),
                     "rank 1 in F s1 m2 at gpipe.pipe:3: out of memory");
        ++stopped;
        throw;
      }
    });
  } catch (const std::runtime_error &error) {
    message = error.what();
  }
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(message, "rank 1 in F s1 m2 at gpipe.pipe:3: out of memory");
}

/// The exception of a single rank whose model throws `thrown` in its F.
template <class Thrown> std::string oneRankThrows(Thrown thrown) {
  static constexpr int one[] = {0};
  static constexpr Schedule schedule = {"one", "one.pipe", 1,   1,       1,
                                        true,  1,          one, nullptr, false};
  ThreadGroup group(1);
  try {
    group.run([&](int rank) {
      TestModel model(1, 1);
      model.onForward = [&](int, int) { throw thrown; };
      ThreadTransport transport(group, rank);
      Worker worker(model, transport);
      worker.run(schedule, rank, [](auto &x) { x.forward(0, 0); });
    });
  } catch (const ModelError &error) {
    std::string text = error.what();
    try {
      std::rethrow_if_nested(error);
    } catch (const std::out_of_range &) {
      text += ", nested: out_of_range";
    } catch (int value) {
      text += ", nested: " + std::to_string(value);
    } catch (const Error &) {
    }
    return text;
  }
  return "";
}

TEST(Failure, AModelsExceptionNamesTheStepAndIsNested) {
  EXPECT_EQ(oneRankThrows(std::out_of_range("no such row")),
            "rank 0 in F s0 m0: no such row, nested: out_of_range");
  EXPECT_EQ(oneRankThrows(7), "rank 0 in F s0 m0: an exception that is not a "
                              "std::exception, nested: 7");
}

TEST(Failure, ErrorsOfTheRuntimesOwnTypesNameTheStepToo) {
  // As a transport throws them, and a model that uses the runtime itself.
  EXPECT_EQ(oneRankThrows(Error("connection lost")),
            "rank 0 in F s0 m0: connection lost");
  EXPECT_EQ(oneRankThrows(RefusedError("not for this model")),
            "rank 0 in F s0 m0: not for this model");
}

TEST(Failure, InAnOverlapTheMemberIsNamed) {
  static constexpr int one[] = {0};
  static constexpr Schedule schedule = {"one", "one.pipe", 1,   1,       2,
                                        false, 1,          one, nullptr, false};
  ThreadGroup group(1);
  TestModel model(1, 2);
  model.onForward = [&](int, int microbatch) {
    if (microbatch == 1)
      throw std::runtime_error("out of memory");
  };
  ThreadTransport transport(group, 0);
  Worker worker(model, transport);
  try {
    worker.run(schedule, 0, [](auto &x) {
      x.at(5);
      x.forward(0, 0);
      x.overlap(Forward{0, 1}, Backward{0, 0});
    });
    FAIL() << "not thrown";
  } catch (const ModelError &error) {
    EXPECT_STREQ(error.what(),
                 "rank 0 in F s0 m1 at one.pipe:5: out of memory");
  }
}

TEST(Failure, WhatIsThrownBeforeAnyStepNamesNone) {
  struct Model : TestModel {
    Model() : TestModel(2, 4) {}
    int stages() const { throw std::runtime_error("no configuration"); }
  } model;
  ThreadGroup group(2);
  ThreadTransport transport(group, 0);
  Executor worker(model, transport);
  try {
    worker.run(gpipe2, 0, [](auto &) { FAIL() << "a step ran"; });
    FAIL() << "not thrown";
  } catch (const ModelError &error) {
    EXPECT_STREQ(error.what(), "rank 0: no configuration");
  }
}

TEST(Failure, AFailedExecutorDoesNotRunAgain) {
  ThreadGroup group(2);
  ThreadTransport transport(group, 0);
  TestModel model(3, 4);
  Worker worker(model, transport);
  EXPECT_THROW(worker.run(gpipe2, 0, [](auto &) {}), RefusedError);
  EXPECT_THROW(worker.run(gpipe2, 0, [](auto &) {}), Error);
}

TEST(Failure, AStallSaysWhatEveryRankWaitsFor) {
  // Rank 0 does not send micro-batch 3.
  std::string message = failing(0, [](auto &x) {
    x.at(3);
    for (int m = 0; m != 4; ++m) {
      x.forward(0, m);
      if (m != 3)
        x.sendForward(0, m);
    }
    x.at(4);
    x.recvBackward(0, 0);
    x.backward(0, 0);
  });
  auto has = [&](const char *text) {
    return message.find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("no progress:")) << message;
  EXPECT_TRUE(has("rank 1 waits for RECV_F s1 m3 from rank 0 at gpipe.pipe:3, "
                  "for 0."))
      << message;
  EXPECT_TRUE(has("rank 0 waits for RECV_B s0 m0 from rank 1 at gpipe.pipe:4, "
                  "for 0."))
      << message;
}

TEST(Failure, AStallSaysWhoIsBusyAndWhoIsDone) {
  Options options;
  options.patience = std::chrono::milliseconds(200);
  std::string message = runRanks(
      gpipe2, options,
      [](TestModel &model, int rank) {
        if (rank == 0)
          model.onForward = [](int, int microbatch) {
            if (microbatch == 1)
              std::this_thread::sleep_for(std::chrono::milliseconds(600));
          };
      },
      [&](Worker &worker, int rank) {
        worker.run(gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); });
      });
  EXPECT_NE(message.find("rank 0 runs F s0 m1 at gpipe.pipe:3"),
            std::string::npos)
      << message;
}

TEST(Failure, MessagesMustBeTheExpectedOnes) {
  EXPECT_EQ(failing(0,
                    [](auto &x) {
                      for (int m = 0; m != 4; ++m)
                        x.forward(0, m);
                      x.sendForward(0, 1);
                      x.sendForward(0, 0);
                      x.sendForward(0, 2);
                      x.sendForward(0, 3);
                      for (int m = 0; m != 4; ++m) {
                        x.recvBackward(0, m);
                        x.backward(0, m);
                      }
                    }),
            "`RECV_F s1 m0` expects `SEND_F s0 m0` of run 0 with 12 bytes from "
            "rank 0, and `SEND_F s0 m1` of run 0 with 12 bytes came (rank 1, "
            "gpipe.pipe:3)");
}

TEST(Failure, SizesMustAgree) {
  std::string message = runRanks(
      gpipe2, {},
      [](TestModel &model, int rank) { model.size = rank == 0 ? 5 : 3; },
      [&](Worker &worker, int rank) {
        worker.run(gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); });
      });
  EXPECT_NE(message.find("`SEND_F s0 m0` of run 0 with 12 bytes from rank 0, "
                         "and `SEND_F s0 m0` of run 0 with 20 bytes came"),
            std::string::npos)
      << message;
}

/// The message of a run of one rank with two sharded stages.
template <class Body> std::string alone(Body body) {
  static constexpr int one[] = {0, 0};
  static constexpr bool sharded[] = {true, false};
  static constexpr Schedule schedule = {"alone", "", 1,   2,       1,
                                        false,   1,  one, sharded, true};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  TestModel model(2, 1);
  Worker worker(model, transport);
  try {
    worker.run(schedule, 0, body);
  } catch (const ScheduleError &error) {
    return error.what();
  }
  return "";
}

TEST(Failure, StepsThatCannotBeMeant) {
  EXPECT_EQ(alone([](auto &x) {
              x.unshard(0);
              x.forward(0, 0);
              x.forward(1, 0);
              x.backward(1, 0);
              x.reduceGrad(1);
              x.backwardInput(0, 0);
              x.backwardWeight(0, 0);
              x.reduceGrad(0);
              x.reshard(0);
            }),
            "");
  auto start = [](auto &x) {
    x.unshard(0);
    x.forward(0, 0);
  };
  struct Fault {
    const char *message;
    std::function<void(Worker &)> body;
  };
  const Fault faults[] = {
      {"`F s0 m0` runs while its stage is sharded",
       [](Worker &x) { x.forward(0, 0); }},
      {"`F s1 m0` runs before its input is there",
       [](Worker &x) { x.forward(1, 0); }},
      {"`F s0 m0` runs twice", [&](Worker &x) { start(x), x.forward(0, 0); }},
      {"`B s0 m0` runs before its F",
       [](Worker &x) { x.unshard(0), x.backward(0, 0); }},
      {"`B s0 m0` runs before its gradient is there",
       [&](Worker &x) { start(x), x.backward(0, 0); }},
      {"`W s1 m0` runs before its I",
       [&](Worker &x) { start(x), x.forward(1, 0), x.backwardWeight(1, 0); }},
      {"`B s1 m0` runs twice, as B or as I",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backwardInput(1, 0), x.backward(1, 0);
       }},
      {"`W s1 m0` runs twice, as W or in a B",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backward(1, 0), x.backwardWeight(1, 0);
       }},
      {"`F s2 m0` does not belong on this rank",
       [](Worker &x) { x.forward(2, 0); }},
      {"`F s0 m1` does not belong on this rank",
       [](Worker &x) { x.forward(0, 1); }},
      {"`F s0 m-1` does not belong on this rank",
       [](Worker &x) { x.forward(0, -1); }},
      {"`SEND_F s0 m0` has no other rank to go to",
       [&](Worker &x) { start(x), x.sendForward(0, 0); }},
      {"`RECV_F s0 m0` has no other rank to come from",
       [](Worker &x) { x.recvForward(0, 0); }},
      {"UNSHARD s0 of a stage that is unsharded",
       [](Worker &x) { x.unshard(0), x.unshard(0); }},
      {"RESHARD s0 of a stage that is sharded",
       [](Worker &x) { x.reshard(0); }},
      {"REDUCE_GRAD s0 comes after 0 of 1 weight gradients",
       [&](Worker &x) { start(x), x.reduceGrad(0); }},
      {"REDUCE_GRAD s1 comes twice",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backward(1, 0);
         x.reduceGrad(1), x.reduceGrad(1);
       }},
      {"`UNSHARD s9` does not belong on this rank",
       [](Worker &x) { x.unshard(9); }},
      {"the run ended without F s0 m0", [](Worker &) {}},
      {"the run ended without B or I s0 m0",
       [&](Worker &x) { start(x), x.forward(1, 0), x.backward(1, 0); }},
      {"the run ended without W s0 m0",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backward(1, 0), x.backwardInput(0, 0);
       }},
      {"stage 0 is left unsharded at the end of the run",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backward(1, 0), x.backward(0, 0);
       }},
      {"the run ended without REDUCE_GRAD s0",
       [&](Worker &x) {
         start(x), x.forward(1, 0), x.backward(1, 0), x.backward(0, 0);
         x.reshard(0);
       }},
      {"`SEND_F s0 m0` is in an overlap and not a compute step",
       [&](Worker &x) { start(x), x.overlap(SendForward{0, 0}); }},
      {"`F s0 m0` is in a batch and not a transfer",
       [](Worker &x) { x.batch(Forward{0, 0}); }},
      // Other stages do not feed each other inside an overlap.
      {"`F s1 m0` runs before its input is there",
       [](Worker &x) {
         x.unshard(0), x.overlap(Forward{0, 0}, Forward{1, 0});
       }},
  };
  for (const Fault &fault : faults)
    EXPECT_EQ(alone([&](auto &x) { fault.body(x); }),
              std::string(fault.message) + " (rank 0)");
}

TEST(Failure, TransfersThatCannotBeMeant) {
  EXPECT_EQ(failing(0,
                    [](auto &x) {
                      x.forward(0, 0);
                      x.sendForward(0, 0);
                      x.sendForward(0, 0);
                    }),
            "`SEND_F s0 m0` comes twice (rank 0)");
  EXPECT_EQ(failing(0, [](auto &x) { x.sendForward(0, 0); }),
            "`SEND_F s0 m0` comes before what it sends is made (rank 0)");
  EXPECT_EQ(failing(1,
                    [](auto &x) {
                      x.recvForward(1, 0);
                      x.recvForward(1, 0);
                    }),
            "`RECV_F s1 m0` comes twice (rank 1)");
  EXPECT_EQ(failing(0,
                    [](auto &x) {
                      gpipeSteps(x, 0);
                      x.recvBackward(0, 3);
                    }),
            "`RECV_B s0 m3` comes twice (rank 0, gpipe.pipe:4)");
  EXPECT_EQ(failing(1,
                    [](auto &x) {
                      for (int m = 0; m != 4; ++m) {
                        x.recvForward(1, m);
                        x.forward(1, m);
                        x.backward(1, m);
                        if (m != 3)
                          x.sendBackward(1, m);
                      }
                    }),
            "the gradient that stage 1 made for m3 was never sent (rank 1)");
}

} // namespace
