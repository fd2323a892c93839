// Each stage multiplies by its own weight; the gradient of a weight is then
// known in closed form.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "two_at_once.h"
#include "zb1p.h"

#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>
#include <memory>

namespace {

struct Model {
  using Tensor = double;
  using Activation = double;

  double weight[2] = {2, 3};
  double gradient[2] = {0, 0};

  int stages() const { return 2; }
  int microbatches() const { return 4; }

  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept) {
    kept = input ? *input : microbatch + 1;
    if (output)
      *output = kept * weight[stage];
  }
  void backwardInput(int stage, int, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &) {
    if (inputGradient)
      *inputGradient = (outputGradient ? *outputGradient : 1) * weight[stage];
  }
  void backwardWeight(int stage, int, const Tensor *outputGradient,
                      Activation &kept) {
    gradient[stage] += (outputGradient ? *outputGradient : 1) * kept;
  }
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    backwardInput(stage, microbatch, outputGradient, inputGradient, kept);
    backwardWeight(stage, microbatch, outputGradient, kept);
  }

  void prepareInput(int, int, Tensor &) {}
  void prepareGradient(int, int, Tensor &) {}
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(&tensor, 1));
  }
};

template <class Run> bool train(const char *name, Run run) {
  pipec::runtime::ThreadGroup group(2);
  Model models[2];
  group.run([&](int rank) {
    pipec::runtime::ThreadTransport transport(group, rank);
    pipec::runtime::Executor worker(models[rank], transport);
    run(rank, worker);
  });
  // Micro-batches 1 to 4: stage 0 gets 3 times their sum, stage 1 twice.
  std::printf("%s: gradients %g and %g\n", name, models[0].gradient[0],
              models[1].gradient[1]);
  return models[0].gradient[0] == 30 && models[1].gradient[1] == 20;
}

} // namespace

int main() {
  bool right =
      train("zb1p", [](int rank, auto &worker) { zb1p::run(rank, worker); });
  right &=
      train("mine", [](int rank, auto &worker) { mine::run(rank, worker); });
  return right ? 0 : 1;
}
