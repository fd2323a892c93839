//===- Ring.h - A queue that reuses its memory ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_RING_H
#define PIPEC_RUNTIME_RING_H

#include <cstddef>
#include <utility>
#include <vector>

namespace pipec::runtime {

/// First in, first out; grows when it is full and never shrinks.
template <class T> class Ring {
public:
  bool empty() const { return head == tail; }
  std::size_t size() const { return tail - head; }
  T &front() { return items[head & (items.size() - 1)]; }
  void pop() { ++head; }
  void push(T item) {
    if (tail - head == items.size())
      grow(items.empty() ? 16 : 2 * items.size());
    items[tail++ & (items.size() - 1)] = std::move(item);
  }
  void reserve(std::size_t count) {
    std::size_t size = 16;
    while (size < count)
      size *= 2;
    if (size > items.size())
      grow(size);
  }

private:
  /// `size` is a power of two.
  void grow(std::size_t size) {
    std::vector<T> larger(size);
    std::size_t count = 0;
    for (; head != tail; ++head)
      larger[count++] = std::move(front());
    items = std::move(larger);
    head = 0;
    tail = count;
  }

  std::vector<T> items;
  std::size_t head = 0;
  std::size_t tail = 0;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_RING_H
