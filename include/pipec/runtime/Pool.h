//===- Pool.h - Objects that are used again and again -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_POOL_H
#define PIPEC_RUNTIME_POOL_H

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

namespace pipec::runtime {

/// Hands out objects by number. The last one given back is the next one handed
/// out, so that its memory is warm; objects do not move, and none is destroyed
/// before the pool is.
template <class T> class Pool {
public:
  /// Makes `count` objects ahead of their use; the lowest number is used
  /// first.
  void reserve(int count) {
    while (int(objects.size()) < count)
      makeOne();
    std::sort(free.begin(), free.end(), std::greater<>());
  }

  int acquire() {
    if (free.empty())
      makeOne();
    int index = free.back();
    free.pop_back();
    peakLive = std::max(peakLive, live());
    return index;
  }
  void release(int index) { free.push_back(index); }

  T &operator[](int index) { return objects[index]; }

  int live() const { return int(objects.size() - free.size()); }
  int peak() const { return peakLive; }

private:
  void makeOne() {
    // `release` must never allocate.
    if (free.capacity() <= objects.size())
      free.reserve(2 * objects.size() + 16);
    free.push_back(int(objects.size()));
    objects.emplace_back();
  }

  std::deque<T> objects;
  std::vector<int> free;
  int peakLive = 0;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_POOL_H
