//===- SlicesTest.cpp - Models whose micro-batches have slices ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include "gtest/gtest.h"

#include <set>

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

/// One stage. A slice adds its number to the sum of its context on the way
/// forth, and takes it away on the way back; the model throws if it is given a
/// context of another micro-batch, or one in another state.
struct SlicedModel {
  using Tensor = std::vector<int>;
  using Activation = int;
  struct Context {
    int microbatch, sum;
  };
  struct Minibatch {};
  using Outputs = std::vector<int>;

  int numMicrobatches, numSlices;
  std::set<Context *> contexts = {};
  int weights = 0;

  int stages() const { return 1; }
  int microbatches() const { return numMicrobatches; }
  int slices() const { return numSlices; }

  static void check(const Context &context, int microbatch, int sum) {
    TestModel::check(context.microbatch == microbatch && context.sum == sum,
                     "another context");
  }
  void forward(int, int microbatch, int slice, Tensor *input, Tensor *output,
               Activation &kept, Context &context) {
    if (slice == 0)
      context = {microbatch, 0};
    contexts.insert(&context);
    check(context, microbatch, slice * (slice - 1) / 2);
    context.sum += slice;
    kept = input->at(0);
    *output = *input;
  }
  void backward(int stage, int microbatch, int slice, const Tensor *gradient,
                Tensor *inputGradient, Activation &kept, Context &context) {
    backwardInput(stage, microbatch, slice, gradient, inputGradient, kept,
                  context);
    backwardWeight(stage, microbatch, slice, gradient, kept, context);
  }
  void backwardInput(int, int microbatch, int slice, const Tensor *, Tensor *,
                     Activation &kept, Context &context) {
    TestModel::check(kept == 10 * microbatch + slice, "activation");
    check(context, microbatch, slice * (slice + 1) / 2);
    context.sum -= slice;
  }
  void backwardWeight(int, int microbatch, int, const Tensor *, Activation &,
                      Context &context) {
    TestModel::check(context.microbatch == microbatch, "context of a W");
    ++weights;
  }
  void split(const Minibatch &, int, int microbatch, int slice, Tensor &input) {
    input.assign(1, 10 * microbatch + slice);
  }
  double loss(const Minibatch &, int microbatch, int slice,
              const Tensor &output, Tensor *gradient) {
    if (gradient)
      gradient->assign(1, 0);
    TestModel::check(output.at(0) == 10 * microbatch + slice, "output");
    return output.at(0);
  }
  void merge(Outputs &all, int microbatch, int slice, const Tensor &output) {
    all[std::size_t(microbatch * numSlices + slice)] = output.at(0);
  }
};

constexpr int oneRank[] = {0};

Schedule slicedSchedule(int microbatches, int slices,
                        bool forwardOnly = false) {
  Schedule schedule = {"sliced",    "", 1,       1,       microbatches,
                       forwardOnly, 1,  oneRank, nullptr, false};
  schedule.slices = slices;
  return schedule;
}

/// One run of a model with `slices` slices; what it throws, or "".
template <class Body>
std::string errorOf(const Schedule &schedule, SlicedModel &model, Body body) {
  return messageOf(1, [&](ThreadGroup &group, int rank) {
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    std::vector<int> outputs(std::size_t(schedule.units()), -1);
    std::span<const double> losses =
        worker.run(schedule, 0, body, SlicedModel::Minibatch{}, outputs);
    ASSERT_EQ(int(losses.size()), schedule.units());
    for (int u = 0; u != schedule.units(); ++u) {
      int value = 10 * (u / schedule.slices) + u % schedule.slices;
      EXPECT_EQ(losses[std::size_t(u)], value);
      EXPECT_EQ(outputs[std::size_t(u)], value);
    }
  });
}

TEST(Slices, ShareAContextPerMicrobatch) {
  SlicedModel model{2, 3};
  EXPECT_EQ(errorOf(slicedSchedule(2, 3), model,
                    [](auto &x) {
                      for (int u = 0; u != 6; ++u)
                        x.forward(0, u);
                      for (int u : {5, 2, 4, 1, 3, 0})
                        x.backward(0, u);
                    }),
            "");
  EXPECT_EQ(model.contexts.size(), 2u);
  EXPECT_EQ(model.weights, 6);
}

TEST(Slices, ReuseAContextAfterSliceZero) {
  SlicedModel model{3, 2};
  EXPECT_EQ(errorOf(slicedSchedule(3, 2), model,
                    [](auto &x) {
                      for (int m = 0; m != 3; ++m) {
                        x.forward(0, 2 * m);
                        x.forward(0, 2 * m + 1);
                        x.backward(0, 2 * m + 1);
                        x.backward(0, 2 * m);
                      }
                    }),
            "");
  EXPECT_EQ(model.contexts.size(), 1u);
}

