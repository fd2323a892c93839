//===- CostProfile.cpp - Costs from files ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayoutText.h"
#include "Import/CostText.h"
#include "Import/WeightFile.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// A key of an object that is not a figure, and the function that reads its
/// value.
struct ProfileKey {
  StringRef name;
  function_ref<void()> read;
};

/// Reads the objects of a profile. `readTop` and the functions that it names
/// define the keys, and Figures.def the figures.
class ProfileReader {
public:
  ProfileReader(StringRef text, DiagEngine &diags) : json(text), diags(diags) {
    given.source = rangeOf(text.take_front(0));
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
  template <typename... Args> void report(StringRef part, Args &&...args) {
    good = false;
    (void)diags.report(rangeOf(part), std::forward<Args>(args)...);
  }

  //===--------------------------------------------------------------------===//
  // The keys of a profile
  //===--------------------------------------------------------------------===//

  void readTop() {
    readBlock(FigureBlock::Cost, costs,
              {{"per", [&] { readPer(); }},
               {"parts", [&] { readParts(); }},
               {"layers", [&] { readLayers(); }},
               {"layout", [&] { readLayout(); }},
               {"sequence", [&] { readSequence(); }},
               {"measured", [&] { readMeasured(); }},
               {"share", [&] { readShares(); }},
               {"sections", [&] { readSections(); }},
               {"weights", [&] { readWeights(); }},
               {"memory", [&] {
                  readBlock(FigureBlock::Memory, memory,
                            {{"limits", [&] { readLimits(); }}});
                }}});
    if (given.batch && given.batch->limit) {
      if (memory.get(Figure::Limit)) {
        good = false;
        (void)diags.report(given.batch->limitLoc, diag::ProfileKeyTwice,
                           "limit");
      }
      memory.set(Figure::Limit, *given.batch->limit);
    }
    if (given.parts && given.per && given.per != CostPer::Part)
      report(partsText, diag::ProfilePartsPerStage, costPerName(*given.per));
    if (given.parts)
      given.per = CostPer::Part;
    if (given.per == CostPer::Layer && !given.layersSource.isValid())
      given.layersSource = given.source;
  }

  /// Reads what was measured, of which the unit matters: `"ms and bytes"`.
  void readMeasured() {
    if (!json.at('{'))
      return (void)json.value();
    members([&](StringRef key) {
      StringRef value = json.value();
      given.inBytes |= key == "unit" && value.contains("bytes");
    });
  }

  /// Reads `[{"ranks": 2, "streams": ["out", "in"]}]`.
  void readShares() {
    if (!json.at('['))
      return report(json.value(), diag::ProfileNotList);
    json.list([&] {
      const char *begin = json.here();
      costs.shares.emplace_back().ranks = 0;
      members([&](StringRef key) {
        if (key == "ranks")
          return (void)readCount(json.value(), key, maxRanks,
                                 costs.shares.back().ranks);
        if (key != "streams")
          return unknownKey(key, {"ranks", "streams"});
        if (!json.at('['))
          return report(json.value(), diag::ProfileNotList);
        json.list([&] {
          StringRef name = json.value();
          good &=
              succeeded(costs.addShared(name.trim('"'), rangeOf(name), diags));
        });
      });
      const CostSettings::Share &share = costs.shares.back();
      if (good && (share.ranks == 0 || share.streams.empty()))
        report(StringRef(begin, json.here() - begin), diag::ShareWithout,
               share.ranks == 0 ? "`ranks`" : "`streams`");
    });
  }

  /// Reads `{"dispatch": {"F": 0.4, "B": 0.4}}`.
  void readSections() {
    constexpr StepKind kinds[] = {StepKind::F, StepKind::B, StepKind::W};
    members([&](StringRef name) {
      members([&](StringRef key) {
        std::optional<StepKind> kind = parseStepKind(key);
        if (!kind || !is_contained(kinds, *kind))
          return unknownKey(key, {"F", "B", "W"});
        if (auto time = readFigure(infoOf(Figure::F)))
          given.sections.push_back({name.str(), *kind, *time, rangeOf(name)});
      });
    });
  }

  /// Reads the factors of all micro-batches, with their sizes and the limit.
  void readWeights() {
    FailureOr<BatchWeights> batch = pipec::readWeights(json, diags);
    good &= succeeded(batch);
    if (failed(batch))
      return;
    for (auto [stage, row] : enumerate(batch->weights)) {
      for (auto [i, weight] : enumerate(row.values))
        costs.set(Figure::Factor, weight,
                  batch->perStage
                      ? Place{FigureScope::StageMicrobatch, unsigned(stage),
                              unsigned(i)}
                      : Place{FigureScope::Microbatch, unsigned(i)});
      if (!row.values.empty())
        given.keys.push_back({FigureScope::Microbatch,
                              unsigned(row.values.size() - 1), row.loc.range});
    }
    if (batch->perStage)
      given.keys.push_back({FigureScope::Stage,
                            unsigned(batch->weights.size() - 1),
                            batch->loc.range});
    if (batch->sizes && !batch->sizes->values.empty())
      given.keys.push_back({FigureScope::Microbatch,
                            unsigned(batch->sizes->values.size() - 1),
                            batch->sizes->loc.range});
    given.batch = std::move(*batch);
  }

  void readPer() {
    StringRef value = json.value();
    if (value == "\"stage\"")
      given.per = CostPer::Stage;
    else if (value == "\"part\"")
      given.per = CostPer::Part;
    else if (value == "\"layer\"")
      given.per = CostPer::Layer;
    else
      report(value, diag::ProfileUnknownPer, value.take_front(40));
    given.source = rangeOf(value);
  }

  void readParts() {
    StringRef value = json.value();
    unsigned parts = 0;
    if (readCount(value, "parts", maxStages, parts))
      given.parts = parts;
    partsText = value;
  }

  void readLayout() { readLayers(parseLayout); }
  void readSequence() {
    readLayers([](StringRef text, DiagEngine &diags) -> FailureOr<LayerLayout> {
      FailureOr<std::string> layers = parseLayers(text, diags);
      if (failed(layers))
        return failure();
      return LayerLayout::even(std::move(*layers));
    });
  }

  /// Reads a layout by `parse`. The text is not unescaped, so every place in it
  /// is one of the file.
  void readLayers(
      function_ref<FailureOr<LayerLayout>(StringRef, DiagEngine &)> parse) {
    StringRef value = json.value();
    if (!value.starts_with("\""))
      return report(value, diag::ProfileNotLayout, value.take_front(40));
    if (given.layout)
      return report(value, diag::ProfileTwoLayouts);
    FailureOr<LayerLayout> layout =
        parse(value.drop_front().drop_back(), diags);
    if (failed(layout)) {
      good = false;
      return;
    }
    given.layout = std::move(*layout);
    given.layoutOfProfile = true;
  }

  /// Reads the figures of a block, and its scopes.
  void readBlock(FigureBlock block, FigureSet &figures,
                 ArrayRef<ProfileKey> keys = {}) {
    SmallVector<const ScopeInfo *, 8> scopes = scopesOf(block);
    SmallVector<StringRef> known;
    for (const ProfileKey &key : keys)
      known.push_back(key.name);
    for (const ScopeInfo *scope : scopes)
      known.push_back(scope->profileKey);
    figures.merge(
        {}, readRow(block, FigureScope::Whole, known, [&](StringRef name) {
          for (const ProfileKey &key : keys)
            if (key.name == name)
              key.read();
          for (const ScopeInfo *scope : scopes)
            if (scope->profileKey == name)
              readScope(block, *scope, figures);
        }));
  }

  /// The limits of single ranks.
  void readLimits() {
    members([&](StringRef key) {
      Place place{FigureScope::Rank};
      if (key.getAsInteger(10, place.number) || place.number >= maxRanks)
        return unknownKey(key, {});
      if (memory.get(Figure::Limit, place))
        report(key, diag::ProfileKeyTwice, key);
      given.keys.push_back({FigureScope::Rank, place.number, rangeOf(key)});
      if (auto limit = readFigure(infoOf(Figure::Limit)))
        memory.set(Figure::Limit, *limit, place);
    });
  }

  /// The figures of single kinds of layers.
  void readLayers() {
    members([&](StringRef key) {
      std::optional<LayerKind> kind;
      if (key.size() == 1)
        kind = layerOf(key.front());
      if (!kind)
        return unknownKey(key, {});
      given.layersSource = rangeOf(key);
      LayerFigures &own = given.layers[size_t(*kind)].emplace();
      members([&](StringRef name) {
        const FigureInfo *info = findLayerFigure(name);
        if (!info)
          return unknownKey(name, layerFigureNames());
        if (std::optional<Rational> value = readFigure(*info))
          (info->block == FigureBlock::Cost ? own.costs : own.memory)
              .set(info->figure, *value);
      });
    });
  }

  void readScope(FigureBlock block, const ScopeInfo &scope,
                 FigureSet &figures) {
    switch (scope.scope) {
    case FigureScope::Overlap:
      return members([&](StringRef name) { readOverlap(name); });
    case FigureScope::Nodes: {
      Place nodes{FigureScope::Nodes, 1};
      FigureRow row = readRow(block, nodes.scope, {"ranks"}, [&](StringRef) {
        readCount(json.value(), "ranks", maxRanks, nodes.number);
      });
      return figures.merge(nodes, row);
    }
    default:
      return readPlaces(block, scope, figures);
    }
  }

  /// Reads an object with a key for each place that has figures of its own.
  void readPlaces(FigureBlock block, const ScopeInfo &scope,
                  FigureSet &figures) {
    unsigned limit = countOf(scope.scope, maxSizes);
    auto isNumber = [&](StringRef text, unsigned &number) {
      return !text.getAsInteger(10, number) && number < limit;
    };
    std::set<Place> seen;
    members([&](StringRef key) {
      Place place{scope.scope};
      auto [from, to] = key.split("->");
      if (scope.numbers == 2 ? !isNumber(from.trim(), place.number) ||
                                   !isNumber(to.trim(), place.to)
                             : !isNumber(key, place.number))
        return unknownKey(key, {});
      if (scope.numbers == 2 && place.number == place.to)
        report(key, diag::EdgeInsideRank, place.to);
      // `1` and `01` are two keys for the same place.
      if (!seen.insert(place).second)
        report(key, diag::ProfileKeyTwice, key);
      given.keys.push_back(
          {scope.scope, std::max(place.number, place.to), rangeOf(key)});
      const ScopeInfo *inside = scopeInside(block, scope.scope);
      SmallVector<StringRef, 1> more;
      if (inside)
        more.push_back(inside->profileKey);
      figures.merge(place, readRow(block, scope.scope, more, [&](StringRef) {
                      readMicrobatches(block, place.number, figures);
                    }));
    });
  }

  /// The figures of single micro-batches on one stage.
  void readMicrobatches(FigureBlock block, unsigned stage, FigureSet &figures) {
    members([&](StringRef key) {
      Place place{FigureScope::StageMicrobatch, stage};
      if (key.getAsInteger(10, place.to) || place.to >= maxUnits)
        return unknownKey(key, {});
      // `1` and `01` are two keys for the same place.
      if (!microbatchesSeen.insert(place).second)
        report(key, diag::ProfileKeyTwice, key);
      given.keys.push_back({FigureScope::Microbatch, place.to, rangeOf(key)});
      figures.merge(place, readRow(block, place.scope));
    });
  }

  void readOverlap(StringRef name) {
    SmallVector<StepKind, 2> kinds = parseCostMembers(name);
    if (kinds.size() < 2)
      return unknownKey(name, {});
    // `F&B` and `F & B` are two keys for the same overlap.
    if (!overlapsSeen.insert(kinds).second)
      report(name, diag::ProfileKeyTwice, name);
    bool isFactor = json.at('{');
    // A number is a time, like the cost of a step.
    std::optional<Rational> cost =
        isFactor ? readRow(FigureBlock::Cost, FigureScope::Overlap)
                       .get(Figure::Factor)
                 : readFigure(infoOf(Figure::F));
    if (cost)
      costs.overlaps.push_back({kinds, *cost, isFactor});
  }

  //===--------------------------------------------------------------------===//
  // Forms of objects
  //===--------------------------------------------------------------------===//

  /// Reads an object. Calls `member` for each key; `member` reads the value.
  /// Reports values that are not objects, and duplicate keys.
  void members(function_ref<void(StringRef)> member) {
    if (!json.at('{'))
      return report(json.value(), diag::ProfileNotObject);
    StringSet<> seen;
    json.object([&](StringRef key) {
      if (!seen.insert(key).second)
        report(key, diag::ProfileKeyTwice, key);
      member(key);
    });
  }

  /// Reads an object with the figures of a scope and the keys `more`, which
  /// `other` handles.
  FigureRow readRow(FigureBlock block, FigureScope scope,
                    ArrayRef<StringRef> more = {},
                    function_ref<void(StringRef)> other = nullptr) {
    FigureRow row;
    members([&](StringRef name) {
      if (const FigureInfo *info = findFigure(block, scope, name)) {
        if (json.at('{') && !innerNames(block, scope, name).empty())
          readInner(*info, scope, row);
        else if (std::optional<Rational> value = readFigure(*info))
          row.set(info->figure, *value);
      } else if (is_contained(more, name)) {
        other(name);
      } else {
        SmallVector<StringRef, 12> known = figureNames(block, scope);
        known.append(more.begin(), more.end());
        unknownKey(name, known);
      }
    });
    return row;
  }

  /// Reads `{"keeps": -1, "during": 1}`: a figure, and those whose names have
  /// another word after its own.
  void readInner(const FigureInfo &figure, FigureScope scope, FigureRow &row) {
    static constexpr StringRef keeps = "keeps";
    members([&](StringRef key) {
      const FigureInfo *info =
          key == keeps ? &figure
                       : findFigure(figure.block, scope, figure.name, key);
      if (!info) {
        SmallVector<StringRef, 4> known = {keeps};
        append_range(known, innerNames(figure.block, scope, figure.name));
        return unknownKey(key, known);
      }
      if (std::optional<Rational> value = readFigure(*info))
        row.set(info->figure, *value);
    });
  }

  /// Reports an unknown key and skips its value.
  void unknownKey(StringRef key, ArrayRef<StringRef> known) {
    good = false;
    InFlightDiagnostic error =
        diags.report(rangeOf(key), diag::ProfileUnknownKey, key.take_front(40));
    if (StringRef meant = nearestWord(key.take_front(40), known);
        !meant.empty())
      error.suggest(rangeOf(key), meant);
    else if (!known.empty())
      error.note(rangeOf(key), diag::NoteChoices, join(known, "`, `"));
    (void)json.value();
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  /// Returns the value of a figure; empty after an error.
  std::optional<Rational> readFigure(const FigureInfo &info) {
    StringRef value = json.value();
    std::optional<Rational> parsed = value.starts_with("\"")
                                         ? Rational::parse(value.trim('"'))
                                         : parseCostNumber(value);
    if (!parsed)
      report(value, diag::ProfileNotNumber, value.take_front(40));
    else if (info.refuses(*parsed) && info.unit == FigureUnit::Size)
      report(value, diag::NegativeSize);
    else if (info.refuses(*parsed))
      report(value, diag::NegativeCost);
    return parsed;
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

  JsonReader json;
  DiagEngine &diags;
  GivenSettings given;
  CostSettings costs;
  MemorySettings memory;
  StringRef partsText;
  std::set<SmallVector<StepKind, 2>> overlapsSeen;
  std::set<Place> microbatchesSeen;
  bool good = true;
};

} // namespace

FailureOr<GivenSettings> readCostProfile(StringRef text, DiagEngine &diags) {
  // The only error of a text that is not JSON is where it is not.
  JsonReader syntax(text);
  (void)syntax.value();
  syntax.finish();
  const JsonReader::Fault &fault = syntax.fault();
  SMLoc at = SMLoc::getFromPointer(fault.at);
  if (fault.isTooDeep)
    return diags.report(at, diag::ProfileTooDeep, maxJsonDepth);
  if (syntax.hasFault())
    return diags.report(at, diag::ProfileSyntax, fault.text);
  return ProfileReader(text, diags).read();
}

} // namespace pipec
