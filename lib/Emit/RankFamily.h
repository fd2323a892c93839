//===- RankFamily.h - Ranks that run the same code --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop trees of many ranks are equal except for their numbers: stages,
// micro-batches and iterations. Trees that are nearly equal are made so, with
// loops of one round or of none (RankMerge.cpp). Such ranks are a family and
// share one function;
// numbers that differ between them become columns of a table with one row per
// rank. The body of a family is its tree as one list with the information that
// its code needs: the numbers of the family in each node, and where a line or a
// phase begins.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/LoopTree.h"

#include <limits>
#include <string>

namespace pipec {

/// A number in the function of a family: a literal for all its ranks, or a
/// column of its table.
struct FamilyNumber {
  int64_t value = 0;
  /// The index in `RankFamily::columns`; -1 for a literal.
  int column = -1;
};

struct RankFamily {
  /// In ascending order; the code is generated from the tree of the first.
  std::vector<unsigned> ranks;
  /// `rank0`, `ranks1To6`, ...
  std::string name;
  /// The names of the columns, and one value per rank for each.
  std::vector<std::string> columnNames;
  std::vector<std::vector<int64_t>> columns;
  /// All numbers in the order in which `forEachNumber` visits them.
  std::vector<FamilyNumber> numbers;
};

/// The meaning of a number in a tree.
enum class NumberRole { Stage, Microbatch, Other, Rounds };

/// A number within a loop of no rounds: any value will do.
inline constexpr int64_t anyNumber = std::numeric_limits<int64_t>::min();

/// Calls `visit(role, value)` for every number of a tree, in the order of the
/// code: the iterations of a loop before its body; of a step the stage, the
/// micro-batch, and the stage at the other end of a transfer that names it.
template <class Visit>
void forEachNumber(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes,
                   Visit &&visit, bool runs = true) {
  auto value = [&](int64_t number) { return runs ? number : anyNumber; };
  for (const LoopNode &node : nodes) {
    if (node.isLoop()) {
      visit(NumberRole::Rounds, value(node.rounds));
      forEachNumber(tree, tree.body(node), visit, runs && node.rounds != 0);
      continue;
    }
    for (size_t i = node.begin; i != node.begin + node.size; ++i) {
      Step step = tree.steps[i];
      visit(NumberRole::Stage, value(step.stage()));
      if (hasUnit(step.kind()))
        visit(NumberRole::Microbatch, value(step.unit()));
      if (tree.namesOther(i))
        visit(NumberRole::Other, value(tree.others[i]));
    }
  }
}

/// Returns the line of the `.pipe` source that a step comes from; 0 if there is
/// none.
using LineOf = llvm::function_ref<unsigned(Step)>;

/// Makes trees of ranks equal except for their numbers, where they are nearly
/// so. Which trees run what remains.
void mergeTrees(std::vector<LoopTree> &trees, LineOf lineOf);

/// Appends all of `nodes` except their numbers.
void describeShape(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes,
                   LineOf lineOf, std::vector<uint64_t> &out);

/// Groups ranks into families, in the order of their first ranks. Ranks without
/// steps belong to no family. `lineOf` returns the source line of a step, which
/// must be equal too.
std::vector<RankFamily> findFamilies(llvm::ArrayRef<LoopTree> trees,
                                     LineOf lineOf);

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
