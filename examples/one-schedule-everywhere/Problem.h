//===- Problem.h - The training problem of problem.py -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_EVERYWHERE_PROBLEM_H
#define PIPEC_EXAMPLES_EVERYWHERE_PROBLEM_H

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

inline constexpr std::size_t width = 6, batch = 3;
inline constexpr std::size_t numWeights = width * width + width;
inline constexpr std::size_t sampleSize = batch * width;

using Numbers = std::vector<double>;

/// What problem.py wrote; its comment describes the file.
struct Problem {
  std::vector<Numbers> stages, inputs, targets;

  explicit Problem(const std::string &path) {
    std::ifstream file(path);
    std::size_t numStages = 0, numMicrobatches = 0;
    file >> numStages >> numMicrobatches;
    auto take = [&](std::size_t count) {
      Numbers numbers(count);
      for (double &number : numbers)
        file >> number;
      return numbers;
    };
    for (std::size_t i = 0; i != numStages; ++i)
      stages.push_back(take(numWeights));
    for (std::size_t i = 0; i != numMicrobatches; ++i) {
      inputs.push_back(take(sampleSize));
      targets.push_back(take(sampleSize));
    }
    if (!file)
      throw std::runtime_error("cannot read " + path);
  }
};

/// Writes the gradients of a stage to `folder`/stageN.txt.
template <class Range>
void writeGradients(const std::string &folder, int stage,
                    const Range &numbers) {
  std::string path = folder + "/stage" + std::to_string(stage) + ".txt";
  std::ofstream file(path);
  file.precision(17);
  for (double number : numbers)
    file << number << '\n';
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace example

#endif // PIPEC_EXAMPLES_EVERYWHERE_PROBLEM_H
