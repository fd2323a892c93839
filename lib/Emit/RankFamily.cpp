//===- RankFamily.cpp - Ranks that run the same code ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a tree, without its numbers, is written as a string of values;
// ranks with equal strings form a family. The n-th numbers of all its trees are
// then compared: if they are equal, they become a literal, otherwise a column.
// Columns with the same values are merged.
//
//===----------------------------------------------------------------------===//

#include "Emit/RankFamily.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace pipec {

namespace {

/// Describes all of a tree except its numbers.
void describeShape(const LoopTree &tree, ArrayRef<LoopNode> nodes,
                   function_ref<unsigned(Step)> lineOf,
                   std::vector<uint64_t> &out) {
  for (const LoopNode &node : nodes) {
    out.push_back(uint64_t(node.isLoop()) << 32 | node.size);
    if (node.isLoop()) {
      out.push_back(uint64_t(int64_t(node.growth)));
      describeShape(tree, tree.body(node), lineOf, out);
      continue;
    }
    for (size_t i = node.begin; i != node.begin + node.size; ++i) {
      Step step = tree.steps[i];
      out.push_back(uint64_t(lineOf(step)) << 32 | uint64_t(step.phase()) << 8 |
                    uint64_t(tree.namesOther(i)) << 7 | unsigned(step.kind()));
    }
  }
}

std::string familyName(ArrayRef<unsigned> ranks) {
  std::string first = std::to_string(ranks.front());
  if (ranks.size() == 1)
    return "rank" + first;
  bool run = ranks.back() - ranks.front() + 1 == ranks.size();
  return run ? "ranks" + first + "To" + std::to_string(ranks.back())
             : "ranksLike" + first;
}

StringRef columnWord(NumberRole role) {
  switch (role) {
  case NumberRole::Stage:
    return "stage";
  case NumberRole::Microbatch:
    return "first";
  case NumberRole::Other:
    return "other";
  case NumberRole::Rounds:
    return "rounds";
  }
  llvm_unreachable("every role has a word");
}

void findColumns(RankFamily &family, ArrayRef<LoopTree> trees) {
  std::vector<std::vector<int64_t>> perRank;
  std::vector<NumberRole> roles;
  for (unsigned rank : family.ranks) {
    std::vector<int64_t> numbers;
    bool isFirst = perRank.empty();
    forEachNumber(trees[rank], trees[rank].roots,
                  [&](NumberRole role, int64_t value) {
                    numbers.push_back(value);
                    if (isFirst)
                      roles.push_back(role);
                  });
    perRank.push_back(std::move(numbers));
  }
  std::map<std::vector<int64_t>, int> known;
  unsigned used[4] = {};
  for (size_t i = 0; i != roles.size(); ++i) {
    std::vector<int64_t> column;
    for (const std::vector<int64_t> &numbers : perRank)
      column.push_back(numbers[i]);
    if (all_equal(column)) {
      family.numbers.push_back({column.front(), -1});
      continue;
    }
    auto [it, isNew] = known.try_emplace(column, int(family.columns.size()));
    family.numbers.push_back({column.front(), it->second});
    if (!isNew)
      continue;
    unsigned number = ++used[unsigned(roles[i])];
    family.columnNames.push_back(columnWord(roles[i]).str() +
                                 (number == 1 ? "" : std::to_string(number)));
    family.columns.push_back(std::move(column));
  }
}

} // namespace

std::vector<RankFamily> findFamilies(ArrayRef<LoopTree> trees,
                                     function_ref<unsigned(Step)> lineOf) {
  std::vector<RankFamily> families;
  std::map<std::vector<uint64_t>, size_t> known;
  for (unsigned rank = 0; rank != trees.size(); ++rank) {
    if (trees[rank].roots.empty())
      continue;
    std::vector<uint64_t> shape;
    describeShape(trees[rank], trees[rank].roots, lineOf, shape);
    auto [it, isNew] = known.try_emplace(std::move(shape), families.size());
    if (isNew)
      families.emplace_back();
    families[it->second].ranks.push_back(rank);
  }
  for (RankFamily &family : families) {
    family.name = familyName(family.ranks);
    findColumns(family, trees);
  }
  return families;
}

} // namespace pipec
