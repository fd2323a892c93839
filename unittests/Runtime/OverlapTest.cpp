//===- OverlapTest.cpp - Overlaps that the model runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

/// A model that decides when the members of an overlap begin and end.
struct MemberModel : TestModel {
  using TestModel::TestModel;
  using Members = std::span<OverlapMember<MemberModel>>;
  std::function<void(Members)> run = [](Members) {};
  void overlapped(Members members) { run(members); }
};
using Members = MemberModel::Members;

constexpr Schedule pair2 = {"pair", "pair.pipe", 2,        2,       2,
                            false,  1,           twoRanks, nullptr, false};

/// Each rank needs for one half of its overlap what the other rank makes in the
/// other half of its own.
template <class X> void crossedSteps(X &x, int rank) {
  x.at(3);
  if (rank == 0) {
    x.forward(0, 0);
    x.sendForward(0, 0);
    x.recvBackward(0, 0);
    x.overlap(Forward{0, 1}, Backward{0, 0});
    x.sendForward(0, 1);
    x.recvBackward(0, 1);
    x.backward(0, 1);
  } else {
    x.recvForward(1, 0);
    x.forward(1, 0);
    x.recvForward(1, 1);
    x.overlap(Forward{1, 1}, Backward{1, 0});
    x.sendBackward(1, 0);
    x.backward(1, 1);
    x.sendBackward(1, 1);
  }
}

/// The message of a run on two ranks whose models run overlaps by `overlapped`.
std::string
running(std::function<void(int rank, Members)> overlapped,
        std::chrono::milliseconds patience = std::chrono::minutes(1)) {
  Options options;
  options.patience = patience;
  return messageOf(2, [&](ThreadGroup &group, int rank) {
    MemberModel model(2, 2);
    model.run = [&](Members members) { overlapped(rank, members); };
    ThreadTransport transport(group, rank);
    Executor worker(model, transport, options);
    for (int k = 0; k != 3; ++k)
      worker.run(pair2, rank, [&](auto &x) { crossedSteps(x, rank); });
    EXPECT_EQ(model.gradients[std::size_t(rank)], 6);
  });
}

/// The half that needs nothing from the other rank: F on rank 0, B on rank 1.
OverlapMember<MemberModel> &own(int rank, Members members) {
  return members[std::size_t(rank)];
}
OverlapMember<MemberModel> &other(int rank, Members members) {
  return members[std::size_t(1 - rank)];
}

TEST(Overlap, OneHalfMayRunAndBeSentBeforeTheInputOfTheOther) {
  EXPECT_EQ(running([](int rank, Members members) {
              EXPECT_FALSE(other(rank, members).input ||
                           other(rank, members).outputGradient);
              EXPECT_TRUE(own(rank, members).ready());
              own(rank, members).proceed();
              own(rank, members).send();
              other(rank, members).wait();
              EXPECT_TRUE(other(rank, members).ready());
              EXPECT_TRUE(other(rank, members).input ||
                          other(rank, members).outputGradient);
              other(rank, members).proceed();
            }),
            "");
}

TEST(Overlap, WithoutTheSendTheseListsDoNotEnd) {
  std::string message = running(
      [](int rank, Members members) {
        own(rank, members).proceed();
        other(rank, members).wait();
      },
      std::chrono::milliseconds(200));
  EXPECT_NE(message.find("no progress:"), std::string::npos) << message;
  // Nor with members that wait for their inputs before the call.
  struct EagerModel : TestModel {
    using TestModel::TestModel;
    void overlapped(std::span<StepContext<EagerModel>>) {}
  };
  ThreadGroup group(2);
  EXPECT_THROW(group.run([&](int rank) {
    EagerModel model(2, 2);
    ThreadTransport transport(group, rank);
    Options options;
    options.patience = std::chrono::milliseconds(200);
    Executor worker(model, transport, options);
    worker.run(pair2, rank, [&](auto &x) { crossedSteps(x, rank); });
  }),
               StallError);
}

