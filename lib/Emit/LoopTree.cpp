//===- LoopTree.cpp - Repetitions in a list of steps ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One level of folding processes a list of items from left to right: first the
// groups of the list, then the groups and loops of the previous level. Every
// item has a shape, a hash of everything that must be equal in every iteration,
// and a base, the micro-batch of its first step that has one. An item without a
// base inherits that of the previous item.
//
// Let delta be the difference of adjacent bases. A body of L items at i is
// repeated at i + L exactly if the shapes of both ranges are equal, and so are
// the deltas after the first item that has a base. Ranges are compared through
// prefix sums of a polynomial hash, in constant time. Candidates for L are the
// distances to further occurrences of the pair (shape, next shape, delta
// between) of item i, smallest first: at most `maxCandidates` of them, and none
// longer than the longest body, so that a level remains linear. The first L
// that fits is used, with as many iterations as there are, and the scan
// continues after them. The first level finds short bodies alone: where a long
// one is repeated, the loops within it are found first.
//
//===----------------------------------------------------------------------===//

#include "Emit/LoopTree.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace pipec {

namespace {

/// The maximum number of occurrences of a pair that are tried.
constexpr unsigned maxCandidates = 512;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

/// The maximum length of a body of the first level, in items. A long body has
/// loops in it, which must be found before it is.
constexpr unsigned maxInnerBody = 32;

/// A node during folding.
struct Item {
  LoopNode node;
  uint64_t shape = 0;
  int64_t base = 0;
  bool hasBase = false;
};

/// Prefix sums of a polynomial hash modulo 2^61 - 1.
class StretchHash {
public:
  void build(ArrayRef<uint64_t> values) {
    sums.assign(values.size() + 1, 0);
    powers.assign(values.size() + 1, 1);
    for (size_t i = 0; i != values.size(); ++i) {
      sums[i + 1] = add(multiply(sums[i], factor), values[i] % modulus);
      powers[i + 1] = multiply(powers[i], factor);
    }
  }
  uint64_t of(size_t begin, size_t end) const {
    return add(sums[end], modulus - multiply(sums[begin], powers[end - begin]));
  }
  bool equal(size_t a, size_t b, size_t size) const {
    return of(a, a + size) == of(b, b + size);
  }

private:
  static constexpr uint64_t modulus = (1ull << 61) - 1;
  static constexpr uint64_t factor = 0x1234567890abcdefull % modulus;
  static uint64_t add(uint64_t a, uint64_t b) {
    uint64_t sum = a + b;
    return sum >= modulus ? sum - modulus : sum;
  }
  static uint64_t multiply(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t low = uint64_t(product & modulus);
    return add(low, uint64_t(product >> 61));
  }

  std::vector<uint64_t> sums;
  std::vector<uint64_t> powers;
};

/// Folds one level.
class LevelFolder {
public:
  LevelFolder(std::vector<Item> items, size_t maxLength,
              std::vector<LoopNode> &children)
      : items(std::move(items)), maxLength(maxLength), children(children) {}

  std::vector<Item> run();
  bool foundAny() const { return found; }

private:
  void prepare();
  /// The number of iterations of a body of `length` items at `begin`; 1 if it
  /// is not repeated.
  size_t countRounds(size_t begin, size_t length) const;
  bool repeats(size_t begin, size_t length) const;
  Item makeLoop(size_t begin, size_t length, size_t rounds);
  size_t findLength(size_t begin) const;

  int64_t delta(size_t i) const {
    return i == 0 ? 0 : items[i].base - items[i - 1].base;
  }
  size_t distanceToBase(size_t i) const { return withBase[i] - i; }

