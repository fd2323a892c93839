//===- LoopTreeTest.cpp - Repetitions in a list of steps ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/LoopTree.h"
#include "Emit/RankFamily.h"

#include "gtest/gtest.h"

#include <random>

using namespace pipec;

namespace {

void expectSameSteps(llvm::ArrayRef<Step> expanded,
                     llvm::ArrayRef<Step> wanted) {
  ASSERT_EQ(expanded.size(), wanted.size());
  for (size_t i = 0; i != wanted.size(); ++i)
    EXPECT_TRUE(expanded[i].sameAction(wanted[i])) << "at step " << i;
}

void expandNodes(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes,
                 int64_t offset, StepList &out) {
  for (const LoopNode &node : nodes) {
    for (uint32_t round = 0; round != node.rounds; ++round)
      expandNodes(tree, tree.body(node), offset + int64_t(round) * node.growth,
                  out);
    if (node.isLoop())
      continue;
    for (Step step : tree.group(node)) {
      out.emplace_back(step.kind(), step.stage(),
                       hasUnit(step.kind()) ? step.unit() + offset : 0,
                       step.phase(), step.source(), step.joined());
      if (isP2P(step.kind()) || isSendWait(step.kind()))
        out.back().setPort(step.port());
    }
  }
}

/// The list that a tree represents.
StepList expand(const LoopTree &tree) {
  StepList out;
  expandNodes(tree, tree.roots, 0, out);
  return out;
}

size_t countGroups(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes) {
  size_t count = 0;
  for (const LoopNode &node : nodes)
    count += node.isLoop() ? countGroups(tree, tree.body(node)) : 1;
  return count;
}

unsigned depth(const LoopTree &tree, llvm::ArrayRef<LoopNode> nodes) {
  unsigned deepest = 0;
  for (const LoopNode &node : nodes)
    if (node.isLoop())
      deepest = std::max(deepest, 1 + depth(tree, tree.body(node)));
  return deepest;
}

TEST(LoopTree, FoldsEqualRounds) {
  StepList list;
  for (unsigned m = 0; m != 5; ++m) {
    list.emplace_back(StepKind::F, 0, m);
    list.emplace_back(StepKind::SendF, 0, m);
  }
  LoopTree tree = findLoops(list);
  ASSERT_EQ(tree.roots.size(), 1u);
  EXPECT_EQ(tree.roots[0].rounds, 5u);
  EXPECT_EQ(tree.roots[0].growth, 1);
  EXPECT_EQ(tree.roots[0].size, 2u);
  expectSameSteps(expand(tree), list);
}

TEST(LoopTree, MicrobatchesMayFallButMustMove) {
  StepList falling, standing;
  for (unsigned m = 0; m != 4; ++m) {
    falling.emplace_back(StepKind::B, 0, 9 - 3 * m);
    standing.emplace_back(StepKind::F, 0, 7);
    standing.emplace_back(StepKind::Unshard, 1, 0);
  }
  LoopTree tree = findLoops(falling);
  ASSERT_EQ(tree.roots.size(), 1u);
  EXPECT_EQ(tree.roots[0].growth, -3);
  expectSameSteps(expand(tree), falling);
  EXPECT_EQ(findLoops(standing).roots.size(), standing.size());
}

TEST(LoopTree, StepsWithoutMicrobatchRideAlong) {
  StepList list;
  for (unsigned m = 0; m != 6; ++m) {
    list.emplace_back(StepKind::Unshard, 2, 0);
    list.emplace_back(StepKind::F, 2, m);
    list.emplace_back(StepKind::Reshard, 2, 0);
  }
  LoopTree tree = findLoops(list);
  EXPECT_EQ(tree.roots.size(), 1u);
  expectSameSteps(expand(tree), list);
}

TEST(LoopTree, NestsForGroupsOfMicrobatches) {
  // Interleaved forwards: chunk by chunk in groups of four micro-batches.
  StepList list;
  for (unsigned group = 0; group != 8; ++group)
    for (unsigned chunk = 0; chunk != 2; ++chunk)
      for (unsigned m = 0; m != 4; ++m)
        list.emplace_back(StepKind::F, 4 * chunk, 4 * group + m);
  LoopTree tree = findLoops(list);
  EXPECT_EQ(tree.roots.size(), 1u);
  EXPECT_EQ(depth(tree, tree.roots), 2u);
  EXPECT_EQ(countGroups(tree, tree.roots), 2u);
  expectSameSteps(expand(tree), list);
}

TEST(LoopTree, GroupsStayWhole) {
  StepList list;
  for (unsigned m = 0; m != 7; ++m) {
    list.emplace_back(StepKind::F, 0, m + 3, 0, SourceLoc(), true);
    list.emplace_back(StepKind::B, 0, m);
  }
  // Equal kinds in different groups are not equal.
  list.emplace_back(StepKind::F, 0, 10);
  list.emplace_back(StepKind::B, 0, 7);
  LoopTree tree = findLoops(list);
  EXPECT_EQ(tree.roots.size(), 3u);
  expectSameSteps(expand(tree), list);
}

TEST(LoopTree, BubblesAreLeftOut) {
  StepList list = {Step(StepKind::F, 0, 0), Step(), Step(StepKind::F, 0, 1)};
  EXPECT_EQ(findLoops(list).roots.size(), 1u);
  EXPECT_TRUE(findLoops({}).roots.empty());
}

TEST(LoopTree, LoopsEndWithTheirPhase) {
  StepList list;
  for (unsigned m = 0; m != 8; ++m)
    list.emplace_back(StepKind::F, 0, m, m < 3 ? 0 : 1);
  LoopTree tree = findLoops(list);
  ASSERT_EQ(tree.roots.size(), 2u);
  EXPECT_EQ(tree.roots[0].rounds, 3u);
  EXPECT_EQ(tree.roots[1].rounds, 5u);
}

// Expanding the tree results in the original list.
TEST(LoopTree, ExpandsToItsList) {
  std::mt19937 random(7);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  for (unsigned round = 0; round != 3000; ++round) {
    StepList list;
    while (list.size() < 60) {
      // A random body, repeated with a random growth, with a random fault.
      StepList body;
      for (unsigned i = 0, n = 1 + below(5); i != n; ++i) {
        StepKind kind = StepKind(below(11));
        body.emplace_back(kind, below(2), hasUnit(kind) ? 20 + below(2) : 0);
      }
      int growth = int(below(3)) - 1;
      for (unsigned k = 0, n = 1 + below(6); k != n; ++k)
        for (Step step : body) {
          int m = hasUnit(step.kind()) ? int(step.unit()) + growth * int(k) : 0;
          if (below(40) == 0 && hasUnit(step.kind()))
            ++m;
          list.emplace_back(step.kind(), step.stage(), unsigned(m));
        }
    }
    LoopTree tree = findLoops(list);
    expectSameSteps(expand(tree), list);
    EXPECT_LE(depth(tree, tree.roots), maxLoopDepth);
  }
}

TEST(RankFamily, RanksThatDifferInNumbersShare) {
  std::vector<LoopTree> trees;
  for (unsigned rank = 0; rank != 4; ++rank) {
    StepList list;
    // Ranks 0 to 2 are equal except for numbers; rank 3 has no sends.
    for (unsigned m = 0; m != 6 - rank; ++m) {
      list.emplace_back(StepKind::F, rank, m);
      if (rank != 3)
        list.emplace_back(StepKind::SendF, rank, m);
    }
    trees.push_back(findLoops(list));
  }
  trees.push_back(findLoops({}));
  auto families = findFamilies(trees, [](Step) { return 0u; });
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "ranks0To2");
  EXPECT_EQ(families[1].name, "rank3");
  // The iterations and the stage differ, the micro-batch of the first iteration
  // does not.
  ASSERT_EQ(families[0].columnNames.size(), 2u);
  EXPECT_EQ(families[0].columnNames[0], "rounds");
  EXPECT_EQ(families[0].columns[0], (std::vector<int64_t>{6, 5, 4}));
  EXPECT_EQ(families[0].columnNames[1], "stage");
  EXPECT_TRUE(families[1].columns.empty());
}

} // namespace
