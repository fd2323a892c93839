//===- Budget.h - Work counted without a clock ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search is a function of the problem, the seed and the effort: it counts
// work and never reads a clock. A time limit or a signal only ends it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <atomic>
#include <cstdint>

namespace pipec::search {

/// One unit of effort in units of work. A unit of work is a few operations; a
/// unit of effort is about a second.
inline constexpr uint64_t workPerEffort = 300'000'000;

/// A share of the effort, spent by one thread.
class Budget {
public:
  using Flag = std::atomic<bool>;

  /// Another thread may set `stop` and `other` at any time; null flags are
  /// never set.
  explicit Budget(uint64_t work, const Flag *stop = nullptr,
                  const Flag *other = nullptr)
      : limit(work), stop(stop), other(other) {}
  /// A part of this budget, which stops with it. The caller charges the work of
  /// the part to this one.
  Budget part(uint64_t work) const {
    return Budget(work < left() ? work : left(), stop, other);
  }

  void spend(uint64_t work) { used += work; }
  /// True when nothing is left, or the search was told to stop.
  bool done() const { return used >= limit || isStopped(); }
  bool isStopped() const { return isSet(stop) || isSet(other); }
  uint64_t spent() const { return used; }
  uint64_t left() const { return used < limit ? limit - used : 0; }

private:
  static bool isSet(const Flag *flag) {
    return flag && flag->load(std::memory_order_relaxed);
  }

  uint64_t used = 0;
  uint64_t limit;
  const Flag *stop;
  const Flag *other;
};

} // namespace pipec::search
