//===- Affine.cpp - Numbers that grow with a size -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/Affine.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pipec {

/// Coefficients are kept far below the limits of their type, so that the sums
/// of a few of them fit.
static std::optional<Affine> checked(__int128 a, __int128 b, __int128 c) {
  constexpr __int128 most = std::numeric_limits<int64_t>::max() / 8;
  for (__int128 part : {a, b, c})
    if (part > most || part < -most)
      return std::nullopt;
  return Affine(int64_t(a), int64_t(b), int64_t(c));
}

std::optional<Affine> add(Affine x, Affine y) {
  return checked(__int128(x.a) + y.a, __int128(x.b) + y.b, __int128(x.c) + y.c);
}

std::optional<Affine> sub(Affine x, Affine y) {
  return checked(__int128(x.a) - y.a, __int128(x.b) - y.b, __int128(x.c) - y.c);
}

std::optional<Affine> mul(Affine x, Affine y) {
  if (!y.isConstant())
    std::swap(x, y);
  if (!y.isConstant())
    return std::nullopt;
  return checked(__int128(x.a) * y.a, __int128(x.b) * y.a, __int128(x.c) * y.a);
}

bool AffineDomain::isNonNegative(Affine x) const {
  if (!inBlock)
    return x.c == 0 && x.b >= 0 && __int128(x.a) + __int128(x.b) * least >= 0;
  // The vertex has the least n and t, the directions keep t or n - t.
  int64_t n = std::max(least, 2 * margin + 1), t = margin;
  // The other end of the first row.
  int64_t last = n - 1 - margin;
  auto value = [&](int64_t round) {
    return __int128(x.a) + __int128(x.b) * n + __int128(x.c) * round;
  };
  return value(t) >= 0 && value(last) >= 0 && x.b >= 0 && x.b + x.c >= 0;
}

std::optional<bool> AffineDomain::less(Affine x, Affine y) const {
  std::optional<Affine> difference = sub(x, y);
  if (!difference)
    return std::nullopt;
  if (isNegative(*difference))
    return true;
  return isNonNegative(*difference) ? std::optional(false) : std::nullopt;
}

std::optional<bool> AffineDomain::equal(Affine x, Affine y) const {
  if (x == y)
    return true;
  if (less(x, y) == true || less(y, x) == true)
    return false;
  return std::nullopt;
}

static int64_t floorDivide(int64_t x, int64_t y) {
  int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x % y < 0) != (y < 0));
}

std::optional<AffineDomain::Division> AffineDomain::divide(Affine x,
                                                           Affine y) const {
  if (y.isConstant() && y.a != 0 && x.b % y.a == 0 && x.c % y.a == 0) {
    Affine quotient(floorDivide(x.a, y.a), x.b / y.a, x.c / y.a);
    return Division{quotient, x.a - quotient.a * y.a};
  }
  // A quotient that does not depend on n and t.
  int64_t limit = y.b ? floorDivide(x.b, y.b) : 0;
  for (int64_t quotient : {int64_t(0), limit, limit - 1}) {
    std::optional<Affine> product = mul(y, quotient);
    std::optional<Affine> rest = product ? sub(x, *product) : std::nullopt;
    if (rest && isNonNegative(*rest) && less(*rest, y) == true)
      return Division{quotient, *rest};
  }
  return std::nullopt;
}

} // namespace pipec
