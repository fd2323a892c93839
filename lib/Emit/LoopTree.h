//===- LoopTree.h - Repetitions in a list of steps --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop is a body of steps that occurs at least twice in a row, where kind,
// stage, place in a group and phase are equal in every iteration and all
// micro-batches grow by the same number, which is not 0:
//
//   F s0 m0, SEND_F s0 m0, F s0 m1, SEND_F s0 m1, F s0 m2, SEND_F s0 m2
//   -> 3 rounds of { F s0 m0, SEND_F s0 m0 }, growth 1
//
// Loops nest at most three deep. Executors are generated from the result.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"

#include <vector>

namespace pipec {

/// The maximum length of a loop body, in items of its level.
inline constexpr unsigned maxLoopBody = 4096;
/// The maximum nesting depth of loops.
inline constexpr unsigned maxLoopDepth = 3;

/// A group of steps (a step, an overlap, a batch), or a loop over nodes. A list
/// folds into loops of two or more rounds; where ranks share code, a rank may
/// have a loop of one round, or of none.
struct LoopNode {
  /// For a group: its first step and its size. For a loop: its first child in
  /// `LoopTree::children` and the number of children.
  uint32_t begin = 0;
  uint32_t size = 0;
  /// The number of iterations of a loop.
  uint32_t rounds = 0;
  /// The growth of every micro-batch per iteration.
  int32_t growth = 0;
  bool repeats = false;
  /// True for a loop that some rank of a family does not run.
  bool optional = false;

  bool isLoop() const { return repeats; }
};

/// The steps of one rank as a tree of loops. Groups refer to the steps of the
/// first iteration.
struct LoopTree {
  /// The steps that run, without bubbles.
  StepList steps;
  /// By step, the stage at the other end of a transfer on an edge that is not
  /// in a chain; `chainStep` for all other steps. Empty if no step has one.
  std::vector<uint32_t> others;
  std::vector<LoopNode> roots;
  std::vector<LoopNode> children;

  llvm::ArrayRef<LoopNode> body(const LoopNode &loop) const {
    return llvm::ArrayRef(children).slice(loop.begin, loop.size);
  }
  llvm::ArrayRef<Step> group(const LoopNode &node) const {
    return llvm::ArrayRef(steps).slice(node.begin, node.size);
  }
  /// See `others`.
  static constexpr uint32_t chainStep = ~0u;
  bool namesOther(size_t step) const {
    return !others.empty() && others[step] != chainStep;
  }
  /// Fills `others`.
  void nameOthers(const DataFlow &flow);
};

/// Returns the list without bubbles, with the phases and sources of transfers
/// and FSDP actions adjusted for readability: between two computes, the steps
/// up to the last one that finishes the first compute (sends, RESHARD,
/// REDUCE_GRAD, REDUCE_TIED) belong to the first compute, and the others to the
/// second.
StepList stepsToWrite(llvm::ArrayRef<Step> list);

/// Folds the list of one rank. Linear in its steps.
LoopTree findLoops(llvm::ArrayRef<Step> list);

} // namespace pipec
