//===- CopiesTest.cpp - Recomputation, copies and optimizer steps ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/TestModel.h"

#include <gtest/gtest.h>

using namespace pipec::runtime;
using namespace pipec::runtime::test;

namespace {

using Log = std::vector<std::string>;

/// Writes down what the executor calls, with the object that is copied.
struct CopyModel : TestModel {
  using TestModel::TestModel;
  Log *log = nullptr;
  Activation *copied = nullptr;

  void write(const char *what) { log->push_back(what); }
  double forward(int stage, int microbatch, Tensor *input, Tensor *output,
                 Activation &kept) {
    write("F");
    TestModel::forward(stage, microbatch, input, output, kept);
    return 10 + double(std::count(log->begin(), log->end(), "F"));
  }
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    write("B");
    EXPECT_TRUE(!copied || copied == &kept);
    TestModel::backward(stage, microbatch, outputGradient, inputGradient, kept);
  }
  struct Copy {
    CopyModel *model;
    const char *name;
    void wait() { model->write(name); }
  };
  Copy offload(int, int, Activation &kept) {
    write("out");
    EXPECT_TRUE(!copied || copied == &kept);
    copied = &kept;
    return {this, "out ends"};
  }
  Copy reload(int, int, Activation &kept) {
    write("in");
    EXPECT_EQ(copied, &kept);
    return {this, "in ends"};
  }
  void update(int) { write("update"); }
  void addGradient(int, const Tensor &) { write("sum"); }
};

/// One stage, one micro-batch.
constexpr int alone[] = {0};
constexpr RecomputedUnits first[] = {{0, 0, 1, 1}};
constexpr Schedule plain = {"plain", "", 1,     1,       1,
                            false,   1,  alone, nullptr, false};
constexpr Schedule scheduleOf(bool recomputes, bool updates = false) {
  Schedule schedule = plain;
  if (recomputes)
    schedule.recomputed = first;
  schedule.updates = updates;
  return schedule;
}

struct Result {
  Log log;
  std::string error;
  std::vector<double> losses;
  int peak = 0;
};

struct Untouched {
  void operator()(auto &) const {}
};
/// Runs the steps on one rank, twice if there is no error.
template <class Model = CopyModel, class Body, class SetUp = Untouched>
Result run(const Schedule &schedule, Body body, SetUp setUp = {}) {
  Result result;
  result.error = messageOf(1, [&](ThreadGroup &threads, int rank) {
    Model model(1, schedule.microbatches);
    model.log = &result.log;
    ThreadTransport transport(threads, rank);
    Executor worker(model, transport);
    setUp(worker);
    for (int k = 0; k != 2; ++k) {
      result.log.clear();
      model.copied = nullptr;
      auto losses = worker.run(schedule, 0, [&](auto &x) { body(x); });
      result.losses.assign(losses.begin(), losses.end());
    }
    result.peak = worker.statistics().peakActivations;
  });
  return result;
}

/// The same with steps of these kinds, each of stage 0 and micro-batch 0.
template <class Model = CopyModel>
Result runKinds(const Schedule &schedule,
                std::initializer_list<StepKind> kinds) {
  std::vector<Step> steps;
  for (StepKind kind : kinds)
    steps.push_back({kind, 0, 0});
  return run<Model>(schedule, [&](auto &x) { x.steps(steps); });
}

TEST(Copies, AreWaitedForWhereTheListSays) {
  auto steps = [](auto &x) {
    x.forward(0, 0);
    x.offload(0, 0);
    x.waitOffload(0, 0);
    x.reload(0, 0);
    x.offload(0, 0);
    x.waitOffload(0, 0);
    x.reload(0, 0);
    x.backward(0, 0);
  };
  Result result = run(plain, steps);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.log, (Log{"F", "out", "out ends", "in", "in ends", "out",
                             "out ends", "in", "in ends", "B"}));
  EXPECT_EQ(result.peak, 1);
}

TEST(Copies, Handlers) {
  // A handler that makes the copies itself.
  auto copies = [](auto &x) {
    x.forward(0, 0);
    x.offload(0, 0);
    x.waitOffload(0, 0);
    x.reload(0, 0);
    x.backward(0, 0);
  };
  std::vector<StepKind> handled;
  Result result = run(plain, copies, [&](auto &worker) {
    for (StepKind kind :
         {StepKind::Offload, StepKind::WaitOffload, StepKind::Reload})
      worker.handle(kind, [&](auto &step) {
        handled.push_back(step.kind);
        EXPECT_EQ(step.kept->microbatch, 0);
      });
  });
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.log, (Log{"F", "B"}));
  EXPECT_EQ(handled.size(), 6u);
  result = run(plain, copies, [&](auto &worker) {
    worker.handle(StepKind::WaitOffload, [&](auto &step) { step.proceed(); });
  });
  EXPECT_EQ(result.log, (Log{"F", "out", "out ends", "in", "in ends", "B"}));
}

