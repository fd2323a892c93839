//===- MinibatchTest.cpp - Mini-batches, losses and outputs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

/// Two stages `y = 3 x` and `z = 2 y` on rows of numbers; the loss of a
/// micro-batch is the sum of (z - target)^2 / 2 over its rows.
struct RowModel {
  using Tensor = std::vector<double>;
  using Activation = Tensor;
  struct Minibatch {
    std::vector<double> inputs, targets;
  };
  using Outputs = std::vector<double>;

  int numStages, numMicrobatches;
  std::vector<double> gradients = {0, 0};

  int stages() const { return numStages; }
  int microbatches() const { return numMicrobatches; }
  double factor(int stage) const { return stage == 0 ? 3 : 2; }
  Rows rows(const Minibatch &all, int microbatch) const {
    return rowsOf(all.inputs.size(), microbatch, numMicrobatches);
  }

  void split(const Minibatch &all, int, int microbatch, Tensor &input) {
    Rows own = rows(all, microbatch);
    input.assign(all.inputs.begin() + long(own.begin),
                 all.inputs.begin() + long(own.end));
  }
  void forward(int stage, int, Tensor *input, Tensor *output,
               Activation &kept) {
    output->clear();
    for (double x : *input)
      output->push_back(factor(stage) * x);
    kept.swap(*input);
  }
  double loss(const Minibatch &all, int microbatch, const Tensor &output,
              Tensor *gradient) {
    double sum = 0;
    std::size_t row = rows(all, microbatch).begin;
    if (gradient)
      gradient->clear();
    for (double z : output) {
      double difference = z - all.targets[row++];
      sum += difference * difference / 2;
      if (gradient)
        gradient->push_back(difference);
    }
    return sum;
  }
  void merge(Outputs &all, int microbatch, const Tensor &output) {
    std::size_t row = rowsOf(all.size(), microbatch, numMicrobatches).begin;
    for (double z : output)
      all[row++] = z;
  }
  void backwardInput(int stage, int, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &) {
    if (!inputGradient)
      return;
    inputGradient->clear();
    for (double d : *outputGradient)
      inputGradient->push_back(factor(stage) * d);
  }
  void backwardWeight(int stage, int, const Tensor *outputGradient,
                      Activation &kept) {
    for (std::size_t i = 0; i != kept.size(); ++i)
      gradients[std::size_t(stage)] += (*outputGradient)[i] * kept[i];
  }
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    backwardInput(stage, microbatch, outputGradient, inputGradient, kept);
    backwardWeight(stage, microbatch, outputGradient, kept);
  }
  void prepareInput(int, int microbatch, Tensor &tensor) {
    tensor.resize(rowsOf(7, microbatch, numMicrobatches).size());
  }
  void prepareGradient(int stage, int microbatch, Tensor &tensor) {
    prepareInput(stage, microbatch, tensor);
  }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(tensor));
  }
  void exportGradient(int stage, Tensor &out) {
    out.assign(1, gradients[std::size_t(stage)]);
  }
  void addGradient(int stage, const Tensor &other) {
    gradients[std::size_t(stage)] += other[0];
  }
};

const RowModel::Minibatch seven = {{1, 2, 3, 4, 5, 6, 7},
                                   {7, 13, 18, 24, 30, 36, 40}};
// Losses of rows: 1/2, 1/2, 0, 0, 0, 0, 2; their gradients: -1, -1, 0 ..., 2.

TEST(Minibatch, IsSplitEvenly) {
  EXPECT_EQ(rowsOf(7, 0, 4).size(), 2u);
  EXPECT_EQ(rowsOf(7, 2, 4).end, rowsOf(7, 3, 4).begin);
  EXPECT_EQ(rowsOf(7, 3, 4).size(), 1u);
  EXPECT_EQ(rowsOf(7, 3, 4).end, 7u);
  EXPECT_EQ(rowsOf(2, 3, 4).size(), 0u);
}

TEST(Minibatch, LossesAndOutputsComeBack) {
  ThreadGroup group(2);
  group.run([&](int rank) {
    RowModel model{2, 4};
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    for (int k = 0; k != 3; ++k) {
      model.gradients = {0, 0};
      std::vector<double> outputs(7, 0);
      std::span<const double> losses = worker.run(
          gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); }, seven, outputs);
      if (rank == 0) {
        EXPECT_TRUE(losses.empty());
        EXPECT_EQ(model.gradients[0], 2 * (-1 * 1 - 1 * 2 + 2 * 7));
      } else {
        EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()),
                  (std::vector<double>{1, 0, 0, 2}));
        EXPECT_EQ(outputs, (std::vector<double>{6, 12, 18, 24, 30, 36, 42}));
        EXPECT_EQ(model.gradients[1], 3 * (-1 * 1 - 1 * 2 + 2 * 7));
      }
    }
  });
}

