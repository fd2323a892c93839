//===- copies.cpp - Recomputation and copies to the host ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "copies.h" // pipec copies.pipe --emit=cpp -o copies.h

#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>
#include <future>

struct Chain {
  using Tensor = std::vector<double>;
  struct Activation {
    Tensor device, host;
  };

  double weight = 0.8, gradient = 0;

  int stages() const { return 4; }
  int microbatches() const { return 6; }

  double forward(int, int microbatch, Tensor *input, Tensor *output, Activation &kept) {
    if (input)
      kept.device.swap(*input);
    else
      kept.device.assign(1000, 1 + 0.1 * microbatch);
    double loss = 0;
    if (output)
      output->resize(1000);
    for (std::size_t i = 0; i != 1000; ++i)
      if (output)
        (*output)[i] = weight * kept.device[i];
      else
        loss += weight * kept.device[i];
    return loss;
  }
  void backward(int, int, const Tensor *outputGradient, Tensor *inputGradient, Activation &kept) {
    if (inputGradient)
      inputGradient->resize(1000);
    for (std::size_t i = 0; i != 1000; ++i) {
      double dy = outputGradient ? (*outputGradient)[i] : 1;
      gradient += dy * kept.device.at(i); // throws if it is not there
      if (inputGradient)
        (*inputGradient)[i] = weight * dy;
    }
  }

  struct Copy {
    Tensor *from, *to;
    std::future<Tensor> copied;
    void wait() {
      *to = copied.get();
      Tensor().swap(*from); // frees it
    }
  };
  static Copy start(Tensor &from, Tensor &to) {
    return {&from, &to, std::async(std::launch::async, [&from] { return from; })};
  }
  Copy offload(int, int, Activation &kept) { return start(kept.device, kept.host); }
  Copy reload(int, int, Activation &kept) { return start(kept.host, kept.device); }

  void update(int) {
    weight -= 1e-6 * gradient;
    gradient = 0;
  }

  void prepareInput(int, int, Tensor &tensor) { tensor.resize(1000); }
  void prepareGradient(int, int, Tensor &tensor) { tensor.resize(1000); }
  std::span<std::byte> bytes(Tensor &tensor) { return std::as_writable_bytes(std::span(tensor)); }
};

int main() {
  pipec::runtime::ThreadGroup group(copies::ranks);
  group.run([&](int rank) {
    Chain models; // a stage is one weight, and so is a rank here
    pipec::runtime::ThreadTransport transport(group, rank);
    pipec::runtime::Executor worker(models, transport);
    for (int step = 0; step < 3; ++step)
      copies::run(rank, worker);
    if (rank == 0)
      std::printf("%d activations on the device, weight %.6f\n", worker.statistics().peakActivations,
                  models.weight);
  });
}
