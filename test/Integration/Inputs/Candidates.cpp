//===- Candidates.cpp - Another list and order in each step ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   candidates SCENARIO NAME...     each with NAME.steps and NAME.lists
//
// Six training steps of batches of different weights, in threads or, with
// WITH_MPI, in processes. SCENARIO is `right`, or what rank 1 does otherwise:
// `list` runs the next candidate, `order` another order. Prints the candidate
// of each step, and in the end that the gradients are those of the batch.
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/Candidates.h>
#ifdef WITH_MPI
#include <pipec/runtime/MpiTransport.h>
#else
#include <pipec/runtime/ThreadTransport.h>
#endif

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace pipec::runtime;

struct Chain {
  using Tensor = double;
  using Activation = double;

  Schedule sizes;
  std::vector<double> weights, gradients;
  /// By number in the batch.
  std::vector<int> forwards;

  explicit Chain(const Schedule &sizes)
      : sizes(sizes), weights(std::size_t(sizes.stages), 0.9),
        gradients(weights.size()), forwards(std::size_t(sizes.microbatches)) {}

  int stages() const { return sizes.stages; }
  int microbatches() const { return sizes.microbatches; }

  void forward(int stage, int microbatch, double *input, double *output,
               double &kept) {
    ++forwards[std::size_t(microbatch)];
    kept = input ? *input : 1 + 0.1 * microbatch;
    if (output)
      *output = weights[std::size_t(stage)] * kept;
  }
  void backwardInput(int stage, int, const double *outputGradient,
                     double *inputGradient, double &) {
    if (inputGradient)
      *inputGradient =
          (outputGradient ? *outputGradient : 1) * weights[std::size_t(stage)];
  }
  void backwardWeight(int stage, int, const double *outputGradient,
                      double &kept) {
    gradients[std::size_t(stage)] +=
        (outputGradient ? *outputGradient : 1) * kept;
  }
  void backward(int stage, int microbatch, const double *outputGradient,
                double *inputGradient, double &kept) {
    backwardInput(stage, microbatch, outputGradient, inputGradient, kept);
    backwardWeight(stage, microbatch, outputGradient, kept);
  }
  void prepareInput(int, int, double &) {}
  void prepareGradient(int, int, double &) {}
  std::span<std::byte> bytes(double &tensor) {
    return std::as_writable_bytes(std::span(&tensor, 1));
  }
};

template <class T>
void train(const Candidates &candidates, const std::string &scenario, int rank,
           T &transport) {
  const Schedule &sizes = candidates.list(0).schedule();
  Chain model(sizes);
  Executor worker(model, transport);
  constexpr int steps = 6;
  for (int step = 0; step != steps; ++step) {
    // A batch whose long micro-batches are on the first or on the last stages.
    std::vector<std::vector<double>> weights(
        std::size_t(sizes.stages),
        std::vector<double>(std::size_t(sizes.microbatches), 1));
    for (int stage = 0; stage != sizes.stages; ++stage)
      if (step % 2 == (2 * stage < sizes.stages))
        weights[std::size_t(stage)][std::size_t(step)] = 9;
    Candidates::Choice choice = candidates.choose(weights);
    if (choice.makespan > choice.given)
      throw Error("the choice is worse than the first candidate as given");
    if (rank == 1 && scenario == "list")
      choice.number = (choice.number + 1) % candidates.size();
    if (rank == 1 && scenario == "order")
      std::swap(choice.order[0], choice.order[1]);
    candidates.run(choice, rank, worker);
    if (rank == 0)
      std::printf("step %d: %s\n", step,
                  candidates.list(choice.number).schedule().name);
  }
  double rows = 0;
  for (int i = 0; i != sizes.microbatches; ++i)
    rows += 1 + 0.1 * i;
  for (int stage : sizes.stagesOf(rank))
    if (std::abs(model.gradients[std::size_t(stage)] -
                 steps * rows * std::pow(0.9, sizes.stages - 1)) > 1e-9)
      throw Error("wrong gradient of stage " + std::to_string(stage));
  for (int count : model.forwards)
    if (count != steps * int(sizes.stagesOf(rank).size()))
      throw Error("a micro-batch of the batch ran another number of times");
  if (rank == 0)
    std::puts("right");
}

int main(int count, char **words) {
#ifdef WITH_MPI
  MPI_Init(&count, &words);
#endif
  int status = 0;
  try {
    Candidates candidates;
    for (int i = 2; i < count; ++i)
      candidates.add(std::string(words[i]) + ".steps",
                     std::string(words[i]) + ".lists");
#ifdef WITH_MPI
    MpiTransport transport(MPI_COMM_WORLD);
    train(candidates, words[1], transport.rank(), transport);
#else
    ThreadGroup group(candidates.list(0).schedule().ranks);
    group.run([&](int rank) {
      ThreadTransport transport(group, rank);
      train(candidates, words[1], rank, transport);
    });
#endif
  } catch (const Error &error) {
    std::puts(error.what());
    status = 1;
  }
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return status;
}
