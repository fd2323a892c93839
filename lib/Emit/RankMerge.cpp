//===- RankMerge.cpp - Loops that some ranks of a function skip -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks whose trees differ in a few places share a function if what only some
// of them run is in loops, which others run once or not at all:
//
//   rank 1                 rank 2                 both, with the rounds of each
//   3 rounds of { F }      2 rounds of { F }      3, 2 rounds of { F }
//   I W                    I W I W (2 rounds)     1, 2 rounds of { I W }
//                          B                      0, 1 rounds of { B }
//
// Two trees are aligned as sequences (Needleman and Wunsch, "A general method
// applicable to the search for similarities", 1970), and so are the bodies of
// two loops with the same growth. The cost is the number of lines that one of
// the ranks does not run. Trees are merged if that is a small part of their
// lines. Large trees, which have no loops to speak of, remain, and a tree is
// compared with the last few others, so that the time is linear in the steps.
// Short trees, and the trees of few ranks, are clearer apart.
//
//===----------------------------------------------------------------------===//

#include "Emit/RankFamily.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace pipec {

namespace {

/// The largest number of nodes of a tree that is compared.
constexpr size_t maxNodes = 512;
/// The number of functions that a tree is compared with.
constexpr size_t maxTried = 8;
/// The part of a tree's lines that a merged function may have in addition.
constexpr size_t addedOf4 = 3;

/// The fewest ranks of a schedule, and lines of a tree, that is merged.
constexpr size_t minRanks = 8, minLines = 40;

/// The part of a node that is compared.
struct Shape {
  /// Equal for nodes that differ in numbers alone.
  uint32_t number = 0;
  size_t lines = 1;
  /// Of a loop.
  int32_t growth = 0;
  std::vector<Shape> body;
};

/// What becomes of the next nodes of both lists.
struct Move {
  enum Sort : uint8_t {
    None,
    /// Both have the node.
    Both,
    /// A loop of both, with bodies that differ.
    BothLoops,
    /// A loop on one side, and one round of it on the other.
    LeftLoop,
    RightLoop,
    OnlyLeft,
    OnlyRight,
  };
  Sort sort = None;
  /// The numbers of nodes.
  size_t left = 0, right = 0;
  /// Of the bodies of `BothLoops`.
  std::vector<Move> inner = {};
};

struct Alignment {
  size_t cost = SIZE_MAX;
  std::vector<Move> moves;
};

class Merger {
public:
  Merger(std::vector<LoopTree> &trees, LineOf lineOf)
      : trees(trees), lineOf(lineOf) {}

  void run();

private:
  /// Ranks with equal shapes.
  struct Group {
    std::vector<unsigned> ranks;
    std::vector<Shape> shapes;
  };

  std::vector<Shape> describe(const LoopTree &tree, ArrayRef<LoopNode> nodes);
  bool merge(Group &left, const Group &right);

  std::vector<LoopTree> &trees;
  LineOf lineOf;
  std::map<std::vector<uint64_t>, uint32_t> known;
};

} // namespace

std::vector<Shape> Merger::describe(const LoopTree &tree,
                                    ArrayRef<LoopNode> nodes) {
  std::vector<Shape> shapes;
  for (const LoopNode &node : nodes) {
    std::vector<uint64_t> text;
    describeShape(tree, node, lineOf, text);
    Shape &shape = shapes.emplace_back();
    shape.number =
        known.try_emplace(std::move(text), known.size()).first->second;
    if (!node.isLoop())
      continue;
    shape.growth = node.growth;
    shape.body = describe(tree, tree.body(node));
    for (const Shape &inner : shape.body)
      shape.lines += inner.lines;
  }
  return shapes;
}

/// True if the nodes from `at` on are one round of the body of `loop`.
static bool isRound(const Shape &loop, ArrayRef<Shape> nodes, size_t at) {
  size_t size = loop.body.size();
  return size != 0 && size <= nodes.size() - at &&
         llvm::equal(loop.body, nodes.slice(at, size),
                     [](const Shape &a, const Shape &b) {
                       return a.number == b.number;
                     });
}

