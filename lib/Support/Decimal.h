//===- Decimal.h - Fractions as decimals ------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DECIMAL_H
#define PIPEC_SUPPORT_DECIMAL_H

#include "Support/Rational.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace pipec {

/// A fraction written with a decimal point.
struct Decimal {
  /// `7`, `-3.5`, `0.3333`
  std::string text;
  /// False when `text` is rounded.
  bool exact = true;
};

/// `value` as a decimal: all its digits when there are at most `exactDigits`
/// (18 or less) behind the point, else rounded half away from zero to
/// `roundedDigits` (18 or less) of them.
Decimal toDecimal(Rational value, unsigned exactDigits = 6,
                  unsigned roundedDigits = 4);

/// The decimal as people read it: `3.5`, and `~0.3333` when it is rounded.
std::string decimalText(Rational value);

/// Writes the attribute `key`: as a number with all its digits where these are
/// at most 15 behind the point, else as the nearest double, and the fraction as
/// a string in the attribute `key`_exact.
void writeExact(llvm::json::OStream &json, llvm::StringRef key, Rational value);

} // namespace pipec

#endif // PIPEC_SUPPORT_DECIMAL_H
