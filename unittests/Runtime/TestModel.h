//===- TestModel.h - A model that checks its inputs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_RUNTIME_TESTMODEL_H
#define PIPEC_UNITTESTS_RUNTIME_TESTMODEL_H

#include "pipec/runtime/Executor.h"
#include "pipec/runtime/ThreadTransport.h"

#include <functional>
#include <stdexcept>
#include <vector>

namespace pipec::runtime::test {

/// Tensors record their origin; the model throws if a step gets the wrong
/// tensor.
struct TestModel {
  struct Tensor {
    std::vector<int> values;
  };
  struct Activation {
    int stage = -1, microbatch = -1;
  };

  int numStages, numMicrobatches;
  int size = 3;
  /// Called at the start of every forward.
  std::function<void(int stage, int microbatch)> onForward = [](int, int) {};
  /// The number of weight gradients per stage.
  std::vector<int> gradients = std::vector<int>(8, 0);
  std::vector<std::string> actions;

  TestModel(int stages, int microbatches)
      : numStages(stages), numMicrobatches(microbatches) {}

  int stages() const { return numStages; }
  int microbatches() const { return numMicrobatches; }

  static void check(bool good, const char *what) {
    if (!good)
      throw std::logic_error(what);
  }
  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept) {
    onForward(stage, microbatch);
    check((stage == 0) == !input, "input");
    check((stage + 1 == numStages) == !output, "output");
    if (input)
      check(input->values ==
                std::vector<int>(size, 100 * (stage - 1) + microbatch),
            "another input");
    if (output)
      output->values.assign(size, 100 * stage + microbatch);
    kept = {stage, microbatch};
  }
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    backwardInput(stage, microbatch, outputGradient, inputGradient, kept);
    backwardWeight(stage, microbatch, outputGradient, kept);
  }
  void backwardInput(int stage, int microbatch, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &kept) {
    check(kept.stage == stage && kept.microbatch == microbatch, "activation");
    checkGradient(stage, microbatch, outputGradient);
    check((stage == 0) == !inputGradient, "inputGradient");
    if (inputGradient)
      inputGradient->values.assign(size, -100 * stage - microbatch);
  }
  void backwardWeight(int stage, int microbatch, const Tensor *outputGradient,
                      Activation &kept) {
    check(kept.stage == stage && kept.microbatch == microbatch, "activation");
    checkGradient(stage, microbatch, outputGradient);
    ++gradients[stage];
  }
  void checkGradient(int stage, int microbatch, const Tensor *gradient) {
    check((stage + 1 == numStages) == !gradient, "outputGradient");
    if (gradient)
      check(gradient->values ==
                std::vector<int>(size, -100 * (stage + 1) - microbatch),
            "another gradient");
  }

  void prepareInput(int, int, Tensor &tensor) { tensor.values.resize(size); }
  void prepareGradient(int, int, Tensor &tensor) { tensor.values.resize(size); }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span<int>(tensor.values));
  }

  void unshard(int stage) { actions.push_back("+" + std::to_string(stage)); }
  void reshard(int stage) { actions.push_back("-" + std::to_string(stage)); }
  void reduceGrad(int stage) { actions.push_back("=" + std::to_string(stage)); }
  void exportGradient(int stage, Tensor &out) {
    out.values.assign(1, gradients[stage]);
  }
  void addGradient(int stage, const Tensor &other) {
    gradients[stage] += other.values.at(0);
  }
};

using Worker = Executor<TestModel, ThreadTransport>;

inline constexpr int twoRanks[] = {0, 1};
inline constexpr Schedule gpipe2 = {
    "gpipe", "gpipe.pipe", 2, 2, 4, false, 1, twoRanks, nullptr, false};

/// GPipe on two ranks, four micro-batches. Calls `before(m)` before the
/// backward of each.
template <class X, class Before>
void gpipeSteps(X &x, int rank, Before before) {
  x.at(3);
  for (int m = 0; m != 4; ++m) {
    if (rank == 1)
      x.recvForward(1, m);
    x.forward(rank, m);
    if (rank == 0)
      x.sendForward(0, m);
  }
  x.at(4);
  for (int m = 0; m != 4; ++m) {
    before(m);
    if (rank == 0)
      x.recvBackward(0, m);
    x.backward(rank, m);
    if (rank == 1)
      x.sendBackward(1, m);
  }
}
template <class X> void gpipeSteps(X &x, int rank) {
  gpipeSteps(x, rank, [](int) {});
}

/// Runs `body(group, rank)` on a thread per rank. Returns the message of the
/// exception, or "" if there was none.
template <class Body> std::string messageOf(int ranks, Body body) {
  ThreadGroup group(ranks);
  try {
    group.run([&](int rank) { body(group, rank); });
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

/// Runs `body(worker, rank)` on every rank, each with a model that `setUp` may
/// modify; returns what `messageOf` does.
template <class SetUp, class Body>
std::string runRanks(const Schedule &schedule, Options options, SetUp setUp,
                     Body body) {
  return messageOf(schedule.ranks, [&](ThreadGroup &group, int rank) {
    TestModel model(schedule.stages, schedule.microbatches);
    setUp(model, rank);
    ThreadTransport transport(group, rank);
    Worker worker(model, transport, options);
    body(worker, rank);
  });
}

} // namespace pipec::runtime::test

#endif // PIPEC_UNITTESTS_RUNTIME_TESTMODEL_H
