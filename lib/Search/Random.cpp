//===- Random.cpp - Random numbers that are equal everywhere -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Random.h"

#include <array>

namespace pipec::search {

static constexpr unsigned tableBits = 11;

/// -ln((2 i + 1) / 2^12) in units of 2^-16 for each i, by whole numbers alone:
/// squaring a number doubles its logarithm, whose bits so come out one by one.
static constexpr std::array<uint32_t, 1 << tableBits> makeTable() {
  std::array<uint32_t, 1 << tableBits> table = {};
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

static constexpr std::array<uint32_t, 1 << tableBits> table = makeTable();
static_assert(table.back() < 32 && table[0] > 540000 && table[0] < 546000);

uint32_t Random::exponential() { return table[next() >> (64 - tableBits)]; }

} // namespace pipec::search
