//===- Rational.h - Exact fractions of 64-bit integers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>

namespace pipec {

/// A fraction in lowest terms with a positive denominator. Costs, memory
/// figures and start times are rationals, so `==` is exact. Operations whose
/// result does not fit 64 bits return nothing.
class Rational {
public:
  constexpr Rational() = default;
  constexpr Rational(int64_t value) : num(value) {}

  /// Returns `numerator / denominator` in lowest terms, or nothing if the
  /// denominator is zero or the result does not fit.
  static std::optional<Rational> make(int64_t numerator, int64_t denominator);

  /// Parses `12`, `-3`, `7/2` or `2.5`. Returns nothing if `text` has another
  /// form or the value does not fit.
  static std::optional<Rational> parse(llvm::StringRef text);

  int64_t numerator() const { return num; }
  int64_t denominator() const { return den; }
  bool isInteger() const { return den == 1; }
  bool isZero() const { return num == 0; }
  bool isNegative() const { return num < 0; }
  double toDouble() const { return double(num) / double(den); }

  static std::optional<Rational> add(Rational a, Rational b);
  static std::optional<Rational> sub(Rational a, Rational b);
  static std::optional<Rational> mul(Rational a, Rational b);
  /// Also returns `nullopt` if the divisor is zero.
  static std::optional<Rational> div(Rational a, Rational b);
  /// The largest integer not above the value.
  int64_t floor() const;

  /// Returns -1, 0 or 1. Never overflows.
  static int compare(Rational a, Rational b);
  friend bool operator==(Rational a, Rational b) {
    return a.num == b.num && a.den == b.den;
  }
  friend bool operator<(Rational a, Rational b) { return compare(a, b) < 0; }
  friend bool operator<=(Rational a, Rational b) { return compare(a, b) <= 0; }
  friend bool operator>(Rational a, Rational b) { return compare(a, b) > 0; }
  friend bool operator>=(Rational a, Rational b) { return compare(a, b) >= 0; }

private:
  static std::optional<Rational> reduce(__int128 numerator,
                                        __int128 denominator);

  int64_t num = 0;
  int64_t den = 1;
};

/// Prints `7` or `7/2`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Rational value);

} // namespace pipec
