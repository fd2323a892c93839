//===- MpiFaults.cpp - One process of two does something wrong --*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/MpiTransport.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

using namespace pipec::runtime;

namespace {

struct Model {
  using Tensor = std::vector<double>;
  using Activation = int;
  std::string fault;
  int rank;

  int stages() const { return 2; }
  int microbatches() const { return 3; }
  std::size_t size() const { return fault == "size" && rank == 0 ? 10 : 1; }
  void forward(int stage, int microbatch, Tensor *, Tensor *output, int &) {
    if (output)
      output->assign(size(), 1);
    if (stage != 1 || microbatch != 1)
      return;
    if (fault == "throw")
      throw std::runtime_error("no more memory");
    if (fault == "kill")
      std::raise(SIGKILL);
  }
  void backward(int, int, const Tensor *, Tensor *gradient, int &) {
    if (gradient)
      gradient->assign(size(), 1);
  }
  void prepareInput(int, int, Tensor &tensor) { tensor.resize(size()); }
  void prepareGradient(int, int, Tensor &tensor) { tensor.resize(size()); }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(tensor));
  }
};

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    MpiTransport transport(MPI_COMM_WORLD);
    Model model{argv[1], transport.rank()};
    Options options;
    options.patience = std::chrono::seconds(10);
    Executor worker(model, transport, options);
    for (int k = 0; k != 3; ++k)
      one_f_one_b::run(transport.rank(), worker);
    if (transport.rank() == 0)
      std::printf("%u runs\n", worker.runs());
  }
  MPI_Finalize();
}
