//===- TiesTest.cpp - Sums of tied gradients ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include <gtest/gtest.h>

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

/// A model whose stages share counts of weight gradients.
struct TiedModel : TestModel {
  using TestModel::TestModel;
  std::vector<std::vector<int>> groups;
  std::vector<int> held;
  /// What each rank of a group gave, in order.
  std::vector<std::vector<int>> seen;

  int own(int group) const {
    int sum = 0;
    for (int stage : groups[std::size_t(group)])
      if (std::find(held.begin(), held.end(), stage) != held.end())
        sum += gradients[std::size_t(stage)] * (1 + stage);
    return sum;
  }
  void exportTied(int group, Tensor &out) { out.values.assign(1, own(group)); }
  void sumTied(int group, std::span<const Tensor *const> parts) {
    seen.push_back({group});
    for (const Tensor *part : parts)
      seen.back().push_back(part->values.at(0));
  }
};
using TiedWorker = Executor<TiedModel, ThreadTransport>;

constexpr int ranksOfStages[] = {0, 1, 0};
constexpr int outer[] = {0, 2};
constexpr int lower[] = {0, 1};
constexpr int every[] = {0, 1, 2};
constexpr std::span<const int> groups[] = {outer, lower, every};
constexpr Schedule tied = {
    "tied",  "",    2,     3,     1,  false,   1,     ranksOfStages,
    nullptr, false, false, false, {}, nullptr, groups};

/// One micro-batch; `ties` calls the REDUCE_TIED steps of a rank.
template <class X, class Ties> void steps(X &x, int rank, Ties ties) {
  if (rank == 0) {
    x.forward(0, 0);
    x.sendForward(0, 0);
    x.recvForward(2, 0);
    x.forward(2, 0);
    x.backward(2, 0);
    x.sendBackward(2, 0);
    x.recvBackward(0, 0);
    x.backward(0, 0);
  } else {
    x.recvForward(1, 0);
    x.forward(1, 0);
    x.sendForward(1, 0);
    x.recvBackward(1, 0);
    x.backward(1, 0);
    x.sendBackward(1, 0);
  }
  ties(x, rank);
}

template <class Ties>
std::string run(Ties ties, std::vector<std::vector<int>> *seen = nullptr,
                int runs = 1, bool handled = false) {
  return messageOf(2, [&](ThreadGroup &threads, int rank) {
    TiedModel model(3, 1);
    model.groups = {{0, 2}, {0, 1}, {0, 1, 2}};
    model.held = tied.stagesOf(rank);
    ThreadTransport transport(threads, rank);
    TiedWorker worker(model, transport);
    if (handled)
      worker.handle(StepKind::ReduceTied, [&](auto &step) {
        if (step.stage == 0)
          step.proceed();
      });
    for (int i = 0; i != runs; ++i)
      worker.run(tied, rank, [&](auto &x) { steps(x, rank, ties); });
    if (seen && rank == 0) {
      *seen = model.seen;
    } else if (seen) {
      EXPECT_EQ(model.seen.size(), std::size_t(handled ? 0 : 2 * runs));
    }
  });
}

auto allGroups = [](auto &x, int rank) {
  x.reduceTied(2);
  if (rank == 0)
    x.reduceTied(0);
  x.reduceTied(1);
};

TEST(Ties, RanksSumWhatAllHaveInTheirOrder) {
  std::vector<std::vector<int>> seen;
  EXPECT_EQ(run(allGroups, &seen), "");
  // Rank 0 has stages 0 and 2, whose counts weigh 1 and 3.
  EXPECT_EQ(seen,
            (std::vector<std::vector<int>>{{2, 4, 2}, {0, 4}, {1, 1, 2}}));
  EXPECT_EQ(run(allGroups, &seen, 3), "");
  EXPECT_EQ(seen.size(), 9u);
}

TEST(Ties, TablesAndHandlersRunThem) {
  std::vector<std::vector<int>> seen;
  EXPECT_EQ(run(
                [](auto &x, int rank) {
                  const Step outerStep[] = {{StepKind::ReduceTied, 0, 0}};
                  x.reduceTied(2);
                  if (rank == 0)
                    x.steps(outerStep);
                  x.reduceTied(1);
                },
                &seen),
            "");
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(run(allGroups, &seen, 1, /*handled=*/true), "");
  EXPECT_EQ(seen, (std::vector<std::vector<int>>{{0, 4}}));
}

TEST(Ties, MistakesAreFound) {
  auto with = [](auto ties) {
    return run([&](auto &x, int rank) {
      if (rank == 0)
        ties(x);
    });
  };
  EXPECT_NE(with([](auto &x) {
              x.reduceTied(3);
            }).find("REDUCE_TIED t3 of a schedule with 3 groups"),
            std::string::npos);
  EXPECT_NE(with([](auto &x) {
              x.reduceTied(0), x.reduceTied(0);
            }).find("REDUCE_TIED t0 comes twice"),
            std::string::npos);
  EXPECT_NE(run([](auto &x, int rank) {
              if (rank == 1)
                x.reduceTied(0);
              else
                allGroups(x, rank);
            }).find("REDUCE_TIED t0 does not belong on this rank"),
            std::string::npos);
  EXPECT_NE(run([](auto &x, int rank) {
              if (rank == 0)
                allGroups(x, rank);
            }).find("the run ended without REDUCE_TIED t1"),
            std::string::npos);
  // A group in another order is found where the messages meet.
  EXPECT_NE(run([](auto &x, int rank) {
              x.reduceTied(rank == 0 ? 1 : 2);
              x.reduceTied(rank == 0 ? 2 : 1);
              if (rank == 0)
                x.reduceTied(0);
            }).find("is not what came"),
            std::string::npos);
}

TEST(Ties, ModelsWithoutThemAreRefused) {
  std::string text = runRanks(
      tied, {}, [](TestModel &, int) {},
      [](Worker &worker, int rank) {
        worker.run(tied, rank, [&](auto &x) { steps(x, rank, allGroups); });
      });
  EXPECT_NE(text.find("the model has no exportTied"), std::string::npos);
}

TEST(Ties, OfRanks) {
  EXPECT_EQ(tied.tiedRanks(0), std::vector<int>{0});
  EXPECT_EQ(tied.tiedRanks(2), (std::vector<int>{0, 1}));
  EXPECT_EQ(stepText(StepKind::ReduceTied, 4, 0), "REDUCE_TIED t4");
}

} // namespace
