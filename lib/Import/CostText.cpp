//===- CostText.cpp - The texts of costs ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Import/CostText.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
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

/// The number `digits` * 10^`exponent`, rounded to 18 significant digits and to
/// 18 places, so that all floating point numbers of usual sizes are accepted.
/// `nullopt` if it is rounded to 0 without being 0, or too large.
static std::optional<Rational> decimal(StringRef digits, int exponent) {
  constexpr int most = 18;
  digits = digits.ltrim('0');
  if (digits.empty())
    return Rational(0);
  StringRef kept = digits.rtrim('0');
  exponent += int(digits.size() - kept.size());
  int dropped = std::max(int(kept.size()) - most, -exponent - most);
  bool roundsUp = false;
  if (dropped > 0) {
    if (dropped > int(kept.size()))
      return std::nullopt;
    roundsUp = kept[kept.size() - dropped] >= '5';
    kept = kept.drop_back(dropped);
    exponent += dropped;
  }
  int64_t number = 0;
  if (exponent > most || (!kept.empty() && kept.getAsInteger(10, number)))
    return std::nullopt;
  number += roundsUp;
  int64_t scale = 1;
  for (int i = std::abs(exponent); i != 0; --i)
    scale *= 10;
  if (number == 0)
    return std::nullopt;
  return exponent < 0 ? Rational::make(number, scale)
                      : Rational::mul(Rational(number), Rational(scale));
}

std::optional<Rational> parseCostNumber(StringRef text) {
  if (text.contains('/'))
    return Rational::parse(text);
  if (auto exact = Rational::parse(text))
    return exact;
  bool negative = text.consume_front("-");
  size_t at = text.find_first_of("eE");
  int exponent = 0;
  // An exponent within the length of texts cannot overflow below.
  constexpr int mostExponent = 1'000'000;
  if (at != StringRef::npos) {
    StringRef digits = text.drop_front(at + 1);
    digits.consume_front("+");
    if (digits.getAsInteger(10, exponent) ||
        std::abs(int64_t(exponent)) > mostExponent)
      return std::nullopt;
    text = text.take_front(at);
  }
  auto [whole, fraction] = text.split('.');
  bool hasPoint = whole.size() != text.size();
  std::string digits = (whole + fraction).str();
  if ((whole.empty() && !hasPoint) || (hasPoint && fraction.empty()) ||
      !all_of(digits, isDigit) || digits.size() > mostExponent)
    return std::nullopt;
  auto value = decimal(digits, exponent - int(fraction.size()));
  return value && negative ? Rational::sub(0, *value) : value;
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

/// The word that is most similar to `key`; if there is none, the one-letter
/// word with which `key` begins, such as `F` for `fwd`.
static StringRef nearestSetting(StringRef key, ArrayRef<StringRef> words) {
  if (StringRef meant = nearestWord(key, words); !meant.empty())
    return meant;
  for (StringRef word : words)
    if (word.size() == 1 && key.starts_with_insensitive(word))
      return word;
  return "";
}

FailureOr<CostSettings> readCostOption(StringRef text, DiagEngine &diags) {
  CostSettings costs;
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  auto bad = [&](StringRef entry, StringRef why) {
    return diags.report(DiagLoc(), diag::UnusableOption,
                        "`" + entry.str() + "` in --cost " + why.str());
  };
  for (StringRef entry : entries) {
    auto [key, number] = entry.split('=');
    std::optional<Rational> value = parseCostNumber(number.trim());
    if (double other = 0; !value && !number.trim().getAsDouble(other))
      return bad(entry, "is out of range");
    if (!value)
      return bad(entry, "is not STEP=NUMBER");
    if (value->isNegative())
      return bad(entry, "is negative");
    SmallVector<StepKind, 2> members = parseCostMembers(key);
    bool fresh = true;
    if (members.size() > 1) {
      fresh = !costs.ofOverlap(members);
      costs.set({members, *value});
    } else if (const FigureInfo *info = findFigure(
                   FigureBlock::Cost, FigureScope::Whole, key.trim())) {
      fresh = !costs.get(info->figure);
      costs.set(info->figure, *value);
    } else {
      InFlightDiagnostic error = bad(entry, "does not name a step or a figure");
      SmallVector<StringRef, 12> words =
          figureNames(FigureBlock::Cost, FigureScope::Whole);
      if (StringRef meant = nearestSetting(key.trim(), words); !meant.empty())
        error.note(DiagLoc(), diag::NoteDidYouMean, meant);
      error.note(DiagLoc(), diag::NoteChoices, join(words, "`, `"));
      return error;
    }
    if (!fresh)
      return bad(entry, "comes a second time");
  }
  return costs;
}

} // namespace pipec
