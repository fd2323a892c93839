//===- LoopTree.h - Repetitions in a list of steps --------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is a body of steps that is repeated at least twice in a row, in which
// kind, stage, place in a group and phase are equal from round to round and
// every micro-batch grows by the same number, not 0:
//
//   F s0 m0, SEND_F s0 m0, F s0 m1, SEND_F s0 m1, F s0 m2, SEND_F s0 m2
//   -> 3 rounds of { F s0 m0, SEND_F s0 m0 }, growth 1
//
// Loops nest three deep at most. Executors are written from the result.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_LOOPTREE_H
#define PIPEC_EMIT_LOOPTREE_H

#include "IR/Schedule.h"

#include <vector>

namespace pipec {

/// The longest body of a loop, in items of its level.
inline constexpr unsigned maxLoopBody = 4096;
/// How deep loops nest.
inline constexpr unsigned maxLoopDepth = 3;

/// A group of steps (a step, an overlap, a batch), or a loop over nodes.
struct LoopNode {
  /// Of a group: its first step and its size. Of a loop: its first child in
  /// `LoopTree::children` and how many there are.
  uint32_t begin = 0;
  uint32_t size = 0;
  /// 0 for a group.
  uint32_t rounds = 0;
  /// What a round adds to every micro-batch.
  int32_t growth = 0;

  bool isLoop() const { return rounds != 0; }
};

/// The steps of one rank, folded. Groups name the steps of the first round.
struct LoopTree {
  /// The steps that run; bubbles are left out.
  StepList steps;
  std::vector<LoopNode> roots;
  std::vector<LoopNode> children;

  llvm::ArrayRef<LoopNode> body(const LoopNode &loop) const {
    return llvm::ArrayRef(children).slice(loop.begin, loop.size);
  }
  llvm::ArrayRef<Step> group(const LoopNode &node) const {
    return llvm::ArrayRef(steps).slice(node.begin, node.size);
  }
  /// The list that the tree stands for.
  StepList expand() const;
};

/// The list without its bubbles, with the phases and sources of transfers and
/// FSDP actions set for reading: between two computes, what finishes the first
/// (sends, RESHARD, REDUCE_GRAD) and all before it takes those of the first,
/// the rest those of the second.
StepList stepsToWrite(llvm::ArrayRef<Step> list);

/// Folds the list of one rank. Linear in its steps.
LoopTree findLoops(llvm::ArrayRef<Step> list);

} // namespace pipec

#endif // PIPEC_EMIT_LOOPTREE_H
