//===- minibatch.cpp - Losses and outputs of a mini-batch -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "one_f_one_b.h" // pipec one_f_one_b -Dranks=4 -Dmicrobatches=8 --emit=cpp -o one_f_one_b.h

#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>

struct Chain {
  using Tensor = std::vector<double>; // the rows of a micro-batch
  using Activation = Tensor;
  struct Minibatch {
    std::vector<double> inputs, targets;
  };
  using Outputs = std::vector<double>;

  double weight = 0.8, gradient = 0;

  int stages() const { return 4; }
  int microbatches() const { return 8; }

  pipec::runtime::Rows rows(int microbatch) const { return pipec::runtime::rowsOf(20, microbatch, microbatches()); }

  void split(const Minibatch &all, int /*stage*/, int microbatch, Tensor &input) {
    auto [begin, end] = rows(microbatch);
    input.assign(all.inputs.begin() + long(begin), all.inputs.begin() + long(end));
  }
  double loss(const Minibatch &all, int microbatch, const Tensor &output, Tensor *gradient) {
    double sum = 0;
    const double *target = &all.targets[rows(microbatch).begin];
    if (gradient) // null in a schedule without backwards
      gradient->resize(output.size());
    for (std::size_t i = 0; i != output.size(); ++i) {
      double error = output[i] - target[i];
      sum += error * error / 20;
      if (gradient)
        (*gradient)[i] = 2 * error / 20;
    }
    return sum;
  }
  void merge(Outputs &all, int microbatch, const Tensor &output) {
    std::copy(output.begin(), output.end(), all.begin() + long(rows(microbatch).begin));
  }

  void forward(int, int, Tensor *input, Tensor *output, Tensor &kept) {
    kept.swap(*input);
    output->resize(kept.size());
    for (std::size_t i = 0; i != kept.size(); ++i)
      (*output)[i] = weight * kept[i];
  }
  void backward(int, int, const Tensor *outputGradient, Tensor *inputGradient, Tensor &kept) {
    if (inputGradient)
      inputGradient->resize(kept.size());
    for (std::size_t i = 0; i != kept.size(); ++i) {
      if (inputGradient)
        (*inputGradient)[i] = (*outputGradient)[i] * weight;
      gradient += (*outputGradient)[i] * kept[i];
    }
  }
  void prepareInput(int, int microbatch, Tensor &tensor) { tensor.resize(rows(microbatch).size()); }
  void prepareGradient(int, int microbatch, Tensor &tensor) { tensor.resize(rows(microbatch).size()); }
  std::span<std::byte> bytes(Tensor &tensor) { return std::as_writable_bytes(std::span(tensor)); }
};

int main() {
  Chain::Minibatch all;
  for (int row = 0; row < 20; ++row) {
    all.inputs.push_back(1 + 0.05 * row);
    all.targets.push_back(2 * all.inputs.back());
  }
  pipec::runtime::ThreadGroup group(one_f_one_b::ranks);
  group.run([&](int rank) {
    Chain model;
    pipec::runtime::ThreadTransport transport(group, rank);
    pipec::runtime::Executor worker(model, transport);
    for (int step = 0; step < 50; ++step) {
      std::vector<double> outputs(20);
      std::span<const double> losses = one_f_one_b::run(rank, worker, all, outputs);
      model.weight -= 0.02 * model.gradient;
      model.gradient = 0;
      if (rank == 3 && step == 49)
        std::printf("%zu losses, the first %.3f; output %.2f for %.2f\n", losses.size(), losses[0],
                    outputs[19], all.targets[19]);
    }
  });
}
