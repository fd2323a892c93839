//===- FamilyBody.h - What the ranks of a family run ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tree of a family in one list, with all that its text needs: which numbers
// of the family are whose, and where a line or a phase begins.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_FAMILYBODY_H
#define PIPEC_EMIT_FAMILYBODY_H

#include "Emit/RankFamily.h"

#include <limits>

namespace pipec {

/// From a step to the line of the `.pipe` source that it comes from, 0 when it
/// has none.
using LineOf = llvm::function_ref<unsigned(Step)>;

/// A loop, a group or a step of a body.
struct BodyNode {
  enum Sort : uint8_t { Loop, Group, Step };
  /// Of a loop over several lines.
  static constexpr uint32_t noLine = std::numeric_limits<uint32_t>::max();

  Sort sort = Step;
  bool startsLine = false;
  bool startsPhase = false;
  uint8_t phase = 0;
  /// Loops around it.
  uint8_t depth = 0;
  uint32_t line = 0;
  /// The innermost loop around it, if there is one.
  uint32_t parent = 0;
  /// Of a loop or a group: its nodes in `FamilyBody::nodes`. Of a step: its
  /// number in `LoopTree::steps`.
  uint32_t begin = 0;
  uint32_t size = 0;
  /// Its first number in `RankFamily::numbers`: the rounds of a loop; the stage
  /// of a step, then its micro-batch.
  uint32_t number = 0;
  /// Of a loop: what a round adds to every micro-batch.
  int32_t growth = 0;
};

/// What one family runs.
struct FamilyBody {
  /// The first `numRoots` are the body; the nodes of a loop or a group follow
  /// each other.
  std::vector<BodyNode> nodes;
  uint32_t numRoots = 0;
};

/// Lays out the tree of the first rank of a family. Linear in its nodes.
FamilyBody makeFamilyBody(const LoopTree &tree, LineOf lineOf);

} // namespace pipec

#endif // PIPEC_EMIT_FAMILYBODY_H