TEST(Slices, KeepTheContextForTheirWeightGradients) {
  SlicedModel model{2, 2};
  EXPECT_EQ(errorOf(slicedSchedule(2, 2), model,
                    [](auto &x) {
                      x.forward(0, 0);
                      x.forward(0, 1);
                      x.backwardInput(0, 1);
                      x.backwardInput(0, 0);
                      x.backwardWeight(0, 0);
                      x.forward(0, 2);
                      x.backwardWeight(0, 1);
                      x.forward(0, 3);
                      x.backward(0, 3);
                      x.backward(0, 2);
                    }),
            "");
  EXPECT_EQ(model.contexts.size(), 2u);
}

TEST(Slices, GiveTheContextBackWithoutBackwards) {
  SlicedModel model{3, 2};
  EXPECT_EQ(errorOf(slicedSchedule(3, 2, /*forwardOnly=*/true), model,
                    [](auto &x) {
                      for (int u = 0; u != 6; ++u)
                        x.forward(0, u);
                    }),
            "");
  EXPECT_EQ(model.contexts.size(), 1u);
}

TEST(Slices, HaveAnOrder) {
  auto steps = [](std::vector<int> forwards, std::vector<int> backwards) {
    return [=](auto &x) {
      for (int u : forwards)
        x.forward(0, u);
      for (int u : backwards)
        x.backward(0, u);
    };
  };
  SlicedModel model{2, 2};
  EXPECT_EQ(errorOf(slicedSchedule(2, 2), model, steps({0, 3}, {})),
            "`F s0 m1.1` runs before the F of the slice before it (rank 0)");
  EXPECT_EQ(errorOf(slicedSchedule(2, 2), model, steps({0, 1}, {0})),
            "`B s0 m0.0` runs before the B or I of the slice after it "
            "(rank 0)");
  EXPECT_EQ(errorOf(slicedSchedule(2, 2), model, steps({0, 1, 2}, {1, 0})),
            "the run ended without B or I s0 m1.0 (rank 0)");
}

TEST(Slices, AreAsManyAsThoseOfTheModel) {
  SlicedModel model{2, 2};
  EXPECT_EQ(errorOf(slicedSchedule(2, 3), model, [](auto &) {}),
            "`sliced` is compiled for 3 slices, and the model has 2");
  EXPECT_EQ(errorOf(slicedSchedule(2, 1), model, [](auto &) {}),
            "`sliced` is compiled for 1 slices, and the model has 2");
  Schedule schedule = gpipe2;
  schedule.slices = 2;
  EXPECT_EQ(runRanks(
                schedule, {}, [](TestModel &, int) {},
                [&](Worker &worker, int rank) {
                  worker.run(schedule, rank, [](auto &) {});
                }),
            "`gpipe` is compiled for 2 slices, and the model has no int "
            "slices() const");
}

TEST(Slices, AreInTheContextsOfHandlers) {
  Schedule schedule = slicedSchedule(2, 2);
  SlicedModel model{2, 2};
  ThreadGroup group(1);
  ThreadTransport transport(group, 0);
  Executor worker(model, transport);
  int unit = 0;
  worker.handle(StepKind::Forward, [&](auto &step) {
    EXPECT_EQ(step.unit, unit);
    EXPECT_EQ(step.microbatch, unit / 2);
    EXPECT_EQ(step.slice, unit % 2);
    step.proceed();
    EXPECT_EQ(step.context->microbatch, unit / 2);
    ++unit;
  });
  worker.run(
      schedule, 0,
      [](auto &x) {
        for (int u : {0, 1, 2, 3})
          x.forward(0, u);
        for (int u : {1, 0, 3, 2})
          x.backward(0, u);
      },
      SlicedModel::Minibatch{});
  EXPECT_EQ(unit, 4);
}

TEST(Slices, AreInADirectionWithTheirMicrobatch) {
  static constexpr int ranks[] = {0, 1, 1, 0};
  Schedule schedule = {"both", "", 2, 2, 4, false, 2, ranks, nullptr, false};
  schedule.slices = 3;
  EXPECT_EQ(schedule.units(), 12);
  EXPECT_EQ(schedule.rankOf(0, 5), 0);
  EXPECT_EQ(schedule.rankOf(0, 6), 1);
  EXPECT_EQ(schedule.microbatchesOf(0, 0), 2);
}

} // namespace
