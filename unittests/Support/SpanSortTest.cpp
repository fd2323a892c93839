//===- SpanSortTest.cpp - SpanSort against std::stable_sort ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/SpanSort.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace pipec;

namespace {

template <typename Key> struct Item {
  Key first;
  Key second;
  uint32_t number;
  friend bool operator==(const Item &, const Item &) = default;
};

/// Sorts `items` with both algorithms.
template <typename Key> void expectSorted(std::vector<Item<Key>> items) {
  for (uint32_t i = 0; i != items.size(); ++i)
    items[i].number = i;
  std::vector<Item<Key>> expected = items, sorted(items.size());
  std::stable_sort(
      expected.begin(), expected.end(), [](const auto &a, const auto &b) {
        return std::pair(a.first, a.second) < std::pair(b.first, b.second);
      });
  spanSort<Item<Key>>(
      items, sorted, [](const Item<Key> &item) { return item.first; },
      [](const Item<Key> &item) { return item.second; });
  ASSERT_EQ(sorted, expected);
}

template <typename Key> void testSizesAndValues() {
  std::mt19937 rng(7);
  constexpr Key most = std::numeric_limits<Key>::max();
  for (size_t size : {0, 1, 2, 16, 17, 100, 1000, 300000}) {
    for (Key bound : {Key(0), Key(1), Key(30), Key(100000), most}) {
      std::uniform_int_distribution<Key> value(0, bound);
      // The order is random; one key may be equal for all items; a few keys are
      // far away from the rest, so that some spans have many items.
      for (int shape = 0; shape != 3; ++shape) {
        std::vector<Item<Key>> items(size);
        for (Item<Key> &item : items) {
          item = {value(rng), value(rng), 0};
          if (shape == 1)
            item.first = bound;
          if (shape == 2)
            item.first = rng() % 50 == 0 ? most - item.first : item.first / 7;
        }
        expectSorted(std::move(items));
      }
    }
  }
}

} // namespace

TEST(SpanSort, EqualsStableSort) {
  testSizesAndValues<uint32_t>();
  testSizesAndValues<uint64_t>();
}

// Powers of two: all spans except the last one are empty at each level.
TEST(SpanSort, ValuesThatKeepToOneSpan) {
  std::vector<Item<uint64_t>> items;
  for (int round = 0; round != 300; ++round)
    for (unsigned bit = 0; bit != 64; ++bit)
      items.push_back({uint64_t(1) << (63 - bit), uint64_t(round % 3), 0});
  expectSorted(std::move(items));
}
