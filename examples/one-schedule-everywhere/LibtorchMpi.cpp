//===- LibtorchMpi.cpp - The generated executor, PyTorch in C++, MPI ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   mpirun -n RANKS libtorch-mpi PROBLEM OUT
//
// One training step with tensors of PyTorch and its automatic differentiation.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include <pipec/runtime/Executor.h>
#include <pipec/runtime/MpiTransport.h>

#include <torch/torch.h>

#include <cstdio>
#include <utility>

namespace example {

static torch::Tensor toTensor(const Numbers &numbers) {
  return torch::tensor(numbers, torch::kDouble);
}

/// The stages of one rank.
class Model {
public:
  using Tensor = torch::Tensor;
  struct Activation {
    torch::Tensor input, output;
  };

  Model(const Problem &problem, const std::vector<int> &mine)
      : problem(problem), layers(problem.stages.size()) {
    torch::set_num_threads(1); // ranks are what runs in parallel
    for (int stage : mine) {
      torch::Tensor numbers = toTensor(problem.stages[std::size_t(stage)]);
      layers[std::size_t(stage)] = {
          numbers.narrow(0, 0, width * width).view({width, width}).clone(),
          numbers.narrow(0, width * width, width).clone()};
      for (torch::Tensor &parameter : layers[std::size_t(stage)])
        parameter.requires_grad_();
    }
  }

  int stages() const { return int(problem.stages.size()); }
  int microbatches() const { return int(problem.inputs.size()); }

  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept) {
    // A leaf, so that every stage has a graph of its own.
    kept.input = input ? std::exchange(*input, {}).detach().requires_grad_()
                       : sample(problem.inputs, microbatch);
    const std::vector<torch::Tensor> &layer = layers[std::size_t(stage)];
    kept.output = torch::linear(kept.input, layer[0], layer[1]).tanh();
    if (output)
      *output = kept.output.detach();
    else
      kept.output =
          torch::mse_loss(kept.output, sample(problem.targets, microbatch)) /
          microbatches();
  }

  void backward(int, int, const Tensor *outputGradient, Tensor *inputGradient,
                Activation &kept) {
    kept.output.backward(outputGradient ? *outputGradient : Tensor());
    if (inputGradient)
      *inputGradient = kept.input.grad();
    kept = {};
  }

  void prepareInput(int, int, Tensor &input) { input = emptySample(); }
  void prepareGradient(int, int, Tensor &gradient) { gradient = emptySample(); }
  std::span<std::byte> bytes(Tensor &tensor) {
    return {static_cast<std::byte *>(tensor.data_ptr()), tensor.nbytes()};
  }

  /// The gradients of a stage in the order of its weights.
  Numbers gradient(int stage) const {
    std::vector<torch::Tensor> parts;
    for (const torch::Tensor &parameter : layers[std::size_t(stage)])
      parts.push_back(parameter.grad().flatten());
    torch::Tensor all = torch::cat(parts);
    const double *data = all.data_ptr<double>();
    return Numbers(data, data + all.numel());
  }

private:
  static torch::Tensor emptySample() {
    return torch::empty({batch, width}, torch::kDouble);
  }
  static torch::Tensor sample(const std::vector<Numbers> &from, int index) {
    return toTensor(from[std::size_t(index)]).view({batch, width});
  }

  const Problem &problem;
  /// The weight and the bias of each stage; empty for those of other ranks.
  std::vector<std::vector<torch::Tensor>> layers;
};

} // namespace example

int main(int argc, char **argv) {
  using namespace pipec::runtime;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || size != compiled::ranks) {
    std::fprintf(stderr, "usage: mpirun -n %d %s PROBLEM OUT\n",
                 compiled::ranks, argv[0]);
    MPI_Finalize();
    return 2;
  }
  try {
    const example::Problem problem(argv[1]);
    const std::vector<int> mine = compiled::schedule.stagesOf(rank);
    example::Model model(problem, mine);
    MpiTransport transport(MPI_COMM_WORLD);
    Executor worker(model, transport);
    compiled::run(rank, worker);
    for (int stage : mine)
      example::writeGradients(argv[2], stage, model.gradient(stage));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
