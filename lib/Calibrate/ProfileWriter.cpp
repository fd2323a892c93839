//===- ProfileWriter.cpp - Cost profiles of measurements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/ProfileWriter.h"

#include "Support/Decimal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <set>

using namespace llvm;

namespace pipec {

/// Writes a number with all its digits; one that has no end as a fraction.
static void writeNumber(json::OStream &json, StringRef key, Rational value) {
  Decimal decimal = toDecimal(value, /*exactDigits=*/18);
  if (decimal.exact) {
    json.attributeBegin(key);
    json.rawValue(decimal.text);
    json.attributeEnd();
    return;
  }
  std::string text;
  raw_string_ostream(text) << value;
  json.attribute(key, text);
}

static void writeRow(json::OStream &json, const FigureRow &row) {
  // Names of two words are in the object of the first one, once.
  auto write = [&](StringRef word, bool inside) {
    for (const auto &[figure, value] : row)
      if (const FigureInfo &info = infoOf(figure); info.word() == word)
        writeNumber(json,
                    !inside                ? info.word()
                    : info.inner().empty() ? "keeps"
                                           : info.inner(),
                    value);
  };
  std::set<StringRef> written;
  for (const auto &[figure, value] : row) {
    StringRef word = infoOf(figure).word();
    if (!written.insert(word).second)
      continue;
    bool inside = any_of(row, [&](const FigureRow::Entry &entry) {
      const FigureInfo &info = infoOf(entry.first);
      return info.word() == word && !info.inner().empty();
    });
    if (inside)
      json.attributeObject(word, [&] { write(word, inside); });
    else
      write(word, inside);
  }
}

/// The figures of a block and of the places in it.
static void writeBlock(json::OStream &json, FigureBlock block,
                       const FigureSet &figures) {
  writeRow(json, figures.at(Place{}));
  for (const ScopeInfo *scope : scopesOf(block)) {
    if (scope->scope == FigureScope::Nodes || !figures.has(scope->scope))
      continue;
    json.attributeObject(scope->profileKey, [&] {
      for (const auto &[place, row] : figures.in(scope->scope)) {
        std::string key = utostr(place.number);
        if (scope->numbers == 2)
          key += " -> " + utostr(place.to);
        json.attributeObject(key, [&] { writeRow(json, row); });
      }
    });
  }
}

void writeCostProfile(const CostSettings &costs, const MemorySettings &memory,
                      raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("per", "stage");
    writeBlock(json, FigureBlock::Cost, costs);
    if (!costs.overlaps.empty())
      json.attributeObject("overlaps", [&] {
        for (const CostSettings::Overlap &overlap : costs.overlaps) {
          std::string key =
              join(map_range(overlap.members, stepKindName), " & ");
          if (overlap.isFactor)
            json.attributeObject(
                key, [&] { writeNumber(json, "factor", overlap.cost); });
          else
            writeNumber(json, key, overlap.cost);
        }
      });
    if (!memory.empty())
      json.attributeObject(
          "memory", [&] { writeBlock(json, FigureBlock::Memory, memory); });
  });
  os << '\n';
}

} // namespace pipec