/// The moves from the first nodes to the last with the lowest cost. `depth` is
/// the number of loops around them.
static Alignment align(ArrayRef<Shape> left, ArrayRef<Shape> right,
                       unsigned depth) {
  size_t rows = left.size() + 1, columns = right.size() + 1;
  std::vector<Alignment> cells(rows * columns);
  cells[0].cost = 0;
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j) {
      size_t cost = cells[i * columns + j].cost;
      if (cost == SIZE_MAX)
        continue;
      auto go = [&](Move move, size_t more) {
        Alignment &to = cells[(i + move.left) * columns + j + move.right];
        if (more != SIZE_MAX && cost + more < to.cost)
          to = {cost + more, {std::move(move)}};
      };
      bool leftHas = i + 1 != rows, rightHas = j + 1 != columns;
      if (leftHas && rightHas) {
        const Shape &a = left[i], &b = right[j];
        if (a.number == b.number)
          go({Move::Both, 1, 1}, 0);
        else if (a.growth == b.growth && !a.body.empty() && !b.body.empty()) {
          Alignment bodies = align(a.body, b.body, depth + 1);
          go({Move::BothLoops, 1, 1, std::move(bodies.moves)}, bodies.cost);
        }
        if (isRound(a, right, j))
          go({Move::LeftLoop, 1, a.body.size()}, 1);
        if (isRound(b, left, i))
          go({Move::RightLoop, b.body.size(), 1}, 1);
      }
      // A node that only one has is in a loop.
      bool mayNest = depth < maxLoopDepth;
      if (leftHas && (mayNest || !left[i].body.empty()))
        go({Move::OnlyLeft, 1, 0}, left[i].lines + 1);
      if (rightHas && (mayNest || !right[j].body.empty()))
        go({Move::OnlyRight, 0, 1}, right[j].lines + 1);
    }
  Alignment best{cells.back().cost, {}};
  if (best.cost == SIZE_MAX)
    return best;
  for (size_t i = rows - 1, j = columns - 1; i + j != 0;) {
    Move &move = cells[i * columns + j].moves.front();
    i -= move.left;
    j -= move.right;
    best.moves.push_back(std::move(move));
  }
  std::reverse(best.moves.begin(), best.moves.end());
  return best;
}

/// A copy of a node of another tree.
static LoopNode copyOf(const LoopTree &from, LoopNode node, LoopTree &to) {
  if (!node.isLoop()) {
    uint32_t begin = to.steps.size();
    ArrayRef<Step> group = from.group(node);
    if (!to.others.empty())
      to.others.insert(to.others.end(), from.others.begin() + node.begin,
                       from.others.begin() + node.begin + node.size);
    to.steps.insert(to.steps.end(), group.begin(), group.end());
    node.begin = begin;
    return node;
  }
  std::vector<LoopNode> body;
  for (const LoopNode &inner : from.body(node))
    body.push_back(copyOf(from, inner, to));
  node.begin = to.children.size();
  to.children.insert(to.children.end(), body.begin(), body.end());
  return node;
}

/// A loop over `nodes` with the rounds and the growth of `like`.
static LoopNode loopOver(LoopTree &tree, ArrayRef<LoopNode> nodes,
                         LoopNode like) {
  like.begin = tree.children.size();
  like.size = nodes.size();
  like.repeats = true;
  tree.children.insert(tree.children.end(), nodes.begin(), nodes.end());
  return like;
}

