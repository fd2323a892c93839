//===- CostText.cpp - The texts of costs ----------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/CostText.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <string>

using namespace llvm;

namespace pipec {

SmallVector<StepKind, 2> parseCostMembers(StringRef text) {
  SmallVector<StepKind, 2> members;
  SmallVector<StringRef, 2> words;
  text.split(words, '&');
  for (StringRef word : words) {
    std::optional<StepKind> kind = parseStepKind(word.trim());
    if (!kind || !isCompute(*kind))
      return {};
    members.push_back(*kind);
  }
  return members;
}

std::optional<Rational> parseCostNumber(StringRef text) {
  size_t at = text.find_first_of("eE");
  std::string mantissa = text.take_front(at).str();
  if (text.starts_with("."))
    mantissa.insert(0, "0");
  std::optional<Rational> value = Rational::parse(mantissa);
  if (!value || at == StringRef::npos)
    return value;
  StringRef digits = text.drop_front(at + 1);
  digits.consume_front("+");
  int exponent = 0;
  if (digits.getAsInteger(10, exponent) || exponent < -18 || exponent > 18)
    return std::nullopt;
  int64_t scale = 1;
  for (int i = std::abs(exponent); i != 0; --i)
    scale *= 10;
  return exponent < 0 ? Rational::div(*value, Rational(scale))
                      : Rational::mul(*value, Rational(scale));
}

} // namespace pipec
