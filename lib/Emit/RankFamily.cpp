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

void describeShape(const LoopTree &tree, ArrayRef<LoopNode> nodes,
                   LineOf lineOf, std::vector<uint64_t> &out) {
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

namespace {

std::string familyName(ArrayRef<unsigned> ranks) {
  std::string first = std::to_string(ranks.front());
  if (ranks.size() == 1)
    return "rank" + first;
  bool run = ranks.back() - ranks.front() + 1 == ranks.size();
  return run ? "ranks" + first + "To" + std::to_string(ranks.back())
             : "ranksLike" + first;
}

/// The names of columns, by NumberRole.
constexpr StringLiteral columnWords[] = {"stage", "first", "other", "rounds"};

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
  unsigned used[std::size(columnWords)] = {};
  family.numbers.resize(roles.size());
  std::map<std::vector<int64_t>, int> known;
  auto fits = [](ArrayRef<int64_t> values, ArrayRef<int64_t> wanted) {
    return all_of(zip_equal(values, wanted), [](auto pair) {
      return std::get<1>(pair) == anyNumber ||
             std::get<0>(pair) == std::get<1>(pair);
    });
  };
  auto add = [&](size_t i, std::vector<int64_t> values) {
    auto [it, isNew] = known.try_emplace(values, int(family.columns.size()));
    if (isNew) {
      auto role = unsigned(roles[i]);
      unsigned number = ++used[role];
      family.columnNames.push_back(columnWords[role].str() +
                                   (number == 1 ? "" : std::to_string(number)));
      family.columns.push_back(std::move(values));
    }
    family.numbers[i] = {family.columns[it->second].front(), it->second};
  };
  // Columns with numbers that may be anything come last, so that they can be
  // the same as other columns.
  for (bool complete : {true, false})
    for (size_t i = 0; i != roles.size(); ++i) {
      std::vector<int64_t> column;
      for (const std::vector<int64_t> &numbers : perRank)
        column.push_back(numbers[i]);
      if (complete == is_contained(column, anyNumber))
        continue;
      auto some =
          find_if(column, [](int64_t number) { return number != anyNumber; });
      int64_t first = some == column.end() ? 0 : *some;
      if (all_of(column, [&](int64_t number) {
            return number == first || number == anyNumber;
          })) {
        family.numbers[i] = {first, -1};
        continue;
      }
      auto same = find_if(family.columns, [&](ArrayRef<int64_t> values) {
        return !complete && fits(values, column);
      });
      if (same != family.columns.end())
        column = *same;
      std::replace(column.begin(), column.end(), anyNumber, first);
      add(i, std::move(column));
    }
}

} // namespace

std::vector<RankFamily> findFamilies(ArrayRef<LoopTree> trees, LineOf lineOf) {
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

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {

/// Builds a body in order.
class BodyMaker {
public:
  BodyMaker(const LoopTree &tree, LineOf lineOf) : tree(tree), lineOf(lineOf) {}

  FamilyBody run() {
    body.numRoots = tree.roots.size();
    addNodes(tree.roots, 0, 0);
    return std::move(body);
  }

private:
  uint32_t addNodes(ArrayRef<LoopNode> nodes, unsigned depth, uint32_t parent);
  void addLoop(uint32_t at, const LoopNode &loop);
  void addGroup(uint32_t at, const LoopNode &node);
  void fillStep(BodyNode &node, uint32_t index);
  /// The common line of all steps in `nodes`; nothing if they differ.
  std::optional<unsigned> commonLine(ArrayRef<LoopNode> nodes) const;
  void setLine(BodyNode &node, unsigned newLine) {
    node.line = newLine;
    node.startsLine = line != newLine;
    line = newLine;
  }

  const LoopTree &tree;
  LineOf lineOf;
  FamilyBody body;
  uint32_t numbers = 0;
  std::optional<unsigned> phase;
  /// The line of the preceding step; nothing at the start of a body with
  /// several lines.
  std::optional<unsigned> line = 0;
};

} // namespace

std::optional<unsigned> BodyMaker::commonLine(ArrayRef<LoopNode> nodes) const {
  std::optional<unsigned> common;
  for (const LoopNode &node : nodes) {
    if (node.isLoop()) {
      std::optional<unsigned> inner = commonLine(tree.body(node));
      if (!inner || (common && *common != *inner))
        return std::nullopt;
      common = inner;
      continue;
    }
    for (Step step : tree.group(node)) {
      unsigned line = lineOf(step);
      if (common && *common != line)
        return std::nullopt;
      common = line;
    }
  }
  return common;
}

uint32_t BodyMaker::addNodes(ArrayRef<LoopNode> nodes, unsigned depth,
                             uint32_t parent) {
  uint32_t begin = body.nodes.size();
  body.nodes.resize(begin + nodes.size());
  for (size_t i = 0; i != nodes.size(); ++i) {
    LoopNode leaf = nodes[i];
    while (leaf.isLoop())
      leaf = tree.body(leaf).front();
    BodyNode &node = body.nodes[begin + i];
    node.depth = depth;
    node.parent = parent;
    node.phase = tree.group(leaf).front().phase();
    node.startsPhase = phase != node.phase;
    phase = node.phase;
    if (nodes[i].isLoop())
      addLoop(begin + i, nodes[i]);
    else
      addGroup(begin + i, nodes[i]);
  }
  return begin;
}

void BodyMaker::addLoop(uint32_t at, const LoopNode &loop) {
  BodyNode &node = body.nodes[at];
  node.sort = BodyNode::Loop;
  node.size = loop.size;
  node.number = numbers++;
  node.growth = loop.growth;
  unsigned depth = node.depth;
  if (std::optional<unsigned> common = commonLine(tree.body(loop))) {
    setLine(node, *common);
  } else {
    node.line = BodyNode::noLine;
    line.reset();
  }
  uint32_t begin = addNodes(tree.body(loop), depth + 1, at);
  // A rank may come from the lines before it.
  if (loop.optional && body.nodes[at].line == BodyNode::noLine)
    line.reset();
  body.nodes[at].begin = begin;
}

void BodyMaker::fillStep(BodyNode &node, uint32_t index) {
  node.sort = BodyNode::Step;
  node.begin = index;
  node.number = numbers;
  numbers += hasUnit(tree.steps[index].kind()) ? 2 : 1;
  numbers += tree.namesOther(index);
}

void BodyMaker::addGroup(uint32_t at, const LoopNode &group) {
  BodyNode &node = body.nodes[at];
  setLine(node, lineOf(tree.steps[group.begin]));
  if (group.size == 1)
    return fillStep(node, group.begin);
  node.sort = BodyNode::Group;
  node.begin = body.nodes.size();
  node.size = group.size;
  BodyNode member = node;
  member.startsLine = member.startsPhase = false;
  for (uint32_t i = 0; i != group.size; ++i) {
    member.line = lineOf(tree.steps[group.begin + i]);
    fillStep(member, group.begin + i);
    body.nodes.push_back(member);
  }
}

FamilyBody makeFamilyBody(const LoopTree &tree, LineOf lineOf) {
  return BodyMaker(tree, lineOf).run();
}

} // namespace pipec