/// The nodes of `tree`, the one on the left or on the right, after the moves.
/// `theirs` are nodes of `other`, a tree of the other side.
static std::vector<LoopNode> applied(ArrayRef<Move> moves, bool isLeft,
                                     LoopTree &tree, std::vector<LoopNode> mine,
                                     const LoopTree &other,
                                     ArrayRef<LoopNode> theirs) {
  std::vector<LoopNode> result;
  size_t at = 0, otherAt = 0;
  for (size_t k = 0, next; k != moves.size(); k = next) {
    const Move &move = moves[k];
    next = k + 1;
    size_t size = isLeft ? move.left : move.right;
    size_t otherSize = isLeft ? move.right : move.left;
    switch (move.sort) {
    case Move::None:
      llvm_unreachable("a path has moves");
    case Move::Both:
      result.push_back(mine[at]);
      break;
    case Move::BothLoops: {
      std::vector<LoopNode> body = tree.body(mine[at]).vec();
      body = applied(move.inner, isLeft, tree, std::move(body), other,
                     other.body(theirs[otherAt]));
      result.push_back(loopOver(tree, body, mine[at]));
      break;
    }
    case Move::LeftLoop:
    case Move::RightLoop: {
      if (size == 1 && mine[at].isLoop() &&
          isLeft == (move.sort == Move::LeftLoop)) {
        result.push_back(mine[at]);
        break;
      }
      LoopNode once = theirs[otherAt];
      once.rounds = 1;
      result.push_back(loopOver(tree, ArrayRef(mine).slice(at, size), once));
      break;
    }
    case Move::OnlyLeft:
    case Move::OnlyRight: {
      // Steps in a row that only one side runs are one loop.
      bool isMine = isLeft == (move.sort == Move::OnlyLeft);
      ArrayRef<LoopNode> from = isMine ? ArrayRef(mine) : theirs;
      size_t begin = isMine ? at : otherAt, count = 1;
      if (!from[begin].isLoop())
        for (; next != moves.size() && moves[next].sort == move.sort &&
               !from[begin + count].isLoop();
             ++next)
          ++count;
      std::vector<LoopNode> nodes = from.slice(begin, count).vec();
      if (!isMine)
        for (LoopNode &node : nodes)
          node = copyOf(other, node, tree);
      LoopNode loop = nodes.front();
      if (!loop.isLoop())
        loop = loopOver(tree, nodes, {0, 0, /*rounds=*/1, /*growth=*/1});
      if (!isMine)
        loop.rounds = 0;
      loop.optional = true;
      result.push_back(loop);
      size = isMine ? count : 0;
      otherSize = isMine ? 0 : count;
      break;
    }
    }
    at += size;
    otherAt += otherSize;
  }
  return result;
}

bool Merger::merge(Group &left, const Group &right) {
  size_t lines = 0;
  for (const Shape &shape : right.shapes)
    lines += shape.lines;
  if (lines < minLines)
    return false;
  Alignment found = align(left.shapes, right.shapes, /*depth=*/0);
  if (found.cost == SIZE_MAX || found.cost * 4 > lines * addedOf4)
    return false;
  const LoopTree leftTree = trees[left.ranks.front()];
  const LoopTree rightTree = trees[right.ranks.front()];
  auto apply = [&](ArrayRef<unsigned> ranks, bool isLeft,
                   const LoopTree &other) {
    for (unsigned rank : ranks)
      trees[rank].roots = applied(found.moves, isLeft, trees[rank],
                                  trees[rank].roots, other, other.roots);
  };
  apply(left.ranks, /*isLeft=*/true, rightTree);
  apply(right.ranks, /*isLeft=*/false, leftTree);
  llvm::append_range(left.ranks, right.ranks);
  const LoopTree &first = trees[left.ranks.front()];
  left.shapes = describe(first, first.roots);
  return true;
}

void Merger::run() {
  std::map<std::vector<uint64_t>, size_t> places;
  std::vector<Group> groups;
  for (unsigned rank = 0; rank != trees.size(); ++rank) {
    const LoopTree &tree = trees[rank];
    if (tree.roots.empty() ||
        tree.roots.size() + tree.children.size() > maxNodes)
      continue;
    std::vector<uint64_t> text;
    describeShape(tree, tree.roots, lineOf, text);
    auto [it, isNew] = places.try_emplace(std::move(text), groups.size());
    if (isNew)
      groups.push_back({{}, describe(tree, tree.roots)});
    groups[it->second].ranks.push_back(rank);
  }
  std::vector<Group> merged;
  for (Group &group : groups) {
    auto tried = reverse(MutableArrayRef(merged).take_back(maxTried));
    if (none_of(tried, [&](Group &left) { return merge(left, group); }))
      merged.push_back(std::move(group));
  }
}

void mergeTrees(std::vector<LoopTree> &trees, LineOf lineOf) {
  if (trees.size() >= minRanks)
    Merger(trees, lineOf).run();
}

} // namespace pipec
