//===- SpanSort.h - Sorting what is nearly in order -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of the first key that differs are cut into equal spans, a quarter
// as many as there are items, and each item goes after those of its span
// (bucket sort; Knuth, "The Art of Computer Programming", 5.2.5). Spans of few
// items are put in order by insertion, those of many by the same again. What
// comes nearly in order, as several lists that are each in order do, is also
// written nearly in order, so that a cache holds what is being written.
//
// Linear in the items and the number of keys when the values are spread; items
// that crowd into one span are gone through again, with spans that many times
// smaller, so never more often than a key has bits.
//
// With std::stable_sort a whole run with `insert-p2p{order=timed}` takes 1.2
// times as long (benchmarks/README.md).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_SPANSORT_H
#define PIPEC_SUPPORT_SPANSORT_H

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

/// Moves each item to its place among those before it. `from` can be `to`.
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

/// So many items are sorted by insertion.
inline constexpr size_t fewItems = 16;

/// Sorts by spans of `key`, and within them by `keys`; does nothing and returns
/// false when `key` is equal for all.
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
  // Now the place of each span is its end.
  for (size_t span = 0, begin = 0; span + 1 != places.size(); ++span) {
    size_t size = places[span] - begin;
    spanSort(to.slice(begin, size), from.slice(begin, size), keys...);
    llvm::copy(from.slice(begin, size), to.begin() + begin);
    begin = places[span];
  }
  return true;
}

} // namespace detail

/// Moves `from` into `to`, which is as large, sorted by the first of `keys`,
/// those that are equal by the next one, and so on; what is equal in all keeps
/// its order. A key takes an item and returns an unsigned number. `from` is
/// lost. Fewer than 2^32 items.
template <typename T, typename... Keys>
void spanSort(llvm::MutableArrayRef<T> from, llvm::MutableArrayRef<T> to,
              const Keys &...keys) {
  if (from.size() <= detail::fewItems)
    detail::insertionSort<T>(from, to, keys...);
  else if (!(detail::sortBySpansOf(keys, from, to, keys...) || ...))
    llvm::copy(from, to.begin());
}

} // namespace pipec

#endif // PIPEC_SUPPORT_SPANSORT_H
