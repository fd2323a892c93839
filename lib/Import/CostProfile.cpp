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

#include "IR/SettingWords.h"

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

/// Reads a number as JSON and people write it: `7/2`, `1e-3`, `.5`.
static std::optional<Rational> parseNumber(StringRef text) {
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

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// A walk over the members of objects in a text that is known to be JSON.
class ProfileReader {
public:
  ProfileReader(StringRef text, DiagEngine &diags)
      : text(text), rest(text), diags(diags) {}

  FailureOr<CostProfile> read() {
    members([&](StringRef key) { return topLevel(key); });
    if (!good)
      return failure();
    return std::move(profile);
  }

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  SMRange rangeOf(StringRef part) const {
    return {SMLoc::getFromPointer(part.begin()),
            SMLoc::getFromPointer(part.end())};
  }
  template <typename... Args> void report(StringRef part, Args &&...args) {
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
    return parsed;
  }

  void unknownKey(StringRef key) {
    report(key, diag::ProfileUnknownKey, key);
    (void)takeValue();
  }

  /// Takes the value of a cost to `place`.
  void cost(std::optional<Rational> &place) {
    skipSpace();
    StringRef value = rest;
    if (!(place = number()))
      return;
    if (place->isNegative())
      report(value.drop_back(rest.size()), diag::NegativeCost);
  }
  void factor(StringRef key, Rational &place) {
    std::optional<Rational> value;
    if (key != "factor")
      return unknownKey(key);
    cost(value);
    place = value.value_or(Rational());
  }

  void topLevel(StringRef key) {
    CostSettings &costs = profile.costs;
    if (std::optional<Rational> *place = findSetting(costs, key))
      cost(*place);
    else if (key == "overlaps")
      members([&](StringRef name) { overlap(name); });
    else if (key == "stages")
      members([&](StringRef name) {
        if (auto stage = index(name, maxStages))
          row(costs.stages[*stage]);
      });
    else if (key == "ranks")
      members([&](StringRef name) {
        if (auto rank = index(name, maxRanks))
          rankCosts(*rank);
      });
    else if (key == "microbatches")
      members([&](StringRef name) {
        auto microbatch = index(name, maxMicrobatches);
        if (microbatch)
          members([&](StringRef key) {
            factor(key, costs.microbatchFactors[*microbatch]);
          });
      });
    else if (key == "nodes")
      nodes();
    else if (key == "edges")
      members([&](StringRef name) { edge(name); });
    else if (key == "memory")
      members([&](StringRef name) { memory(name); });
    else
      unknownKey(key);
  }

  /// The number that a key is; reports any other key.
  std::optional<unsigned> index(StringRef key, unsigned limit) {
    unsigned number = 0;
    if (!key.getAsInteger(10, number) && number < limit)
      return number;
    unknownKey(key);
    return std::nullopt;
  }

  template <typename Settings> void row(Settings &settings) {
    members([&](StringRef key) {
      if (std::optional<Rational> *place = findSetting(settings, key))
        cost(*place);
      else
        unknownKey(key);
    });
  }

  void overlap(StringRef name) {
    SmallVector<StepKind, 2> kinds = parseMembers(name);
    if (kinds.size() < 2)
      return unknownKey(name);
    // `F&B` and `F & B` are two keys for one overlap.
    if (is_contained(overlapsSeen, kinds))
      report(name, diag::ProfileKeyTwice, name);
    overlapsSeen.push_back(kinds);
    CostSettings::Overlap overlap = {kinds, Rational()};
    skipSpace();
    overlap.isFactor = rest.starts_with("{");
    std::optional<Rational> value;
    if (overlap.isFactor) {
      members([&](StringRef key) { factor(key, overlap.cost); });
    } else {
      cost(value);
      overlap.cost = value.value_or(Rational());
    }
    profile.costs.set(overlap);
  }

  void rankCosts(unsigned rank) {
    CostSettings::Row row;
    members([&](StringRef key) {
      if (std::optional<Rational> *place = findSetting(row, key))
        cost(*place);
      else
        factor(key, profile.costs.rankFactors[rank]);
    });
    if (!row.empty())
      profile.costs.ranks[rank] = row;
  }

  void nodes() {
    CostSettings::Nodes &nodes = profile.costs.nodes.emplace();
    members([&](StringRef key) {
      if (std::optional<Rational> *place = findSetting(nodes.edge, key))
        return cost(*place);
      if (key != "ranks")
        return unknownKey(key);
      StringRef value = takeValue();
      if (value.getAsInteger(10, nodes.size) || nodes.size == 0)
        report(value, diag::ProfileNotCount, value.take_front(40));
    });
  }

  void edge(StringRef name) {
    auto [from, to] = name.split("->");
    unsigned ends[2];
    if (from.trim().getAsInteger(10, ends[0]) ||
        to.trim().getAsInteger(10, ends[1]) || ends[0] >= maxRanks ||
        ends[1] >= maxRanks)
      return unknownKey(name);
    if (ends[0] == ends[1])
      report(name, diag::EdgeInsideRank, ends[0]);
    auto [place, isNew] = profile.costs.edges.try_emplace({ends[0], ends[1]});
    if (!isNew)
      report(name, diag::ProfileKeyTwice, name);
    row(place->second);
  }

  void memory(StringRef key) {
    if (key == "stages")
      members([&](StringRef name) {
        auto stage = index(name, maxStages);
        if (stage)
          members([&](StringRef key) {
            memorySize(profile.memory.stages[*stage], key);
          });
      });
    else
      memorySize(profile.memory, key);
  }

  template <typename Settings>
  void memorySize(Settings &settings, StringRef key) {
    std::optional<Rational> *place = findSetting(settings, key);
    if (!place)
      return unknownKey(key);
    skipSpace();
    StringRef value = rest;
    *place = number();
    if (*place && isMemorySize(key) && (*place)->isNegative())
      report(value.drop_back(rest.size()), diag::NegativeSize);
  }

  StringRef text;
  StringRef rest;
  DiagEngine &diags;
  CostProfile profile;
  std::vector<SmallVector<StepKind, 2>> overlapsSeen;
  bool good = true;
};

} // namespace

FailureOr<CostProfile> readCostProfile(StringRef text, DiagEngine &diags) {
  Expected<json::Value> parsed = json::parse(text);
  if (parsed)
    return ProfileReader(text, diags).read();
  FailureOr<CostProfile> result = failure();
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
    bool fresh = true;
    if (members.size() > 1) {
      fresh = !costs.ofOverlap(members);
      costs.set({members, *value});
    } else if (auto *place = findSetting(costs, key.trim())) {
      fresh = !*place;
      *place = *value;
    } else {
      return bad(entry, "names no step");
    }
    if (!fresh)
      return bad(entry, "comes a second time");
  }
  return costs;
}

} // namespace pipec