TEST(Minibatch, IsTakenInAnOrder) {
  struct Noting : RowModel {
    std::vector<int> taken;
    void split(const Minibatch &all, int stage, int microbatch, Tensor &input) {
      taken.push_back(microbatch);
      RowModel::split(all, stage, microbatch, input);
    }
  };
  static constexpr int given[] = {2, 3, 1, 0}, own[] = {3, 0, 2, 1};
  Schedule ordered = gpipe2;
  ordered.order = own;
  ThreadGroup group(2);
  group.run([&](int rank) {
    Noting model{{2, 4}, {}};
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    worker.handle(StepKind::Forward, [&](auto &step) {
      EXPECT_EQ(step.microbatch, ordered.order[std::size_t(step.unit)]);
      step.proceed();
    });
    auto run = [&](const std::vector<int> &order) {
      model.gradients = {0, 0};
      model.taken.clear();
      std::vector<double> outputs(7, 0);
      std::span<const double> losses = worker.run(
          ordered, rank, [&](auto &x) { gpipeSteps(x, rank); }, seven, outputs);
      EXPECT_EQ(model.gradients[std::size_t(rank)], rank == 0 ? 22 : 33);
      if (rank == 0) {
        EXPECT_EQ(model.taken, order);
        return;
      }
      EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()),
                (std::vector<double>{1, 0, 0, 2}));
      EXPECT_EQ(outputs, (std::vector<double>{6, 12, 18, 24, 30, 36, 42}));
    };
    run({3, 0, 2, 1});
    worker.handle(StepKind::Forward, {});
    worker.reorder(given);
    run({2, 3, 1, 0});
    worker.reorder({});
    run({3, 0, 2, 1});
  });
}

TEST(Minibatch, OrdersOfRanksMustBeEqual) {
  static constexpr int swapped[] = {1, 0, 2, 3}, three[] = {0, 2, 1},
                       twice[] = {0, 1, 1, 3}, outside[] = {0, 1, 2, 4};
  auto orders = [&](std::span<const int> first, std::span<const int> second) {
    return messageOf(2, [&](ThreadGroup &group, int rank) {
      RowModel model{2, 4};
      ThreadTransport transport(group, rank);
      Executor worker(model, transport);
      worker.reorder(rank == 0 ? first : second);
      (void)worker.run(
          gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); }, seven);
    });
  };
  EXPECT_EQ(orders(swapped, swapped), "");
  EXPECT_NE(orders(swapped, {})
                .find("the order of the batch differs from that of rank "),
            std::string::npos);
  EXPECT_NE(orders(three, three)
                .find("the order of the batch has 3 "
                      "micro-batches, and `gpipe` has 4"),
            std::string::npos);
  EXPECT_NE(orders(twice, twice)
                .find("not a permutation of 4 micro-batches: it "
                      "has 1 twice"),
            std::string::npos);
  EXPECT_NE(orders(outside, outside)
                .find("not a permutation of 4 micro-batches: it has 4"),
            std::string::npos);
}

TEST(Minibatch, RecomputedUnitsHaveOneLoss) {
  static constexpr RecomputedUnits all[] = {{0, 0, 4, 1}, {1, 0, 4, 1}};
  Schedule schedule = gpipe2;
  schedule.recomputed = all;
  struct Counting : RowModel {
    int lossCalls = 0;
    double loss(const Minibatch &all, int microbatch, const Tensor &output,
                Tensor *gradient) {
      ++lossCalls;
      return RowModel::loss(all, microbatch, output, gradient);
    }
  };
  ThreadGroup group(2);
  group.run([&](int rank) {
    Counting model{{2, 4}};
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    std::vector<double> outputs(7, 0);
    worker.copyInputs();
    std::span<const double> losses = worker.run(
        schedule, rank,
        [&](auto &x) {
          gpipeSteps(x, rank, [&](int m) { x.recompute(rank, m); });
        },
        seven, outputs);
    EXPECT_EQ(worker.statistics().peakActivations, 1);
    if (rank == 0) {
      EXPECT_EQ(model.gradients[0], 2 * (-1 * 1 - 1 * 2 + 2 * 7));
      return;
    }
    EXPECT_EQ(model.lossCalls, 4);
    EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()),
              (std::vector<double>{1, 0, 0, 2}));
    EXPECT_EQ(outputs, (std::vector<double>{6, 12, 18, 24, 30, 36, 42}));
    EXPECT_EQ(model.gradients[1], 3 * (-1 * 1 - 1 * 2 + 2 * 7));
  });
}

