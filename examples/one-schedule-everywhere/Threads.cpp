//===- Threads.cpp - The generated executor, ranks as threads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   threads PROBLEM OUT
//
// One training step with the standard library alone.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include <pipec/runtime/Executor.h>
#include <pipec/runtime/ThreadTransport.h>

#include <cmath>
#include <cstdio>

namespace example {

/// The stages of one rank.
class Model {
public:
  using Tensor = Numbers;
  struct Activation {
    Numbers input, output;
  };

  explicit Model(const Problem &problem)
      : problem(problem),
        gradients(problem.stages.size(), Numbers(numWeights)) {}

  int stages() const { return int(problem.stages.size()); }
  int microbatches() const { return int(problem.inputs.size()); }

  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept) {
    const Numbers &weights = problem.stages[std::size_t(stage)];
    kept.input = input ? *input : problem.inputs[std::size_t(microbatch)];
    kept.output.resize(sampleSize);
    for (std::size_t row = 0; row != batch; ++row)
      for (std::size_t i = 0; i != width; ++i) {
        double sum = weights[width * width + i];
        for (std::size_t j = 0; j != width; ++j)
          sum += weights[i * width + j] * kept.input[row * width + j];
        kept.output[row * width + i] = std::tanh(sum);
      }
    if (output)
      *output = kept.output;
  }

  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    const Numbers &weights = problem.stages[std::size_t(stage)];
    const Numbers &target = problem.targets[std::size_t(microbatch)];
    Numbers &sums = gradients[std::size_t(stage)];
    if (inputGradient)
      inputGradient->assign(sampleSize, 0);
    for (std::size_t row = 0; row != batch; ++row)
      for (std::size_t i = 0; i != width; ++i) {
        std::size_t at = row * width + i;
        double y = kept.output[at];
        // The last stage computes the loss, the mean square of the error.
        double outer = outputGradient ? (*outputGradient)[at]
                                      : 2 * (y - target[at]) /
                                            double(sampleSize) / microbatches();
        double inner = outer * (1 - y * y);
        sums[width * width + i] += inner;
        for (std::size_t j = 0; j != width; ++j) {
          sums[i * width + j] += inner * kept.input[row * width + j];
          if (inputGradient)
            (*inputGradient)[row * width + j] += inner * weights[i * width + j];
        }
      }
  }

  void prepareInput(int, int, Tensor &input) { input.resize(sampleSize); }
  void prepareGradient(int, int, Tensor &gradient) {
    gradient.resize(sampleSize);
  }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(tensor));
  }

  const Numbers &gradient(int stage) const {
    return gradients[std::size_t(stage)];
  }

private:
  const Problem &problem;
  std::vector<Numbers> gradients;
};

} // namespace example

int main(int argc, char **argv) try {
  using namespace pipec::runtime;
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PROBLEM OUT\n", argv[0]);
    return 2;
  }
  const example::Problem problem(argv[1]);
  ThreadGroup group(compiled::ranks);
  group.run([&](int rank) {
    example::Model model(problem);
    ThreadTransport transport(group, rank);
    Executor worker(model, transport);
    compiled::run(rank, worker);
    for (int stage : compiled::schedule.stagesOf(rank))
      example::writeGradients(argv[2], stage, model.gradient(stage));
  });
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
