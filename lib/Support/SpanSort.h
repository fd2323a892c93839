//===- SpanSort.h - Sorting data that is nearly sorted ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This is a bucket sort (Knuth, "The Art of Computer Programming", 5.2.5). The
// range of the first key that differs is divided into equal spans, a quarter as
// many as there are items, and each item is appended to its span. Spans with
// few items are sorted by insertion, the others recursively. Input that is
// nearly sorted, for example the concatenation of sorted lists, is written
// nearly sequentially, which suits the cache.
//
// Takes time linear in the number of items and keys if the values are spread
// evenly. Items that fall into one span are distributed again over spans that
// are smaller by that factor, so there are at most as many rounds as a key has
// bits.
//
// With std::stable_sort a whole run with `insert-p2p{order=timed}` takes 1.2
// times as long (benchmarks/README.md).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace pipec {

template <typename T, typename... Keys>
void spanSort(llvm::MutableArrayRef<T> from, llvm::MutableArrayRef<T> to,
              const Keys &...keys);

namespace detail {

/// Sorts by insertion. `from` may equal `to`.
template <typename T, typename... Keys>
void insertionSort(llvm::ArrayRef<T> from, llvm::MutableArrayRef<T> to,
                   const Keys &...keys) {
  auto less = [&](const T &a, const T &b) {
    return std::tuple(keys(a)...) < std::tuple(keys(b)...);
  };
  for (size_t i = 0; i != from.size(); ++i) {
    T item = from[i];
    size_t k = i;
    for (; k != 0 && less(item, to[k - 1]); --k)
      to[k] = to[k - 1];
    to[k] = item;
  }
}

/// Up to this number of items are sorted by insertion.
inline constexpr size_t fewItems = 16;

/// Distributes the items over spans of `key`, and sorts each span by `keys`.
/// Does nothing and returns false if `key` is equal for all items.
template <typename T, typename Key, typename... Keys>
bool sortBySpansOf(const Key &key, llvm::MutableArrayRef<T> from,
                   llvm::MutableArrayRef<T> to, const Keys &...keys) {
  auto low = key(from[0]), high = low;
  for (const T &item : from) {
    low = std::min(low, key(item));
    high = std::max(high, key(item));
  }
  if (low == high)
    return false;
  constexpr size_t maxSpans = size_t(1)
                              << 16; // so that their places fit a cache
  size_t spans = std::min(llvm::bit_ceil(from.size()) / 4, maxSpans);
  unsigned shift = 0;
  while ((high - low) >> shift >= spans)
    ++shift;
  auto spanOf = [&](const T &item) {
    return size_t((key(item) - low) >> shift);
  };

  std::vector<uint32_t> places(size_t((high - low) >> shift) + 2);
  for (const T &item : from)
    ++places[spanOf(item) + 1];
  uint32_t most = 0;
  for (size_t span = 1; span != places.size(); ++span) {
    most = std::max(most, places[span]);
    places[span] += places[span - 1];
  }
  for (const T &item : from)
    to[places[spanOf(item)]++] = item;

  if (most <= fewItems) {
    insertionSort<T>(to, to, keys...);
    return true;
  }
  // Now each entry of `places` is the end of its span.
  for (size_t span = 0, begin = 0; span + 1 != places.size(); ++span) {
    size_t size = places[span] - begin;
    spanSort(to.slice(begin, size), from.slice(begin, size), keys...);
    llvm::copy(from.slice(begin, size), to.begin() + begin);
    begin = places[span];
  }
  return true;
}

} // namespace detail

/// Moves `from` into `to`, which has the same size, sorted by `keys` in
/// lexicographic order. The sort is stable. A key takes an item and returns an
/// unsigned number. The contents of `from` are destroyed. There may be fewer
/// than 2^32 items.
template <typename T, typename... Keys>
void spanSort(llvm::MutableArrayRef<T> from, llvm::MutableArrayRef<T> to,
              const Keys &...keys) {
  if (from.size() <= detail::fewItems)
    detail::insertionSort<T>(from, to, keys...);
  else if (!(detail::sortBySpansOf(keys, from, to, keys...) || ...))
    llvm::copy(from, to.begin());
}

} // namespace pipec
