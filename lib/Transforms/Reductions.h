//===- Reductions.h - REDUCE_GRAD and the waits for it ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Transforms/Checks.h"
#include "Transforms/Passes.h"

namespace pipec {

/// Adds the reductions of one rank, in the order of its list, and where the
/// waits for them are.
class Reductions {
public:
  Reductions(ReduceWait wait, std::vector<AddedStep> &added)
      : mode(wait), added(added) {}

  /// Inserts the REDUCE_GRAD that follows the weight gradient `last`, and the
  /// wait for it or for the previous one.
  void reduce(size_t before, Step last) {
    wait(before);
    Step step(StepKind::ReduceGrad, last.stage(), 0, last.phase(),
              last.source());
    added.push_back({before, step});
    pass(before, step);
  }

  /// Inserts the wait for a REDUCE_GRAD of the list, if it is due at once. The
  /// wait for the previous one is inserted already.
  void pass(size_t after, Step reduction) {
    if (mode != ReduceWait::None)
      pending = reduction;
    if (mode == ReduceWait::AtOnce)
      wait(after);
  }

  /// Inserts the wait that is still missing; at the end of the list, too.
  void wait(size_t before) {
    if (!pending)
      return;
    pending->setKind(StepKind::WaitReduceGrad);
    added.push_back({before, *pending});
    pending.reset();
  }

private:
  ReduceWait mode;
  std::vector<AddedStep> &added;
  /// The reduction that is not yet followed by a wait.
  std::optional<Step> pending;
};

} // namespace pipec
