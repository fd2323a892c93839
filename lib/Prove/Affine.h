//===- Affine.h - Numbers that grow with a size -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values a + b n + c t, where n >= 0 is the unknown size and t a round of a
// repeated block, 0 <= t < n.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <optional>

namespace pipec {

struct Affine {
  int64_t a = 0, b = 0, c = 0;

  Affine() = default;
  Affine(int64_t a, int64_t b = 0, int64_t c = 0) : a(a), b(b), c(c) {}

  bool isConstant() const { return b == 0 && c == 0; }
  friend bool operator==(const Affine &, const Affine &) = default;

  int64_t at(int64_t n, int64_t t = 0) const { return a + b * n + c * t; }
  /// The value for n = `n` and t = `t`, which must not depend on a round.
  Affine at(const Affine &t) const {
    return {a + c * t.a, b + c * t.b, c * t.c};
  }
};

// These have no value if the result does not fit.

std::optional<Affine> add(Affine x, Affine y);
std::optional<Affine> sub(Affine x, Affine y);
/// Nothing also if neither factor is a constant.
std::optional<Affine> mul(Affine x, Affine y);

/// The values of n and t for which a statement is made: n >= `least`, and if
/// `inBlock`, `margin` <= t < n - `margin`. There must be at least one.
struct AffineDomain {
  int64_t least = 0;
  bool inBlock = false;
  int64_t margin = 0;

  /// True if x >= 0 everywhere in the domain. Exact: x is linear, and the
  /// domain the sum of its vertices and directions.
  bool isNonNegative(Affine x) const;
  bool isNegative(Affine x) const {
    return isNonNegative({-x.a - 1, -x.b, -x.c});
  }
  /// The value of x < y if it is the same everywhere.
  std::optional<bool> less(Affine x, Affine y) const;
  /// The same for x == y.
  std::optional<bool> equal(Affine x, Affine y) const;
  /// The integral q and the rest r, with x = q y + r and r between 0 and y, if
  /// both are known everywhere; q is the floor of x / y.
  struct Division {
    Affine quotient, rest;
  };
  std::optional<Division> divide(Affine x, Affine y) const;
};

} // namespace pipec
