//===- Pool.h - Objects that are used again and again -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_POOL_H
#define PIPEC_RUNTIME_POOL_H

#include <deque>
#include <vector>

namespace pipec::runtime {

/// Hands out objects. The last one given back is the next one handed out, so
/// that its memory is warm; objects do not move, and none is destroyed before
/// the pool is.
template <class T> class Pool {
public:
  /// Makes `count` objects ahead of their use.
  void reserve(int count) {
    while (int(objects.size()) < count)
      makeOne();
  }

  T *acquire() {
    if (free.empty()) [[unlikely]]
      makeOne();
    T *object = free.back();
    free.pop_back();
    if (++live > peakLive)
      peakLive = live;
    return object;
  }
  /// Never allocates.
  void release(T *object) {
    free.push_back(object);
    --live;
  }

  int peak() const { return peakLive; }

private:
  void makeOne() {
    objects.emplace_back();
    if (free.capacity() < objects.size())
      free.reserve(2 * objects.size() + 16);
    free.push_back(&objects.back());
  }

  std::deque<T> objects;
  std::vector<T *> free;
  int live = 0;
  int peakLive = 0;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_POOL_H
