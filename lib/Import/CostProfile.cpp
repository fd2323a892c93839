//===- CostProfile.cpp - Costs from the command line and from files -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/CostProfile.h"

#include "Cost/SettingWords.h"
#include "IR/Step.h"
#include "Import/JsonWalk.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

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
// Profiles
//===----------------------------------------------------------------------===//

namespace {

/// A key of an object that is not a figure, and what reads its value.
struct ProfileKey {
  StringRef name;
  function_ref<void()> read;
};

/// Reads the objects of a profile: `readTop` and the functions that it names
/// say which keys there are, and SettingWords.h which figures.
class ProfileReader {
public:
  ProfileReader(StringRef text, DiagEngine &diags) : json(text), diags(diags) {
    given.source = SMRange(SMLoc::getFromPointer(text.begin()),
                           SMLoc::getFromPointer(text.begin()));
  }

  FailureOr<GivenSettings> read() {
    readTop();
    if (!good)
      return failure();
    given.costs.push_back(std::move(costs));
    given.memory.push_back(std::move(memory));
    return std::move(given);
  }

private:
  using KeyKind = GivenSettings::Key::Kind;

  template <typename... Args> void report(StringRef part, Args &&...args) {
    good = false;
    (void)diags.report(rangeOf(part), std::forward<Args>(args)...);
  }

  //===--------------------------------------------------------------------===//
  // What a profile holds
  //===--------------------------------------------------------------------===//

  void readTop() {
    figures(costs,
            {{"per", [&] { readPer(); }},
             {"parts", [&] { readParts(); }},
             {"overlaps",
              [&] { members([&](StringRef name) { readOverlap(name); }); }},
             {"stages",
              [&] {
                indexed(KeyKind::Stage, maxStages, [&](unsigned stage) {
                  keepRow(costs.stages, stage, {});
                });
              }},
             {"ranks",
              [&] {
                indexed(KeyKind::Rank, maxRanks, [&](unsigned rank) {
                  keepRow(costs.ranks, rank,
                          {{"factor",
                            [&] { readFactor(costs.rankFactors[rank]); }}});
                });
              }},
             {"microbatches",
              [&] {
                indexed(KeyKind::Microbatch, maxMicrobatches,
                        [&](unsigned microbatch) {
                          factorObject(costs.microbatchFactors[microbatch]);
                        });
              }},
             {"nodes", [&] { readNodes(); }},
             {"edges", [&] { readEdges(); }},
             {"memory", [&] { readMemory(); }}});
    if (given.parts && given.per == CostPer::Stage)
      report(partsText, diag::ProfilePartsPerStage);
    if (given.parts)
      given.per = CostPer::Part;
  }

  void readPer() {
    StringRef value = json.takeValue();
    if (value == "\"stage\"")
      given.per = CostPer::Stage;
    else if (value == "\"part\"")
      given.per = CostPer::Part;
    else
      report(value, diag::ProfileUnknownPer, value.take_front(40));
    given.source = rangeOf(value);
  }

  void readParts() {
    StringRef value = json.takeValue();
    unsigned parts = 0;
    if (readCount(value, "parts", maxStages, parts))
      given.parts = parts;
    partsText = value;
  }

  void readOverlap(StringRef name) {
    SmallVector<StepKind, 2> kinds = parseMembers(name);
    if (kinds.size() < 2)
      return unknownKey(name, {});
    // `F&B` and `F & B` are two keys for one overlap.
    if (!overlapsSeen.insert(kinds).second)
      report(name, diag::ProfileKeyTwice, name);
    CostSettings::Overlap overlap = {kinds, Rational(), json.atObject()};
    if (overlap.isFactor)
      factorObject(overlap.cost);
    else
      readFactor(overlap.cost);
    costs.overlaps.push_back(std::move(overlap));
  }

  void readNodes() {
    CostSettings::Nodes nodes;
    figures(nodes.edge, {{"ranks", [&] {
                            readCount(json.takeValue(), "ranks", maxRanks,
                                      nodes.size);
                          }}});
    if (!nodes.edge.empty())
      costs.nodes = nodes;
  }

  void readEdges() {
    std::set<std::pair<unsigned, unsigned>> seen;
    members([&](StringRef name) {
      auto [from, to] = name.split("->");
      std::pair<unsigned, unsigned> ends;
      if (from.trim().getAsInteger(10, ends.first) ||
          to.trim().getAsInteger(10, ends.second) || ends.first >= maxRanks ||
          ends.second >= maxRanks)
        return unknownKey(name, {});
      if (ends.first == ends.second)
        report(name, diag::EdgeInsideRank, ends.first);
      if (!seen.insert(ends).second)
        report(name, diag::ProfileKeyTwice, name);
      given.keys.push_back(
          {KeyKind::Edge, std::max(ends.first, ends.second), rangeOf(name)});
      keepRow(costs.edges, ends, {});
    });
  }

  void readMemory() {
    figures(memory, {{"stages", [&] {
                        indexed(KeyKind::Stage, maxStages, [&](unsigned stage) {
                          keepRow(memory.stages, stage, {});
                        });
                      }}});
  }

  //===--------------------------------------------------------------------===//
  // Forms of objects
  //===--------------------------------------------------------------------===//

