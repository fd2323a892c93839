//===- Pool.h - Objects that are used again and again -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_POOL_H
#define PIPEC_RUNTIME_POOL_H

#include <deque>
#include <vector>

namespace pipec::runtime {

/// Hands out objects. The last one given back is the next one handed out, so
/// that its memory is warm; objects do not move, and none is destroyed before
/// the pool is. In lists other than 0, which are those of streams whose work
/// may not be done, the first one given back is the next one handed out.
template <class T> class Pool {
public:
  /// Makes `count` objects ahead of their use.
  void reserve(int count) {
    while (int(objects.size()) < count)
      makeOne();
  }

  /// Takes an object, of those that were returned to `list` if there are any.
  T *acquire(int list = 0) {
    if (list != 0) [[unlikely]]
      return acquireFrom(list);
    if (free.empty()) [[unlikely]]
      refill();
    T *object = free.back();
    free.pop_back();
    if (++live > peakLive)
      peakLive = live;
    return object;
  }
  /// Returns an object to a list. Never allocates for list 0.
  void release(T *object, int list = 0) {
    if (list == 0) [[likely]]
      free.push_back(object);
    else
      listOf(list).push_back(object);
    --live;
  }

  int peak() const { return peakLive; }

private:
  /// Lists other than 0, from -1 on.
  std::vector<T *> &listOf(int list) {
    std::size_t index = std::size_t(list + 1);
    if (others.size() <= index)
      others.resize(index + 1);
    return others[index];
  }
  /// Puts an object into list 0: one of a list that has many, as where nothing
  /// comes back from the stages after, or a new one.
  void refill() {
    for (std::vector<T *> &list : others)
      if (list.size() >= 8) {
        free.push_back(list.front());
        list.erase(list.begin());
        return;
      }
    makeOne();
  }
  /// If the list is empty, takes the object that has been longest in list 0.
  T *acquireFrom(int list) {
    std::vector<T *> &own = listOf(list);
    if (own.empty()) {
      if (free.empty())
        refill();
      own.push_back(free.front());
      free.erase(free.begin());
    }
    T *object = own.front();
    own.erase(own.begin());
    if (++live > peakLive)
      peakLive = live;
    return object;
  }
  void makeOne() {
    objects.emplace_back();
    if (free.capacity() < objects.size())
      free.reserve(2 * objects.size() + 16);
    free.push_back(&objects.back());
  }

  std::deque<T> objects;
  std::vector<T *> free;
  std::vector<std::vector<T *>> others;
  int live = 0;
  int peakLive = 0;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_POOL_H