TEST(Copies, MistakesAreFound) {
  using enum StepKind;
  auto errorOf = [](std::initializer_list<StepKind> kinds) {
    return runKinds(plain, kinds).error;
  };
  EXPECT_EQ(errorOf({Offload}), "`OFFLOAD s0 m0` comes before its F (rank 0)");
  EXPECT_EQ(errorOf({Forward, WaitOffload}),
            "`WAIT_OFFLOAD s0 m0` comes before its OFFLOAD (rank 0)");
  EXPECT_EQ(errorOf({Forward, Offload, Reload}),
            "`RELOAD s0 m0` comes before its WAIT_OFFLOAD (rank 0)");
  EXPECT_EQ(errorOf({Forward, Offload, Offload}),
            "`OFFLOAD s0 m0` runs while it is not on the device (rank 0)");
  EXPECT_EQ(errorOf({Forward, Offload, Backward}),
            "`B s0 m0` runs while what is kept for it is not on the device "
            "(rank 0)");
  EXPECT_EQ(errorOf({Forward, Backward, Offload}),
            "`OFFLOAD s0 m0` comes after the last step that uses it (rank 0)");
  Schedule forwards = plain;
  forwards.forwardOnly = true;
  EXPECT_EQ(runKinds(forwards, {Forward, Offload}).error,
            "`OFFLOAD s0 m0` comes after the last step that uses it (rank 0)");
  EXPECT_EQ(
      runKinds(scheduleOf(true, true), {Forward, Offload, WaitOffload,
                                        Recompute, Reload, Backward, Update})
          .error,
      "`R s0 m0` runs while what is kept for it is not on the device "
      "(rank 0)");
}

/// The copies to the device fail when they are waited for.
struct LosingModel : CopyModel {
  using CopyModel::CopyModel;
  struct Copy {
    bool lost;
    void wait() { check(!lost, "lost"); }
  };
  Copy offload(int, int, Activation &) { return {false}; }
  Copy reload(int, int, Activation &) { return {true}; }
};

TEST(Copies, FailAtTheStepThatWaitsForThem) {
  using enum StepKind;
  EXPECT_EQ(runKinds<LosingModel>(
                plain, {Forward, Offload, WaitOffload, Reload, Backward})
                .error,
            "rank 0 in B s0 m0: lost");
  Schedule schedule = plain;
  schedule.microbatches = 2;
  EXPECT_EQ(run<LosingModel>(schedule,
                             [](auto &x) {
                               x.forward(0, 0);
                               x.offload(0, 0);
                               x.waitOffload(0, 0);
                               x.reload(0, 0);
                               x.overlap(pipec::runtime::Backward{0, 0},
                                         pipec::runtime::Forward{0, 1});
                             })
                .error,
            "rank 0 in B s0 m0: lost");
}

TEST(Recompute, RunsTheForwardAgain) {
  auto steps = [](auto &x) {
    x.forward(0, 0);
    x.recompute(0, 0);
    x.backward(0, 0);
  };
  Result result = run(scheduleOf(true), steps);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.log, (Log{"F", "F", "B"}));
  // The loss is that of the first forward.
  EXPECT_EQ(result.losses, std::vector<double>{11});
  EXPECT_EQ(result.peak, 1);
}

/// An R is a member of an overlap like others, with nothing to send.
TEST(Recompute, InOverlaps) {
  struct ByMember : CopyModel {
    using CopyModel::CopyModel;
    void overlapped(std::span<OverlapMember<ByMember>> members) {
      EXPECT_EQ(members[0].kind, StepKind::Recompute);
      EXPECT_TRUE(members[0].ready());
      members[1].proceed();
      members[0].wait();
      EXPECT_NE(members[0].kept, nullptr);
      members[0].proceed();
      members[0].send();
    }
  };
  Schedule schedule = scheduleOf(true);
  schedule.microbatches = 2;
  Result result = run<ByMember>(schedule, [](auto &x) {
    x.forward(0, 0);
    x.overlap(Recompute{0, 0}, Forward{0, 1});
    x.backward(0, 0);
    x.backward(0, 1);
  });
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.log, (Log{"F", "F", "F", "B", "B"}));
  EXPECT_EQ(result.losses, (std::vector<double>{11, 12}));
  EXPECT_EQ(result.peak, 2);
}

TEST(Recompute, MistakesAreFound) {
  using enum StepKind;
  auto errorOf = [](bool recomputes, std::initializer_list<StepKind> kinds) {
    return runKinds(scheduleOf(recomputes), kinds).error;
  };
  EXPECT_EQ(errorOf(true, {Recompute}), "`R s0 m0` runs before its F (rank 0)");
  EXPECT_EQ(errorOf(true, {Forward, Recompute, Recompute}),
            "`R s0 m0` runs twice (rank 0)");
  EXPECT_EQ(errorOf(false, {Forward, Recompute}),
            "`R s0 m0` runs in a schedule that does not name it as recomputed "
            "(rank 0)");
  EXPECT_EQ(errorOf(true, {Forward, Backward}),
            "`B s0 m0` runs before its R (rank 0)");
}

