//===- CrossedOverlaps.cpp - Overlaps whose halves need each other -------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the executor of crossed.steps, on threads or, with PIPEC_TEST_MPI, over
// MPI. With the argument `members` the model runs first what needs nothing from
// the other rank, and sends the result; with `whole` it is called when all
// inputs are there.
//
//===----------------------------------------------------------------------===//

#ifdef PIPEC_TEST_MPI
#include <pipec/runtime/MpiTransport.h>
#else
#include <pipec/runtime/ThreadTransport.h>
#endif

#include <cstdio>
#include <string>

using namespace pipec::runtime;

namespace {

struct Base {
  using Tensor = double;
  using Activation = double;
  double gradient = 0;

  int stages() const { return 2; }
  int microbatches() const { return 2; }
  double forward(int, int microbatch, double *input, double *output,
                 double &kept) {
    kept = input ? *input : microbatch + 1;
    if (output)
      *output = 3 * kept;
    return kept;
  }
  void backward(int, int, const double *outputGradient, double *inputGradient,
                double &kept) {
    double value = outputGradient ? *outputGradient : 1;
    if (inputGradient)
      *inputGradient = 2 * value;
    gradient += value * kept;
  }
  void prepareInput(int, int, double &) {}
  void prepareGradient(int, int, double &) {}
  std::span<std::byte> bytes(double &value) {
    return std::as_writable_bytes(std::span(&value, 1));
  }
};

struct Whole : Base {
  void overlapped(std::span<StepContext<Whole>> members) {
    for (auto &member : members)
      member.proceed();
  }
};

struct ByMember : Base {
  void overlapped(std::span<OverlapMember<ByMember>> members) {
    auto &own = members[std::size_t(members[0].rank)];
    auto &other = members[std::size_t(1 - members[0].rank)];
    own.proceed();
    own.send();
    other.proceed();
  }
};

template <class Model, class Transport>
void train(int rank, Transport &transport) {
  Model model;
  Options options;
  options.patience =
      std::chrono::seconds(std::is_same_v<Model, Whole> ? 1 : 60);
  Executor worker(model, transport, options);
  double sum = 0;
  for (int k = 0; k != 3; ++k)
    for (double loss : compiled::run(rank, worker))
      sum += loss;
  std::printf("rank %d: gradient %g, losses %g\n", rank, model.gradient, sum);
}

template <class Transport>
void trainAs(const std::string &form, int rank, Transport &transport) {
  form == "whole" ? train<Whole>(rank, transport)
                  : train<ByMember>(rank, transport);
}

} // namespace

int main(int argc, char **argv) {
#ifdef PIPEC_TEST_MPI
  MPI_Init(&argc, &argv);
  {
    MpiTransport transport(MPI_COMM_WORLD);
    trainAs(argv[1], transport.rank(), transport);
  }
  MPI_Finalize();
#else
  ThreadGroup group(compiled::ranks);
  (void)argc;
  try {
    group.run([&](int rank) {
      ThreadTransport transport(group, rank);
      trainAs(argv[1], rank, transport);
    });
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
#endif
}
