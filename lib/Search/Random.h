//===- Random.h - Random numbers that are equal everywhere ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard distributions and logarithms differ between libraries; a search
// must give the same schedule on every machine.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstdint>

namespace pipec::search {

inline constexpr unsigned logBits = 11;

/// -ln((2 i + 1) / 2^12) in units of 2^-16 for each i, by whole numbers alone:
/// squaring a number doubles its logarithm, whose bits so come out one by one.
constexpr std::array<uint32_t, 1 << logBits> makeLogTable() {
  std::array<uint32_t, 1 << logBits> table = {};
  for (uint32_t i = 0; i != table.size(); ++i) {
    uint64_t x = uint64_t(2 * i + 1) << 20; // of 2^32
    int64_t log = 0;                        // to the base 2, in 2^-24
    while (x < uint64_t(1) << 31) {
      x <<= 1;
      log -= int64_t(1) << 24;
    }
    // 2^31 <= x < 2^32: x / 2^31 is in 1 to 2.
    log -= int64_t(1) << 24;
    for (int bit = 23; bit >= 0; --bit) {
      x = x * x >> 31;
      if (x >= uint64_t(1) << 32) {
        x >>= 1;
        log += int64_t(1) << bit;
      }
    }
    // ln 2 = 45426.09 / 65536
    table[i] = uint32_t(-log * 45426 >> 24);
  }
  return table;
}

inline constexpr auto logTable = makeLogTable();
static_assert(logTable.back() < 32 && logTable[0] > 540000 &&
              logTable[0] < 546000);

/// The generator splitmix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// A number below `bound`, which is at most 2^32.
  uint32_t below(uint64_t bound) {
    return uint32_t((next() >> 32) * bound >> 32);
  }
  /// True `percent` times of 100.
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T, unsigned n> const T &of(const T (&values)[n]) {
    return values[below(n)];
  }
  /// A place in `chances`, each as often as its number says.
  template <unsigned n> unsigned choose(const unsigned (&chances)[n]) {
    uint32_t sum = 0;
    for (unsigned chance : chances)
      sum += chance;
    unsigned place = 0;
    for (uint32_t left = below(sum); left >= chances[place]; ++place)
      left -= chances[place];
    return place;
  }
  /// -ln(u) for a random u from 0 to 1, in units of 2^-16.
  uint32_t exponential() { return logTable[next() >> (64 - logBits)]; }

private:
  uint64_t state;
};

} // namespace pipec::search
