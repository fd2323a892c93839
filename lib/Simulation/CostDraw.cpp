//===- CostDraw.cpp - Random factors of costs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of <cmath> differ between machines in the last digits. Those of
// this file compute with integers, as multiples of 2^-48.
//
//===----------------------------------------------------------------------===//

#include "Simulation/CostDraw.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Fixed-point numbers
//===----------------------------------------------------------------------===//

static constexpr unsigned fractionBits = 48;
static constexpr int64_t fixedOne = int64_t(1) << fractionBits;

static int64_t mulFixed(int64_t a, int64_t b) {
  return int64_t(__int128(a) * b >> fractionBits);
}
static int64_t divFixed(int64_t a, int64_t b) {
  return int64_t((__int128(a) << fractionBits) / b);
}

/// e^x for |x| <= 8: the series at x / 256, squared 8 times.
static int64_t expFixed(int64_t x) {
  int64_t small = x >> 8, term = fixedOne, sum = fixedOne;
  for (int64_t n = 1; n != 10; ++n) {
    term = mulFixed(term, small) / n;
    sum += term;
  }
  for (unsigned i = 0; i != 8; ++i)
    sum = mulFixed(sum, sum);
  return sum;
}

/// The natural logarithm of 1 <= x <= 101, by Halley's method.
static int64_t logFixed(int64_t x) {
  int64_t y = 0;
  for (unsigned i = 0; i != 12; ++i) {
    int64_t power = expFixed(y);
    y += 2 * divFixed(x - power, x + power);
  }
  return y;
}

static int64_t sqrtFixed(int64_t x) {
  unsigned __int128 square = (unsigned __int128)(x) << fractionBits;
  unsigned __int128 root = 0;
  for (int bit = 56; bit >= 0; --bit) {
    unsigned __int128 next = root | (unsigned __int128)(1) << bit;
    if (next * next <= square)
      root = next;
  }
  return int64_t(root);
}

/// To parts of 2^-20, to nearest.
static int32_t toParts(int64_t x) {
  constexpr unsigned shift = fractionBits - JitterFactors::bits;
  return int32_t((x + (int64_t(1) << (shift - 1))) >> shift);
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

const std::array<int32_t, 4096> &normalValues() {
  static const std::array<int32_t, 4096> table = [] {
    std::array<int32_t, 4096> values;
    constexpr int64_t density0 = 112292269084889; // 1 / sqrt(2 pi)
    int64_t z = 0;
    for (int64_t k = 2048; k != 4096; ++k) {
      int64_t wanted = (2 * k + 1) * (fixedOne / 8192);
      // Newton's method from the last value; the integral of the density is
      //   1/2 + density (z + z^3 / 3 + z^5 / (3 * 5) + ...)
      for (unsigned round = 0; round != 6; ++round) {
        int64_t square = mulFixed(z, z);
        int64_t density = mulFixed(density0, expFixed(-square / 2));
        int64_t term = z, sum = z;
        for (int64_t n = 3; term != 0; n += 2)
          sum += term = mulFixed(term, square) / n;
        int64_t reached = fixedOne / 2 + mulFixed(density, sum);
        z += divFixed(wanted - reached, density);
      }
      values[k] = toParts(z);
      values[4095 - k] = -values[k];
    }
    return values;
  }();
  return table;
}

/// The values exp(s z - s^2 / 2), whose mean is 1, with s^2 = ln(1 + v^2) for
/// the spread v.
static std::array<int32_t, 4096> lognormalValues(Rational spread) {
  int64_t v = int64_t((__int128(spread.numerator()) << fractionBits) /
                      spread.denominator());
  int64_t variance = logFixed(fixedOne + mulFixed(v, v));
  int64_t sigma = sqrtFixed(variance);
  std::array<int32_t, 4096> values;
  std::ranges::transform(normalValues(), values.begin(), [&](int64_t z) {
    int64_t wide = z << (fractionBits - JitterFactors::bits);
    return toParts(expFixed(mulFixed(sigma, wide) - variance / 2));
  });
  return values;
}

JitterFactors::JitterFactors(const Schedule &schedule, const Jitter &jitter)
    : schedule(schedule), seed(jitter.seed) {
  for (size_t scope = 0; scope != numJitterScopes; ++scope)
    if (jitter.spreads[scope])
      values[scope] = lognormalValues(*jitter.spreads[scope]);
}

int64_t JitterFactors::greatest() const {
  __int128 compute = 1 << bits, transfer = 1 << bits;
  for (size_t scope = 0; scope != numJitterScopes; ++scope) {
    if (!values[scope])
      continue;
    // The table is in ascending order.
    __int128 &product =
        JitterScope(scope) == JitterScope::Transfer ? transfer : compute;
    product =
        (product * std::max(values[scope]->back(), 1 << bits) >> bits) + 1;
  }
  return int64_t(std::max(compute, transfer) >> bits) + 1;
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

/// One step of the generator splitmix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014): the bits of a counter.
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

int32_t CostDraw::value(JitterScope scope, unsigned kind, unsigned stage,
                        unsigned unit) const {
  uint64_t id = uint64_t(scope) << 62 | uint64_t(kind) << 56 |
                uint64_t(stage) << 32 | unit;
  return (*factors.values[size_t(scope)])[mixed(key ^ mixed(id)) >> 52];
}

CostDraw::CostDraw(const JitterFactors &factors, uint64_t draw)
    : factors(factors), key(mixed(mixed(factors.seed) ^ draw)),
      hasSteps(factors.values[size_t(JitterScope::Step)].has_value()),
      hasTransfers(factors.values[size_t(JitterScope::Transfer)].has_value()),
      directionSplit(factors.schedule.directionSplit()) {
  const Schedule &schedule = factors.schedule;
  if (factors.values[size_t(JitterScope::Rank)]) {
    const Placement &placement = schedule.placement;
    for (unsigned d = 0; d != 2; ++d)
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        ranks.push_back(
            value(JitterScope::Rank, 0, 0,
                  placement.rankOf(
                      stage, std::min(d, placement.numDirections() - 1))));
  }
  if (factors.values[size_t(JitterScope::Microbatch)])
    for (unsigned unit = 0; unit != schedule.numUnits; ++unit)
      units.push_back(value(JitterScope::Microbatch, 0, 0,
                            unit / std::max(schedule.numSlices, 1u)));
}

} // namespace pipec