  /// Takes an object and hands its keys to `member`, which takes the values.
  /// Reports anything else, and a key that comes twice.
  void members(function_ref<void(StringRef)> member) {
    if (!json.atObject())
      return report(json.takeValue(), diag::ProfileNotObject);
    StringSet<> seen;
    json.takeObject([&](StringRef key) {
      if (!seen.insert(key).second)
        report(key, diag::ProfileKeyTwice, key);
      member(key);
    });
  }

  /// An object with a key for each stage, rank or micro-batch that has
  /// something of its own.
  void indexed(KeyKind kind, unsigned limit,
               function_ref<void(unsigned)> read) {
    DenseSet<unsigned> seen;
    members([&](StringRef key) {
      unsigned number = 0;
      if (key.getAsInteger(10, number) || number >= limit)
        return unknownKey(key, {});
      // `1` and `01` are two keys for one.
      if (!seen.insert(number).second)
        report(key, diag::ProfileKeyTwice, key);
      given.keys.push_back({kind, number, rangeOf(key)});
      read(number);
    });
  }

  /// An object of the figures of `settings` and of `keys`.
  template <typename Settings>
  void figures(Settings &settings, ArrayRef<ProfileKey> keys) {
    members([&](StringRef name) {
      if (std::optional<Rational> *place = findSetting(settings, name))
        return readFigure<Settings>(name, *place);
      for (const ProfileKey &key : keys)
        if (key.name == name)
          return key.read();
      SmallVector<StringRef> known;
      for (const SettingWord<Settings> &word : settingWords<Settings>())
        known.push_back(word.name);
      for (const ProfileKey &key : keys)
        known.push_back(key.name);
      unknownKey(name, known);
    });
  }

  /// An object of figures that is kept in a map if it has some.
  template <typename Rows>
  void keepRow(Rows &rows, const typename Rows::key_type &key,
               ArrayRef<ProfileKey> keys) {
    typename Rows::mapped_type row;
    figures(row, keys);
    if (!row.empty())
      rows.insert_or_assign(key, std::move(row));
  }

  /// An object with a `factor` and nothing else.
  void factorObject(Rational &place) {
    members([&](StringRef name) {
      if (name != "factor")
        return unknownKey(name, {"factor"});
      readFactor(place);
    });
  }

  /// Reports a key that no object of this form has, and skips its value.
  void unknownKey(StringRef key, ArrayRef<StringRef> known) {
    good = false;
    InFlightDiagnostic error =
        diags.report(rangeOf(key), diag::ProfileUnknownKey, key.take_front(40));
    if (StringRef meant = nearestWord(key.take_front(40), known);
        !meant.empty())
      error.note(rangeOf(key), diag::NoteDidYouMean, meant);
    (void)json.takeValue();
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  std::optional<Rational> readNumber(StringRef value) {
    std::optional<Rational> parsed = value.starts_with("\"")
                                         ? Rational::parse(value.trim('"'))
                                         : parseNumber(value);
    if (!parsed)
      report(value, diag::ProfileNotNumber, value.take_front(40));
    return parsed;
  }

  /// What a step does to memory may be negative; all else is a cost or a size.
  template <typename Settings>
  void readFigure(StringRef name, std::optional<Rational> &place) {
    constexpr bool isMemory = std::is_same_v<Settings, MemorySettings> ||
                              std::is_same_v<Settings, MemorySettings::Row>;
    StringRef value = json.takeValue();
    place = readNumber(value);
    if (!place || !place->isNegative())
      return;
    if (!isMemory)
      report(value, diag::NegativeCost);
    else if (isMemorySize(name))
      report(value, diag::NegativeSize);
  }

  /// A time or a factor that has no default.
  void readFactor(Rational &place) {
    std::optional<Rational> value;
    readFigure<CostSettings>("factor", value);
    place = value.value_or(Rational());
  }

  bool readCount(StringRef value, StringRef what, unsigned limit,
                 unsigned &place) {
    unsigned count = 0;
    bool isCount =
        !value.getAsInteger(10, count) && count != 0 && count <= limit;
    if (isCount)
      place = count;
    else
      report(value, diag::ProfileNotCount, value.take_front(40), what, limit);
    return isCount;
  }

  JsonWalk json;
  DiagEngine &diags;
  GivenSettings given;
  CostSettings costs;
  MemorySettings memory;
  StringRef partsText;
  std::set<SmallVector<StepKind, 2>> overlapsSeen;
  bool good = true;
};

} // namespace

FailureOr<GivenSettings> readCostProfile(StringRef text, DiagEngine &diags) {
  if (failed(checkJson(text, diags)))
    return failure();
  return ProfileReader(text, diags).read();
}

//===----------------------------------------------------------------------===//
// --cost
//===----------------------------------------------------------------------===//

/// The word that `key` was probably meant to be: the nearest one, else that of
/// one letter with which it begins, such as `F` of `fwd`.
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
      InFlightDiagnostic error = bad(entry, "does not name a step or a figure");
      std::vector<StringRef> words;
      for (const SettingWord<CostSettings> &word :
           settingWords<CostSettings>())
        words.push_back(word.name);
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
