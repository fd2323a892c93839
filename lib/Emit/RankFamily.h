//===- RankFamily.h - Ranks that run the same code --------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop trees of many ranks are equal but for their numbers: stages,
// micro-batches and rounds. Such ranks are a family and share one function;
// numbers that differ between them become columns of a table with a row a rank.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_RANKFAMILY_H
#define PIPEC_EMIT_RANKFAMILY_H

#include "Emit/LoopTree.h"

#include <string>

namespace pipec {

/// A number in the text of a family's function: the same for all its ranks, or
/// a column of its table.
struct FamilyNumber {
  int64_t value = 0;
  /// Index into `RankFamily::columns`, -1 for a literal.
  int column = -1;
};

struct RankFamily {
  /// In ascending order; the tree of the first is written.
  std::vector<unsigned> ranks;
  /// `rank0`, `ranks1To6`, ...
  std::string name;
  /// What the columns are called, and one value a rank for each.
  std::vector<std::string> columnNames;
  std::vector<std::vector<int64_t>> columns;
  /// All numbers in the order in which `forEachNumber` meets them.
  std::vector<FamilyNumber> numbers;
};

/// What a number of a tree is.
enum class NumberRole { Stage, Microbatch, Rounds };

/// Calls `visit(role, value)` for every number of a tree, in the order of the
/// text: the rounds of a loop before its body, the stage of a step before its
/// micro-batch.
template <class Visit>
void forEachNumber(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes,
                   Visit &&visit) {
  for (const LoopNode &node : nodes) {
    if (node.isLoop()) {
      visit(NumberRole::Rounds, int64_t(node.rounds));
      forEachNumber(tree, tree.body(node), visit);
      continue;
    }
    for (Step step : tree.group(node)) {
      visit(NumberRole::Stage, int64_t(step.stage()));
      if (hasMicrobatch(step.kind()))
        visit(NumberRole::Microbatch, int64_t(step.microbatch()));
    }
  }
}

/// Sorts ranks into families, in the order of their first ranks. Ranks without
/// steps are in none. `lineOf` gives the source line of a step, which must be
/// equal too.
std::vector<RankFamily> findFamilies(llvm::ArrayRef<LoopTree> trees,
                                     llvm::function_ref<unsigned(Step)> lineOf);

} // namespace pipec

#endif // PIPEC_EMIT_RANKFAMILY_H
