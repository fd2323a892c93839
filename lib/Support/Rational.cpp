//===- Rational.cpp - Exact fractions of 64-bit integers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Rational.h"

#include <limits>

using namespace llvm;

namespace pipec {

static __int128 gcd(__int128 a, __int128 b) {
  if (a < 0)
    a = -a;
  while (b != 0) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Products and sums of two 64-bit fractions always fit 128 bits, so this is the
// only check for overflow.
std::optional<Rational> Rational::reduce(__int128 numerator,
                                         __int128 denominator) {
  if (denominator == 0)
    return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  __int128 divisor = gcd(numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
  constexpr int64_t low = std::numeric_limits<int64_t>::min();
  constexpr int64_t high = std::numeric_limits<int64_t>::max();
  if (numerator < low || numerator > high || denominator > high)
    return std::nullopt;
  Rational result;
  result.num = int64_t(numerator);
  result.den = int64_t(denominator);
  return result;
}

std::optional<Rational> Rational::make(int64_t numerator, int64_t denominator) {
  return reduce(numerator, denominator);
}

std::optional<Rational> Rational::add(Rational a, Rational b) {
  // Nearly all costs are whole numbers.
  if (int64_t sum;
      a.den == 1 && b.den == 1 && !__builtin_add_overflow(a.num, b.num, &sum))
    return Rational(sum);
  return reduce(__int128(a.num) * b.den + __int128(b.num) * a.den,
                __int128(a.den) * b.den);
}

std::optional<Rational> Rational::sub(Rational a, Rational b) {
  return reduce(__int128(a.num) * b.den - __int128(b.num) * a.den,
                __int128(a.den) * b.den);
}

std::optional<Rational> Rational::mul(Rational a, Rational b) {
  if (int64_t product; a.den == 1 && b.den == 1 &&
                       !__builtin_mul_overflow(a.num, b.num, &product))
    return Rational(product);
  return reduce(__int128(a.num) * b.num, __int128(a.den) * b.den);
}

std::optional<Rational> Rational::div(Rational a, Rational b) {
  return reduce(__int128(a.num) * b.den, __int128(a.den) * b.num);
}

int64_t Rational::floor() const {
  int64_t quotient = num / den;
  return num % den < 0 ? quotient - 1 : quotient;
}

int Rational::compare(Rational a, Rational b) {
  if (a.den == b.den)
    return a.num < b.num ? -1 : a.num > b.num;
  __int128 left = __int128(a.num) * b.den;
  __int128 right = __int128(b.num) * a.den;
  return left < right ? -1 : left > right;
}

/// Reads decimal digits only.
static bool readDigits(StringRef text, uint64_t &value) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == StringRef::npos &&
         !text.getAsInteger(10, value);
}

std::optional<Rational> Rational::parse(StringRef text) {
  __int128 sign = text.consume_front("-") ? -1 : 1;
  uint64_t whole = 0;
  size_t end = text.find_first_of("/.");
  if (!readDigits(text.take_front(end), whole))
    return std::nullopt;
  if (end == StringRef::npos)
    return reduce(sign * whole, 1);
  StringRef rest = text.drop_front(end + 1);
  uint64_t number = 0;
  if (!readDigits(rest, number))
    return std::nullopt;
  if (text[end] == '/')
    return reduce(sign * whole, number);
  if (rest.size() > 18)
    return std::nullopt;
  uint64_t scale = 1;
  for (size_t i = 0; i != rest.size(); ++i)
    scale *= 10;
  return reduce(sign * (__int128(whole) * scale + number), scale);
}

raw_ostream &operator<<(raw_ostream &os, Rational value) {
  os << value.numerator();
  if (!value.isInteger())
    os << '/' << value.denominator();
  return os;
}

} // namespace pipec
