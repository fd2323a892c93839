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

StringRef memoryUnits() { return "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"; }

std::optional<MemorySize> parseMemorySize(StringRef text) {
  text = text.trim();
  MemorySize size;
  int64_t scale = 1;
  StringRef number = text;
  if (number.consume_back("B")) {
    size.inBytes = true;
    int64_t step = number.consume_back("i") ? 1024 : 1000;
    // `kB` has a small letter in metric units, and often a capital one.
    std::string letters = step == 1000 ? "kMGT" : "KMGT";
    if (step == 1000 && number.ends_with("K"))
      letters[0] = 'K';
    size_t power = 0;
    if (!number.empty())
      power = StringRef(letters).find(number.back()) + 1; // 0 if not found
    if (power != 0)
      number = number.drop_back();
    else if (step == 1024) // `iB` alone
      return std::nullopt;
    for (; power != 0; --power)
      scale *= step;
    number = number.rtrim();
  }
  std::optional<Rational> value = parseCostNumber(number);
  if (value && !value->isNegative())
    value = Rational::mul(*value, Rational(scale));
  if (!value || value->isNegative())
    return std::nullopt;
  size.value = *value;
  return size;
}

} // namespace pipec
