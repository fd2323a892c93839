// Tensors in two places, numbers and labels, and inputs whose sizes only the sender knows:
// micro-batch k has k + 1 rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "schedule.h"

#include <pipec/runtime/ThreadTransport.h>

#include <array>
#include <cstdio>

struct Pair {
  std::vector<double> numbers;
  std::vector<int> labels;
};

struct Model {
  using Tensor = Pair;
  using Activation = Pair;

  double gradient = 0;
  int wrong = 0;

  int stages() const { return schedule::stages; }
  int microbatches() const { return schedule::microbatches; }
  void forward(int, int microbatch, Pair *input, Pair *output, Pair &kept) {
    std::size_t rows = std::size_t(microbatch) + 1;
    if (input)
      kept = *input;
    else
      kept = {std::vector<double>(rows, 1 + microbatch), std::vector<int>(rows, microbatch)};
    wrong += kept.numbers.size() != rows || kept.labels != std::vector<int>(rows, microbatch);
    if (output) {
      *output = kept;
      for (double &number : output->numbers)
        number *= 2;
    }
  }
  void backward(int, int, const Pair *outputGradient, Pair *inputGradient, Pair &kept) {
    for (std::size_t i = 0; i != kept.numbers.size(); ++i)
      gradient += kept.numbers[i] * (outputGradient ? outputGradient->numbers[i] : 1);
    if (inputGradient) {
      *inputGradient = kept;
      for (std::size_t i = 0; i != kept.numbers.size(); ++i)
        inputGradient->numbers[i] = 2 * (outputGradient ? outputGradient->numbers[i] : 1);
    }
  }
#ifdef RESIZE
  void resizeInput(int, int, std::size_t bytes, Pair &input) {
    std::size_t rows = bytes / (sizeof(double) + sizeof(int));
    input = {std::vector<double>(rows), std::vector<int>(rows)};
  }
#else
  void prepareInput(int, int microbatch, Pair &input) { prepareGradient(0, microbatch, input); }
#endif
  void prepareGradient(int, int microbatch, Pair &gradient) {
    std::size_t rows = std::size_t(microbatch) + 1;
    gradient = {std::vector<double>(rows), std::vector<int>(rows)};
  }
  std::array<std::span<std::byte>, 2> bytes(Pair &pair) {
    return {std::as_writable_bytes(std::span(pair.numbers)), std::as_writable_bytes(std::span(pair.labels))};
  }
};

int main(int count, char **) try {
  pipec::runtime::ThreadGroup group(schedule::ranks);
  std::array<double, schedule::ranks> gradients{};
  group.run([&](int rank) {
    Model model;
    pipec::runtime::ThreadTransport transport(group, rank);
    pipec::runtime::Options options;
    options.blocking = count > 1;
    pipec::runtime::Executor worker(model, transport, options);
    for (int step = 0; step != 2; ++step)
      schedule::run(rank, worker);
    gradients[std::size_t(rank)] = model.wrong ? -1 : model.gradient;
  });
  double expected = 0;
  for (int k = 0; k != schedule::microbatches; ++k)
    expected += 2 * (k + 1) * (k + 1) * double(1 << (schedule::stages - 1)) * schedule::stages / schedule::ranks;
  for (double gradient : gradients)
    std::printf("gradient %s\n", gradient == expected ? "right" : "wrong");
} catch (const pipec::runtime::Error &error) {
  std::puts(error.what());
}
