//===- slices.cpp - A model with slices -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units.h" // pipec gpipe -Dranks=2 -Dmicrobatches=12 --slices=3 --emit=cpp -o units.h

#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>

/// Stages `y_t = w x_t + y_(t-1) / 2`, of 12 numbers per micro-batch; the loss is the sum of the squares.
struct Sums {
  using Tensor = std::vector<double>; // the numbers of a slice
  using Activation = Tensor;
  struct Context {
    double sum, gradient;
  };

  double weight = 0.5, gradient = 0;

  int stages() const { return 2; }
  int microbatches() const { return 4; }
  int slices() const { return 3; }

  static constexpr int begin[] = {0, 6, 9, 12}; // slices need not be equal
  static int size(int slice) { return begin[slice + 1] - begin[slice]; }

  double forward(int, int microbatch, int slice, Tensor *input, Tensor *output, Tensor &kept, Context &context) {
    if (input)
      kept.swap(*input);
    else
      kept.assign(size(slice), 1 + microbatch); // the first stage has the data
    if (slice == 0)
      context.sum = 0;
    Tensor &y = output ? *output : last;
    y.resize(kept.size());
    double loss = 0;
    for (std::size_t i = 0; i != kept.size(); ++i) {
      y[i] = context.sum = weight * kept[i] + context.sum / 2;
      loss += y[i] * y[i];
    }
    if (!output)
      kept.insert(kept.end(), y.begin(), y.end()); // the gradient of the loss is 2 y
    return loss;
  }
  void backward(int, int, int slice, const Tensor *outputGradient, Tensor *inputGradient, Tensor &kept,
                Context &context) {
    if (slice + 1 == slices())
      context.gradient = 0; // no slice follows
    std::size_t count = size(slice);
    if (inputGradient)
      inputGradient->resize(count);
    for (std::size_t i = count; i-- != 0;) {
      double own = outputGradient ? (*outputGradient)[i] : 2 * kept[count + i];
      context.gradient = own + context.gradient / 2;
      if (inputGradient)
        (*inputGradient)[i] = weight * context.gradient;
      gradient += kept[i] * context.gradient;
    }
  }
  void prepareInput(int, int, int slice, Tensor &tensor) { tensor.resize(size(slice)); }
  void prepareGradient(int, int, int slice, Tensor &tensor) { tensor.resize(size(slice)); }
  std::span<std::byte> bytes(Tensor &tensor) { return std::as_writable_bytes(std::span(tensor)); }

  Tensor last;
};

int main() {
  pipec::runtime::ThreadGroup group(gpipe::ranks);
  group.run([&](int rank) {
    Sums model;
    pipec::runtime::ThreadTransport transport(group, rank);
    pipec::runtime::Executor worker(model, transport);
    std::span<const double> losses = gpipe::run(rank, worker);
    if (rank == 1) // a loss for each slice of each micro-batch
      std::printf("%zu losses, gradient %.3f\n", losses.size(), model.gradient);
  });
}