TEST(Minibatch, InAnyOrderInOverlapsAndSplit) {
  static constexpr int one[] = {0, 0};
  static constexpr Schedule schedule = {"local", "", 1,   2,       3,
                                        false,   1,  one, nullptr, false};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  RowModel model{2, 3};
  Executor worker(model, transport);
  std::span<const double> losses = worker.run(
      schedule, 0,
      [](auto &x) {
        for (int m : {2, 0, 1}) {
          x.forward(0, m);
          x.overlap(Forward{1, m}, BackwardInput{1, m});
          x.backward(0, m);
        }
        for (int m = 0; m != 3; ++m)
          x.backwardWeight(1, m);
      },
      seven);
  EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()),
            (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(model.gradients[0], 22);
  EXPECT_EQ(model.gradients[1], 33);
}

TEST(Minibatch, EachDirectionHasItsHalf) {
  static constexpr int bothWays[] = {0, 1, 1, 0};
  static constexpr Schedule schedule = {
      "bidirectional", "", 2, 2, 4, false, 2, bothWays, nullptr, false};
  ThreadGroup group(2);
  group.run([&](int rank) {
    RowModel model{2, 4};
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    std::span<const double> losses = worker.run(
        schedule, rank,
        [&](auto &x) {
          int near = rank == 0 ? 0 : 2, far = 2 - near;
          for (int m = 0; m != 2; ++m) {
            x.forward(0, near + m);
            x.sendForward(0, near + m);
          }
          for (int m = 0; m != 2; ++m) {
            x.recvForward(1, far + m);
            x.forward(1, far + m);
            x.backward(1, far + m);
            x.sendBackward(1, far + m);
          }
          for (int m = 0; m != 2; ++m) {
            x.recvBackward(0, near + m);
            x.backward(0, near + m);
          }
          x.sumReplicas();
        },
        seven);
    EXPECT_EQ(std::vector<double>(losses.begin(), losses.end()),
              rank == 1 ? (std::vector<double>{1, 0})
                        : (std::vector<double>{0, 2}));
    EXPECT_EQ(model.gradients[0], 22);
    EXPECT_EQ(model.gradients[1], 33);
  });
}

/// A model that has its own data, and whose `forward` returns losses.
struct LossModel : TestModel {
  using TestModel::TestModel;
  int forward(int stage, int microbatch, Tensor *input, Tensor *output,
              Activation &kept) {
    TestModel::forward(stage, microbatch, input, output, kept);
    return 10 * stage + microbatch;
  }
};

TEST(Losses, AreWhatTheLastStageReturns) {
  ThreadGroup group(2);
  group.run([&](int rank) {
    LossModel model(2, 4);
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    std::size_t known = 0;
    worker.handle(StepKind::Backward, [&](auto &step) {
      known = 0;
      for (const std::optional<int> &loss : step.losses)
        known += loss.has_value();
      step.proceed();
    });
    std::span<const int> losses =
        worker.run(gpipe2, rank, [&](auto &x) { gpipeSteps(x, rank); });
    EXPECT_EQ(std::vector<int>(losses.begin(), losses.end()),
              rank == 0 ? std::vector<int>()
                        : (std::vector<int>{10, 11, 12, 13}));
    EXPECT_EQ(known, rank == 0 ? 0u : 4u);
  });
}

TEST(Losses, OfAHandlersForward) {
  static constexpr int one[] = {0};
  static constexpr Schedule schedule = {"one", "one.pipe", 1,   1,       2,
                                        true,  1,          one, nullptr, false};
  auto run = [&](bool sets) {
    ThreadGroup group(1);
    ThreadTransport transport(group, 0);
    LossModel model(1, 2);
    Executor worker(model, transport);
    worker.handle(StepKind::Forward, [&](auto &step) {
      if (sets)
        *step.loss = 7;
    });
    std::span<const int> losses = worker.run(
        schedule, 0, [](auto &x) { x.forward(0, 0), x.forward(0, 1); });
    return std::vector<int>(losses.begin(), losses.end());
  };
  EXPECT_EQ(run(true), (std::vector<int>{7, 7}));
  try {
    run(false);
    FAIL() << "not thrown";
  } catch (const ScheduleError &error) {
    EXPECT_STREQ(error.what(), "`F s0 m0` has left no loss (rank 0)");
  }
}

} // namespace
