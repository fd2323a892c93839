//===- CostProfile.cpp - Costs from the command line and from files -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's JSON parser decides whether the text is JSON. It keeps neither
// positions nor the spelling of numbers, and both matter here, so the values
// are then read from the text itself by a walk that may rely on its syntax.
//
//===----------------------------------------------------------------------===//

#include "Import/CostProfile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// What both forms share
//===----------------------------------------------------------------------===//

/// Reads `F & B`; empty when the text is something else.
static SmallVector<StepKind, 2> parseMembers(StringRef text) {
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

/// Reads a number as JSON and people write it, an exponent included.
static std::optional<Rational> parseNumber(StringRef text) {
  size_t at = text.find_first_of("eE");
  std::optional<Rational> value = Rational::parse(text.take_front(at));
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

/// Sets the cost of `members`; false when they have one.
static bool setCost(CostSettings &costs, ArrayRef<StepKind> members,
                    Rational value) {
  if (members.size() == 1) {
    std::optional<Rational> &place = costs.all.of[unsigned(members[0])];
    bool fresh = !place;
    place = value;
    return fresh;
  }
  if (costs.ofOverlap(members))
    return false;
  costs.overlaps.push_back({SmallVector<StepKind, 2>(members), value});
  return true;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// A walk over the members of objects in a text that is known to be JSON.
class ProfileReader {
public:
  ProfileReader(StringRef text, DiagEngine &diags)
      : text(text), rest(text), diags(diags) {}

  FailureOr<CostSettings> read() {
    members([&](StringRef key) { return topLevel(key); });
    if (!good)
      return failure();
    return std::move(costs);
  }

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  SMRange rangeOf(StringRef part) const {
    return {SMLoc::getFromPointer(part.begin()),
            SMLoc::getFromPointer(part.end())};
  }
  template <typename... Args>
  void report(StringRef part, Args &&...args) {
    good = false;
    (void)diags.report(rangeOf(part), std::forward<Args>(args)...);
  }

  /// Takes a value off the rest: a string with its quotes, a number, an object.
  StringRef takeValue() {
    skipSpace();
    StringRef start = rest;
    unsigned depth = 0;
    do {
      char c = rest.front();
      if (c == '"') {
        for (rest = rest.drop_front(); rest.front() != '"';)
          rest = rest.drop_front(rest.front() == '\\' ? 2 : 1);
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        --depth;
      } else if (depth == 0) {
        rest = rest.drop_until(
            [](char c) { return StringRef(",}] \t\r\n").contains(c); });
        break;
      }
      rest = rest.drop_front();
    } while (depth != 0);
    return start.drop_back(rest.size());
  }

  /// Hands each key of the object that comes next to `member`, which takes the
  /// value. Anything but an object is reported.
  void members(function_ref<void(StringRef)> member) {
    skipSpace();
    if (!rest.starts_with("{")) {
      report(takeValue(), diag::ProfileNotObject);
      return;
    }
    std::vector<StringRef> keys;
    do {
      rest = rest.drop_front(); // the brace or a comma
      skipSpace();
      if (rest.starts_with("}"))
        break;
      StringRef key = takeValue().drop_front().drop_back();
      if (is_contained(keys, key))
        report(key, diag::ProfileKeyTwice, key);
      keys.push_back(key);
      skipSpace();
      rest = rest.drop_front(); // the colon
      member(key);
      skipSpace();
    } while (rest.starts_with(","));
    rest = rest.drop_front();
  }

  std::optional<Rational> number() {
    StringRef value = takeValue();
    std::optional<Rational> parsed = value.starts_with("\"")
                                         ? Rational::parse(value.trim('"'))
                                         : parseNumber(value);
    if (!parsed)
      report(value, diag::ProfileNotNumber, value.take_front(40));
    else if (parsed->isNegative())
      report(value, diag::NegativeCost);
    return parsed;
  }

  void unknownKey(StringRef key) {
    report(key, diag::ProfileUnknownKey, key);
    (void)takeValue();
  }

  void topLevel(StringRef key) {
    if (key == "p2p") {
      if (auto value = number())
        costs.p2p = *value;
    } else if (key == "overlaps") {
      members([&](StringRef name) { overlap(name); });
    } else if (key == "stages") {
      members([&](StringRef name) { stage(name); });
    } else if (auto kinds = parseMembers(key); kinds.size() == 1) {
      if (auto value = number())
        setCost(costs, kinds, *value);
    } else {
      unknownKey(key);
    }
  }

  void overlap(StringRef name) {
    SmallVector<StepKind, 2> kinds = parseMembers(name);
    if (kinds.size() < 2)
      return unknownKey(name);
    auto value = number();
    if (value && !setCost(costs, kinds, *value))
      report(name, diag::ProfileKeyTwice, name);
  }

  void stage(StringRef name) {
    unsigned stage = 0;
    if (name.getAsInteger(10, stage) || stage >= maxStages)
      return unknownKey(name);
    CostSettings::Row &row = costs.stages[stage];
    members([&](StringRef key) {
      auto kinds = parseMembers(key);
      if (kinds.size() != 1)
        return unknownKey(key);
      if (auto value = number())
        row.of[unsigned(kinds[0])] = *value;
    });
  }

  StringRef text;
  StringRef rest;
  DiagEngine &diags;
  CostSettings costs;
  bool good = true;
};

} // namespace

FailureOr<CostSettings> readCostProfile(StringRef text, DiagEngine &diags) {
  Expected<json::Value> parsed = json::parse(text);
  if (parsed)
    return ProfileReader(text, diags).read();
  FailureOr<CostSettings> result = failure();
  handleAllErrors(
      parsed.takeError(),
      [&](const json::ParseError &error) {
        // "[line:column, byte=offset]: message"
        StringRef message;
        std::string whole = error.message();
        size_t offset = 0;
        auto [head, tail] = StringRef(whole).split("]: ");
        message = tail;
        head.split("byte=").second.getAsInteger(10, offset);
        (void)diags.report(
            SMLoc::getFromPointer(text.data() + std::min(offset, text.size())),
            diag::ProfileSyntax, message.lower());
      },
      [&](const ErrorInfoBase &error) {
        (void)diags.report(SMLoc::getFromPointer(text.data()),
                           diag::ProfileSyntax, error.message());
      });
  return result;
}

//===----------------------------------------------------------------------===//
// --cost
//===----------------------------------------------------------------------===//

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
    std::optional<Rational> value = parseNumber(number.trim());
    if (!value)
      return bad(entry, "is not STEP=NUMBER");
    if (value->isNegative())
      return bad(entry, "is negative");
    SmallVector<StepKind, 2> members = parseMembers(key);
    if (members.empty() && key.trim() != "p2p")
      return bad(entry, "names no step");
    bool fresh = members.empty() ? !costs.p2p : setCost(costs, members, *value);
    if (!fresh)
      return bad(entry, "comes a second time");
    if (members.empty())
      costs.p2p = *value;
  }
  return costs;
}

} // namespace pipec