TEST(Recompute, NeedsABackward) {
  Schedule forwards = scheduleOf(true);
  forwards.forwardOnly = true;
  forwards.microbatches = 2;
  Result result = run(forwards, [](auto &x) {
    x.forward(0, 0);
    x.forward(0, 1);
  });
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.peak, 1);
}

TEST(Update, FollowsTheGradients) {
  auto steps = [](auto &x) {
    x.forward(0, 0);
    x.backward(0, 0);
    x.update(0);
  };
  Result result = run(scheduleOf(false, true), steps);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.log, (Log{"F", "B", "update"}));
  EXPECT_EQ(run(plain, steps).error,
            "UPDATE s0 runs in a schedule whose updates is false (rank 0)");
  using enum StepKind;
  auto errorOf = [](std::initializer_list<StepKind> kinds) {
    return runKinds(scheduleOf(false, true), kinds).error;
  };
  EXPECT_EQ(errorOf({Forward, Update}),
            "UPDATE s0 comes after 0 of 1 weight gradients (rank 0)");
  EXPECT_EQ(errorOf({Forward, Backward, Update, Update}),
            "UPDATE s0 comes twice (rank 0)");
  EXPECT_EQ(errorOf({Forward, Backward}),
            "the run ended without UPDATE s0 (rank 0)");
}

/// Where gradients are summed at the end of the run, the optimizer is after it.
TEST(Update, FollowsTheSumsOfReplicas) {
  static constexpr int both[] = {0, 1};
  static constexpr Schedule schedule = [] {
    Schedule two = {"two", "", 2, 1, 2, false, 2, both, nullptr, false};
    two.updates = true;
    return two;
  }();
  EXPECT_EQ(messageOf(2,
                      [&](ThreadGroup &threads, int rank) {
                        CopyModel model(1, 2);
                        Log log;
                        model.log = &log;
                        ThreadTransport transport(threads, rank);
                        Executor worker(model, transport);
                        worker.run(schedule, rank, [&](auto &x) {
                          x.forward(0, rank);
                          x.backward(0, rank);
                          x.update(0);
                          x.sumReplicas();
                        });
                        EXPECT_EQ(log, (Log{"F", "B", "sum", "update"}));
                      }),
            "");
}

/// The same for the sums of tied gradients; and a reduction has ended.
struct TiedCopyModel : CopyModel {
  using CopyModel::CopyModel;
  void exportTied(int, Tensor &out) { out.values.assign(1, 0); }
  void sumTied(int, std::span<const Tensor *const>) { write("sum"); }
  Copy reduceGrad(int) { return {this, "reduced"}; }
};

TEST(Update, FollowsTiesAndReductions) {
  static constexpr int stages[] = {0};
  static constexpr std::span<const int> groups[] = {stages};
  using enum StepKind;
  Schedule schedule = scheduleOf(false, true);
  auto runTied = [&](std::initializer_list<StepKind> kinds) {
    return runKinds<TiedCopyModel>(schedule, kinds);
  };
  schedule.ties = groups;
  EXPECT_EQ(runTied({Forward, Backward, ReduceTied, Update}).log,
            (Log{"F", "B", "sum", "update"}));
  EXPECT_EQ(runTied({Forward, Backward, Update}).error,
            "UPDATE s0 comes before REDUCE_TIED t0 (rank 0)");
  schedule.ties = {};
  schedule.reducesGradients = schedule.waitsForReductions = true;
  EXPECT_EQ(
      runTied({Forward, Backward, ReduceGrad, Update, WaitReduceGrad}).log,
      (Log{"F", "B", "reduced", "update"}));
  EXPECT_EQ(runTied({Forward, Backward, Update}).error,
            "UPDATE s0 comes before its REDUCE_GRAD (rank 0)");
}

/// A model that lacks the functions, by force.
TEST(Copies, ModelsWithoutThemAreRefused) {
  auto errorOf = [](bool updates, auto body) {
    Schedule schedule = gpipe2;
    schedule.ranks = schedule.stages = schedule.microbatches = 1;
    schedule.updates = updates;
    return runRanks(
        schedule, {}, [](TestModel &, int) {},
        [&](Worker &worker, int rank) { worker.run(schedule, rank, body); });
  };
  EXPECT_NE(errorOf(false,
                    [](auto &x) {
                      x.forward(0, 0);
                      x.offload(0, 0);
                    })
                .find("the model has no offload(int stage, int microbatch, "
                      "Activation &kept) and reload"),
            std::string::npos);
  EXPECT_NE(errorOf(true,
                    [](auto &x) {
                      x.forward(0, 0);
                      x.backward(0, 0);
                      x.update(0);
                    })
                .find("the model has no update(int stage)"),
            std::string::npos);
}

} // namespace
