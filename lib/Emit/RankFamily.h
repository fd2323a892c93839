//===- RankFamily.h - Ranks that run the same code --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop trees of many ranks are equal except for their numbers: stages,
// micro-batches and iterations. Such ranks are a family and share one function;
// numbers that differ between them become columns of a table with one row per
// rank.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/LoopTree.h"

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

/// Calls `visit(role, value)` for every number of a tree, in the order of the
/// code: the iterations of a loop before its body; of a step the stage, the
/// micro-batch, and the stage at the other end of a transfer that names it.
template <class Visit>
void forEachNumber(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes,
                   Visit &&visit) {
  for (const LoopNode &node : nodes) {
    if (node.isLoop()) {
      visit(NumberRole::Rounds, int64_t(node.rounds));
      forEachNumber(tree, tree.body(node), visit);
      continue;
    }
    for (size_t i = node.begin; i != node.begin + node.size; ++i) {
      Step step = tree.steps[i];
      visit(NumberRole::Stage, int64_t(step.stage()));
      if (hasMicrobatch(step.kind()))
        visit(NumberRole::Microbatch, int64_t(step.microbatch()));
      if (tree.namesOther(i))
        visit(NumberRole::Other, int64_t(tree.others[i]));
    }
  }
}

/// Groups ranks into families, in the order of their first ranks. Ranks without
/// steps belong to no family. `lineOf` returns the source line of a step, which
/// must be equal too.
std::vector<RankFamily> findFamilies(llvm::ArrayRef<LoopTree> trees,
                                     llvm::function_ref<unsigned(Step)> lineOf);

} // namespace pipec