  std::vector<Item> items;
  size_t maxLength;
  std::vector<LoopNode> &children;
  StretchHash shapes;
  /// Shapes with the delta to the previous item.
  StretchHash steps;
  /// The first item at or after each item that has a base of its own.
  std::vector<size_t> withBase;
  /// The next item that begins an equal pair, or the size of the list.
  std::vector<size_t> nextPair;
  bool found = false;
};

void LevelFolder::prepare() {
  size_t n = items.size();
  std::vector<uint64_t> shapeValues(n), stepValues(n);
  for (size_t i = 0; i != n; ++i) {
    if (!items[i].hasBase && i != 0)
      items[i].base = items[i - 1].base;
    shapeValues[i] = items[i].shape;
    stepValues[i] = mix(items[i].shape, uint64_t(delta(i)));
  }
  shapes.build(shapeValues);
  steps.build(stepValues);

  withBase.assign(n + 1, n);
  nextPair.assign(n, n);
  DenseMap<uint64_t, size_t> last;
  for (size_t i = n; i-- != 0;) {
    withBase[i] = items[i].hasBase ? i : withBase[i + 1];
    uint64_t pair = items[i].shape;
    if (i + 1 != n)
      pair = mix(mix(pair, items[i + 1].shape),
                 items[i].hasBase ? uint64_t(delta(i + 1)) : 0);
    // The map reserves two values.
    pair >>= 2;
    auto [it, isNew] = last.try_emplace(pair, i);
    if (!isNew) {
      nextPair[i] = it->second;
      it->second = i;
    }
  }
}

/// True if the body at `begin` is repeated directly after itself, with any
/// growth.
bool LevelFolder::repeats(size_t begin, size_t length) const {
  size_t other = begin + length;
  size_t head = distanceToBase(begin) + 1; // up to and including the first base
  return head <= length && shapes.equal(begin, other, head) &&
         steps.equal(begin + head, other + head, length - head);
}

size_t LevelFolder::countRounds(size_t begin, size_t length) const {
  auto base = [&](size_t round) {
    return items[withBase[begin] + round * length].base;
  };
  size_t rounds = 1;
  while (begin + (rounds + 1) * length <= items.size() &&
         repeats(begin + (rounds - 1) * length, length)) {
    int64_t growth = base(rounds) - base(rounds - 1);
    if (growth == 0 || growth != base(1) - base(0))
      break;
    ++rounds;
  }
  return rounds;
}

/// The length of the smallest body at `begin` that is repeated; 0 if there is
/// none.
size_t LevelFolder::findLength(size_t begin) const {
  if (begin + 2 <= items.size() && countRounds(begin, 1) > 1)
    return 1;
  size_t candidate = nextPair[begin];
  for (unsigned tries = 0; tries != maxCandidates; ++tries) {
    size_t length = candidate - begin;
    if (candidate == items.size() || length > maxLength ||
        begin + 2 * length > items.size())
      return 0;
    if (countRounds(begin, length) > 1)
      return length;
    candidate = nextPair[candidate];
  }
  return 0;
}

Item LevelFolder::makeLoop(size_t begin, size_t length, size_t rounds) {
  Item loop;
  size_t first = withBase[begin];
  int64_t growth = items[first + length].base - items[first].base;
  loop.node = {uint32_t(children.size()), uint32_t(length), uint32_t(rounds),
               int32_t(growth), /*repeats=*/true};
  loop.shape = mix(mix(0x100b, rounds), uint64_t(growth));
  for (size_t i = begin; i != begin + length; ++i) {
    children.push_back(items[i].node);
    loop.shape = mix(loop.shape, items[i].shape);
    if (i > first)
      loop.shape = mix(loop.shape, uint64_t(delta(i)));
  }
  loop.base = items[first].base;
  loop.hasBase = true;
  return loop;
}

std::vector<Item> LevelFolder::run() {
  prepare();
  std::vector<Item> result;
  for (size_t i = 0; i != items.size();) {
    size_t length = findLength(i);
    if (length == 0) {
      result.push_back(items[i++]);
      continue;
    }
    size_t rounds = countRounds(i, length);
    result.push_back(makeLoop(i, length, rounds));
    i += length * rounds;
    found = true;
  }
  return result;
}

Item makeGroup(ArrayRef<Step> list, size_t begin, size_t end) {
  Item item;
  item.node = {uint32_t(begin), uint32_t(end - begin), 0, 0};
  item.shape = mix(0x57e9, list[begin].phase());
  for (Step step : list.slice(begin, end - begin)) {
    item.shape =
        mix(item.shape, uint64_t(step.kind()) << 32 |
                            uint64_t(step.joined()) << 24 | step.stage());
    item.shape = mix(item.shape, step.port());
    if (!hasUnit(step.kind()))
      continue;
    if (!item.hasBase) {
      item.hasBase = true;
      item.base = step.unit();
    }
    item.shape = mix(item.shape, uint64_t(step.unit() - item.base));
  }
  return item;
}

} // namespace

void LoopTree::nameOthers(const DataFlow &flow) {
  if (flow.isChain())
    return;
  others.assign(steps.size(), chainStep);
  for (const auto &[step, other] : zip_equal(steps, others))
    if (std::optional<unsigned> stage = flow.otherStage(step))
      other = *stage;
}

StepList stepsToWrite(ArrayRef<Step> list) {
  StepList out;
  out.reserve(list.size());
  for (Step step : list)
    if (step.kind() != StepKind::Bubble)
      out.push_back(step);
  const Step *before = nullptr;
  for (size_t i = 0; i != out.size(); ++i) {
    if (isCompute(out[i].kind())) {
      before = &out[i];
      continue;
    }
    size_t end = i, firstOfNext = i;
    for (; end != out.size() && !isCompute(out[end].kind()); ++end) {
      StepKind kind = out[end].kind();
      if (isSend(kind) || kind == StepKind::Reshard ||
          kind == StepKind::ReduceGrad || streamOf(kind) == Stream::Tied ||
          streamOf(kind) == Stream::Out || kind == StepKind::WaitOffload)
        firstOfNext = end + 1;
    }
    // A batch counts as one step.
    while (firstOfNext != i && firstOfNext != end &&
           out[firstOfNext - 1].joined())
      ++firstOfNext;
    const Step *after = end == out.size() ? before : &out[end];
    for (size_t k = i; k != end; ++k) {
      // Copies are where the program or a pass has put them.
      if (objectOf(stateBefore(out[k].kind())) == Object::Copy)
        continue;
      if (const Step *like = k < firstOfNext && before ? before : after) {
        out[k].setPhase(like->phase());
        out[k].setSource(like->source());
      }
    }
    i = end - 1;
  }
  return out;
}

LoopTree findLoops(ArrayRef<Step> list) {
  LoopTree tree;
  tree.steps = stepsToWrite(list);

  std::vector<Item> items;
  for (size_t i = 0; i != tree.steps.size();) {
    size_t end = Schedule::groupEnd(tree.steps, i);
    items.push_back(makeGroup(tree.steps, i, end));
    i = end;
  }
  for (unsigned level = 0; level != maxLoopDepth; ++level) {
    bool isFirst = level == 0;
    LevelFolder folder(std::move(items), isFirst ? maxInnerBody : maxLoopBody,
                       tree.children);
    items = folder.run();
    if (!folder.foundAny() && !isFirst)
      break;
  }
  tree.roots.reserve(items.size());
  for (const Item &item : items)
    tree.roots.push_back(item.node);
  return tree;
}

} // namespace pipec
