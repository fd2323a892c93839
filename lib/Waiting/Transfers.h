//===- Transfers.h - Which send meets which receive -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_TRANSFERS_H
#define PIPEC_WAITING_TRANSFERS_H

#include "Waiting/StepNumbers.h"
#include "IR/DataFlow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compiler.h"

#include <utility>
#include <vector>

namespace pipec {

/// How the P2P steps of a schedule meet. Transfers carry no tag: the k-th send
/// that a rank posts for another meets the k-th receive that this one posts for
/// it, whatever tensors they name. Which those are is fixed by the lists alone,
/// so it is found once, for every model of waiting.
class Transfers {
public:
  static constexpr uint32_t none = StepNumbers::none;

  explicit Transfers(const Schedule &schedule)
      : Transfers(schedule, DataFlow(schedule)) {}
  Transfers(const Schedule &schedule, DataFlow flow);

  const StepNumbers &numbers() const { return stepNumbers; }
  const DataFlow &flow() const { return dataFlow; }

  /// Of a P2P step: the step at the other end that it meets, `none` when it
  /// meets none. Of a wait for a send: that send on its own rank (the first one
  /// of that name), `none` when there is none.
  uint32_t other(uint32_t step) const { return others[step]; }
  /// Of an F, B or I: the receives on its own rank that give it its inputs, the
  /// first one of each name.
  llvm::ArrayRef<uint32_t> receives(uint32_t step) const {
    if (LLVM_UNLIKELY(!joins.empty()))
      if (auto it = joins.find(step); it != joins.end())
        return it->second;
    return {&others[step], size_t(others[step] != none)};
  }

  /// P2P steps that meet nothing, in the order of their numbers; those on a
  /// stage that has no neighbour on that side among them.
  const std::vector<uint32_t> &unmatched() const { return unmatchedSteps; }
  /// Send and receive that meet but name different tensors, ordered by the
  /// receive.
  const std::vector<std::pair<uint32_t, uint32_t>> &crossed() const {
    return crossedPairs;
  }
  /// True when some rank waits for a send in the middle of its list.
  bool hasSendWaits() const { return anySendWaits; }
  /// True when every transfer gives the receiver the tensor that it names.
  bool sound() const { return unmatchedSteps.empty() && crossedPairs.empty(); }

private:
  void matchSends(const Schedule &schedule);
  void findInputs(const Schedule &schedule);
  void findSends(const Schedule &schedule);

  DataFlow dataFlow;
  StepNumbers stepNumbers;
  /// Of an F, B or I the receive of its first input.
  std::vector<uint32_t> others;
  /// The receives of steps with several inputs.
  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t, 2>> joins;
  std::vector<uint32_t> unmatchedSteps;
  std::vector<std::pair<uint32_t, uint32_t>> crossedPairs;
  bool anySendWaits = false;
};

} // namespace pipec

#endif // PIPEC_WAITING_TRANSFERS_H
