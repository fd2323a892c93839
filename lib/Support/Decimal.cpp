//===- Decimal.cpp - Fractions as decimals --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Decimal.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace pipec {

/// The number of decimal digits after the point of a fraction with this
/// denominator, or `nullopt` if the expansion does not terminate.
static std::optional<unsigned> digitsBehindPoint(int64_t denominator) {
  unsigned twos = 0, fives = 0;
  for (; denominator % 2 == 0; denominator /= 2)
    ++twos;
  for (; denominator % 5 == 0; denominator /= 5)
    ++fives;
  if (denominator != 1)
    return std::nullopt;
  return std::max(twos, fives);
}

Decimal toDecimal(Rational value, unsigned exactDigits,
                  unsigned roundedDigits) {
  assert(exactDigits <= 18 && roundedDigits <= 18);
  std::optional<unsigned> all = digitsBehindPoint(value.denominator());
  Decimal result;
  result.exact = all && *all <= exactDigits;
  unsigned digits = result.exact ? *all : roundedDigits;

  __int128 scale = 1;
  for (unsigned i = 0; i != digits; ++i)
    scale *= 10;
  __int128 den = value.denominator();
  __int128 scaled = __int128(value.numerator()) * scale;
  bool negative = scaled < 0;
  if (negative)
    scaled = -scaled;
  __int128 quotient = scaled / den;
  if (2 * (scaled % den) >= den)
    ++quotient;

  std::string text;
  for (unsigned i = 0; quotient || i <= digits; ++i, quotient /= 10) {
    if (i == digits && digits)
      text += '.';
    text += char('0' + int(quotient % 10));
  }
  if (negative)
    text += '-';
  std::reverse(text.begin(), text.end());
  result.text = std::move(text);
  return result;
}

std::string decimalText(Rational value) {
  Decimal decimal = toDecimal(value);
  return decimal.exact ? decimal.text : "~" + decimal.text;
}

void writeExact(json::OStream &json, StringRef key, Rational value) {
  // A double represents every number of 15 digits, so all JSON readers get the
  // exact value.
  Decimal decimal = toDecimal(value, /*exactDigits=*/15);
  if (decimal.exact) {
    json.attributeBegin(key);
    json.rawValue(decimal.text);
    json.attributeEnd();
    return;
  }
  json.attribute(key, value.toDouble());
  std::string fraction;
  raw_string_ostream(fraction) << value;
  json.attribute((key + "_exact").str(), fraction);
}

void writeExact(json::OStream &json, StringRef key,
                const std::optional<Rational> &value) {
  if (value)
    writeExact(json, key, *value);
  else
    json.attribute(key, nullptr);
}

} // namespace pipec
