//===- FamilyBody.cpp - The steps that the ranks of a family run ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/FamilyBody.h"

using namespace llvm;

namespace pipec {

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
  body.nodes[at].begin = begin;
}

void BodyMaker::fillStep(BodyNode &node, uint32_t index) {
  node.sort = BodyNode::Step;
  node.begin = index;
  node.number = numbers;
  numbers += hasMicrobatch(tree.steps[index].kind()) ? 2 : 1;
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
