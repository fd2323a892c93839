//===- FamilyBody.h - The steps that the ranks of a family run --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of a family as one list with the information that its code needs:
// the numbers of the family in each node, and where a line or a phase begins.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/RankFamily.h"

#include <limits>

namespace pipec {

/// Returns the line of the `.pipe` source that a step comes from; 0 if there is
/// none.
using LineOf = llvm::function_ref<unsigned(Step)>;

/// A loop, a group or a step of a body.
struct BodyNode {
  enum Sort : uint8_t { Loop, Group, Step };
  /// For a loop over several lines.
  static constexpr uint32_t noLine = std::numeric_limits<uint32_t>::max();

  Sort sort = Step;
  bool startsLine = false;
  bool startsPhase = false;
  uint8_t phase = 0;
  /// The number of enclosing loops.
  uint8_t depth = 0;
  uint32_t line = 0;
  /// The innermost enclosing loop, if there is one.
  uint32_t parent = 0;
  /// For a loop or a group: its nodes in `FamilyBody::nodes`. For a step: its
  /// index in `LoopTree::steps`.
  uint32_t begin = 0;
  uint32_t size = 0;
  /// The index of its first number in `RankFamily::numbers`: the iterations of
  /// a loop; the stage of a step, followed by its micro-batch and the stage at
  /// the other end (`LoopTree::others`).
  uint32_t number = 0;
  /// For a loop: the growth of every micro-batch per iteration.
  int32_t growth = 0;
};

/// The body of one family.
struct FamilyBody {
  /// The first `numRoots` nodes are the body; the nodes of a loop or a group
  /// are consecutive.
  std::vector<BodyNode> nodes;
  uint32_t numRoots = 0;
};

/// Builds the body of a family from the tree of its first rank. Linear in its
/// nodes.
FamilyBody makeFamilyBody(const LoopTree &tree, LineOf lineOf);

} // namespace pipec
