//===- lists.cpp - Lists that are read at run time ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pipec/runtime/List.h>
#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>

struct Chain {
  using Tensor = double;
  using Activation = double; // the input of the stage

  pipec::runtime::Schedule sizes;
  std::vector<double> weights, gradients;

  explicit Chain(const pipec::runtime::Schedule &sizes)
      : sizes(sizes), weights(std::size_t(sizes.stages), 0.9), gradients(weights.size()) {}

  int stages() const { return sizes.stages; }
  int microbatches() const { return sizes.microbatches; }

  void forward(int stage, int microbatch, double *input, double *output, double &kept) {
    kept = input ? *input : 1 + 0.1 * microbatch;
    if (output)
      *output = weights[std::size_t(stage)] * kept;
  }
  void backwardInput(int stage, int, const double *outputGradient, double *inputGradient, double &) {
    if (inputGradient)
      *inputGradient = (outputGradient ? *outputGradient : 1) * weights[std::size_t(stage)];
  }
  void backwardWeight(int stage, int, const double *outputGradient, double &kept) {
    gradients[std::size_t(stage)] += (outputGradient ? *outputGradient : 1) * kept;
  }
  void backward(int stage, int microbatch, const double *outputGradient, double *inputGradient, double &kept) {
    backwardInput(stage, microbatch, outputGradient, inputGradient, kept);
    backwardWeight(stage, microbatch, outputGradient, kept);
  }

  void prepareInput(int, int, double &) {}
  void prepareGradient(int, int, double &) {}
  std::span<std::byte> bytes(double &tensor) { return std::as_writable_bytes(std::span(&tensor, 1)); }
};

int main(int count, char **files) try {
  for (int i = 1; i < count; ++i) {
    auto list = pipec::runtime::List::read(files[i]);
    pipec::runtime::ThreadGroup group(list.schedule().ranks);
    std::vector<double> sums(std::size_t(list.schedule().ranks));
    group.run([&](int rank) {
      Chain model(list.schedule());
      pipec::runtime::ThreadTransport transport(group, rank);
      pipec::runtime::Executor worker(model, transport);
      run(list, rank, worker);
      for (double gradient : model.gradients)
        sums[std::size_t(rank)] += gradient;
    });
    double sum = 0;
    for (double part : sums)
      sum += part;
    std::printf("%s: %d ranks, %d micro-batches, sum of the gradients %.3f\n", files[i], list.schedule().ranks,
                list.schedule().microbatches, sum);
  }
} catch (const pipec::runtime::Error &error) {
  std::puts(error.what());
  return 1;
}