TEST(Overlap, TheModelMayDoTheWorkOfAMember) {
  EXPECT_EQ(running([](int rank, Members members) {
              auto &first = own(rank, members);
              if (rank == 0) {
                first.wait();
                first.output->values.assign(3, first.microbatch);
                *first.kept = {0, first.microbatch};
                first.finish();
              } else {
                first.proceed();
              }
              first.send();
              // The other half runs after the call.
            }),
            "");
}

TEST(Overlap, WhatTheModelDoesNotTouchRunsAfterIt) {
  static constexpr int one[] = {0};
  static constexpr Schedule schedule = {"pair", "", 1,   1,       2,
                                        false,  1,  one, nullptr, false};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  MemberModel model(1, 2);
  int calls = 0;
  model.run = [&](Members) { ++calls; };
  Executor worker(model, transport);
  worker.run(schedule, 0, [](auto &x) {
    x.forward(0, 0);
    x.overlap(Forward{0, 1}, Backward{0, 0});
    x.backward(0, 1);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(model.gradients[0], 2);
}

TEST(Overlap, SendsGoWhereWaitsForSendsAre) {
  static constexpr Schedule waiting = {"pair",  "pair.pipe", 2,    2,
                                       2,       false,       1,    twoRanks,
                                       nullptr, false,       true, false};
  ThreadGroup group(2);
  group.run([&](int rank) {
    MemberModel model(2, 2);
    model.run = [&](Members members) {
      own(rank, members).proceed();
      own(rank, members).send();
    };
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    worker.run(waiting, rank, [&](auto &x) {
      crossedSteps(x, rank);
      for (int m = 0; m != 2; ++m)
        if (rank == 0)
          x.waitSendForward(0, m);
        else
          x.waitSendBackward(1, m);
    });
    EXPECT_EQ(worker.statistics().peakSends, 2);
  });
}

TEST(Overlap, MembersThatCannotBeMeant) {
  EXPECT_EQ(
      running([](int rank, Members members) { own(rank, members).finish(); }),
      "`F s0 m1` ends before its overlap has begun it (rank 0, "
      "pair.pipe:3)");
  EXPECT_EQ(running([](int rank, Members members) {
              own(rank, members).proceed();
              own(rank, members).proceed();
            }),
            "`F s0 m1` has ended in its overlap (rank 0, pair.pipe:3)");
  EXPECT_EQ(
      running([](int rank, Members members) { own(rank, members).send(); }),
      "`SEND_F s0 m1` comes before what it sends is made (rank 0, "
      "pair.pipe:3)");
}

TEST(Overlap, EarlySendsToOneRankKeepTheOrderOfTheirSteps) {
  // Rank 0 holds the stages 0 and 2, and sends both results to rank 1.
  static constexpr int there[] = {0, 1, 0};
  static constexpr Schedule schedule = {"there", "", 2,     3,       2,
                                        false,   1,  there, nullptr, false};
  ThreadGroup group(2);
  std::string message;
  try {
    group.run([&](int rank) {
      MemberModel model(3, 2);
      model.run = [&](Members members) {
        members[1].proceed();
        members[1].send();
      };
      ThreadTransport transport(group, rank);
      Executor worker(model, transport);
      worker.run(schedule, rank, [&](auto &x) {
        if (rank == 1) {
          x.recvForward(1, 0);
          x.forward(1, 0);
          x.sendForward(1, 0);
          x.recvForward(1, 1);
          x.forward(1, 1);
          return;
        }
        x.forward(0, 0);
        x.sendForward(0, 0);
        x.recvForward(2, 0);
        x.forward(2, 0);
        x.overlap(Forward{0, 1}, Backward{2, 0});
        x.sendForward(0, 1);
        x.sendBackward(2, 0);
      });
    });
  } catch (const ScheduleError &error) {
    message = error.what();
  }
  EXPECT_EQ(message, "`SEND_F s0 m1` comes before `SEND_B s2 m0`, which an "
                     "overlap has already sent to the same rank (rank 0)");
}

} // namespace
