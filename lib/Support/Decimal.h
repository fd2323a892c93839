//===- Decimal.h - Fractions as decimals ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/Rational.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace pipec {

/// A fraction written with a decimal point.
struct Decimal {
  /// `7`, `-3.5`, `0.3333`
  std::string text;
  /// False when `text` is rounded.
  bool exact = true;
};

/// Converts `value` to a decimal. Keeps all digits after the point if there are
/// at most `exactDigits` of them; otherwise rounds half away from zero to
/// `roundedDigits`. Both limits are at most 18.
Decimal toDecimal(Rational value, unsigned exactDigits = 6,
                  unsigned roundedDigits = 4);

/// Formats the decimal for display: `3.5`, or `~0.3333` if it is rounded.
std::string decimalText(Rational value);

/// Writes the attribute `key` as a number: with all digits if there are at most
/// 15 after the point, otherwise as the nearest double. Then the attribute
/// `key`_exact holds the fraction as a string.
void writeExact(llvm::json::OStream &json, llvm::StringRef key, Rational value);
/// The same; null for no value.
void writeExact(llvm::json::OStream &json, llvm::StringRef key,
                const std::optional<Rational> &value);

} // namespace pipec
