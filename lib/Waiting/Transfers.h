//===- Transfers.h - Matching sends and receives ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Waiting/StepNumbers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compiler.h"

#include <utility>
#include <vector>

namespace pipec {

/// Matches the P2P steps of a schedule. Transfers have no tags: the k-th send
/// from one rank to another matches the k-th receive on the other from this
/// one, whatever tensors they name. The match depends only on the lists, so it
/// is computed once for all communication models.
class Transfers {
public:
  static constexpr uint32_t none = StepNumbers::none;

  explicit Transfers(const Schedule &schedule)
      : Transfers(schedule, DataFlow(schedule)) {}
  Transfers(const Schedule &schedule, DataFlow flow);

  const StepNumbers &numbers() const { return stepNumbers; }
  const DataFlow &flow() const { return dataFlow; }

  /// For a P2P step: its partner at the other end, `none` if it is unmatched.
  /// For a wait for a send: that send on its own rank (the first one with that
  /// name), `none` if there is none.
  uint32_t other(uint32_t step) const { return others[step]; }
  /// For an F, B or I: the receives of its inputs on its own rank, the first
  /// one with each name.
  llvm::ArrayRef<uint32_t> receives(uint32_t step) const {
    if (LLVM_UNLIKELY(!joins.empty()))
      if (auto it = joins.find(step); it != joins.end())
        return it->second;
    return {&others[step], size_t(others[step] != none)};
  }

  /// The unmatched P2P steps in the order of their numbers, including those on
  /// a stage without a neighbour on that side.
  const std::vector<uint32_t> &unmatched() const { return unmatchedSteps; }
  /// True if there is a wait for a send.
  bool hasSendWaits() const { return anySendWaits; }
  /// True if all sends and receives match and name the same tensor.
  bool sound() const { return unmatchedSteps.empty() && !anyCrossed; }

private:
  void matchSends(const Schedule &schedule);
  void findInputs(const Schedule &schedule);
  void findSends(const Schedule &schedule);

  DataFlow dataFlow;
  StepNumbers stepNumbers;
  /// For an F, B or I, the receive of its first input.
  std::vector<uint32_t> others;
  /// The receives of steps with several inputs.
  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t, 2>> joins;
  std::vector<uint32_t> unmatchedSteps;
  /// Some matching send and receive name different tensors.
  bool anyCrossed = false;
  bool anySendWaits = false;
};

} // namespace pipec
