//===- Proof.h - Why no order is shorter than a bound -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cases of a bound (Bound.h), each with the mean of paths that shows it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace pipec::order {

struct Proof {
  /// The jobs of each path from the start, which is left out, to its end.
  std::vector<std::vector<uint32_t>> paths;
  /// All orders, or those that have a micro-batch at a position as well.
  struct Case {
    uint32_t position = 0;
    /// If it is split: by the positions of `data`, in ascending order. Of equal
    /// micro-batches that follow each other, the first is at the first
    /// position.
    bool isSplit = false;
    uint32_t data = 0;
    std::vector<uint32_t> cases;
    /// The paths of the mean, in which the path at i counts i + 1 times.
    std::vector<uint32_t> mean;
    /// The mean is that of the case around it.
    bool isSame = false;
  };
  /// The first one has all orders.
  std::vector<Case> cases;
  /// No order is shorter, in parts of the result's `timeUnit`.
  int64_t bound = 0;

  void split(uint32_t number, uint32_t data) {
    cases[number].isSplit = true;
    cases[number].data = data;
  }
  /// The number of a path.
  uint32_t add(std::vector<uint32_t> path) {
    auto [it, isNew] = numbers.insert({path, uint32_t(paths.size())});
    if (isNew)
      paths.push_back(std::move(path));
    return it->second;
  }

private:
  std::map<std::vector<uint32_t>, uint32_t> numbers;
};

} // namespace pipec::order
