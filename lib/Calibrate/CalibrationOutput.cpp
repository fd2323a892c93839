//===- CalibrationOutput.cpp - The outputs of calibrate -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Calibration.h"

#include "Cost/SettingsText.h"
#include "Driver/Input.h"
#include "Support/Decimal.h"
#include "Support/Json.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The summary
//===----------------------------------------------------------------------===//

/// `stage 0`, `edge 0 -> 1`, `F & B`; empty for the whole schedule.
static std::string placeText(const MeasuredFigure &figure) {
  const ScopeInfo &scope = infoOf(figure.place.scope);
  if (scope.scope == FigureScope::Overlap)
    return overlapText(figure.members);
  return placeText(figure.place);
}

/// The first rank that reads each clock other than that of rank 0.
static SmallVector<unsigned> otherClocks(const Clocks &clocks) {
  SmallVector<unsigned> firsts;
  for (auto [rank, clock] : enumerate(clocks.clock))
    if (clock == firsts.size() + 1)
      firsts.push_back(rank);
  return firsts;
}

void printCalibration(const Recording &recording,
                      const Calibration &calibration, raw_ostream &os) {
  os << countText(recording.ranks.size(), "rank") << ", "
     << countText(recording.numStages, "stage") << ", "
     << countText(recording.numUnits, "micro-batch", "es") << "; "
     << countText(calibration.numSteps, "training step");
  if (const auto &time = calibration.stepTime) {
    os << " of " << decimalText((*time)[1]) << " ms";
    if (calibration.numSteps > 1)
      os << " (" << decimalText((*time)[0]) << " to " << decimalText((*time)[2])
         << ")";
  }
  os << '\n';
  const Clocks &clocks = calibration.clocks;
  for (unsigned rank : otherClocks(clocks)) {
    os << "clock of rank " << rank << ": ";
    if (!clocks.known[rank])
      os << "unknown, no transfers in both directions\n";
    else
      os << clocks.offset[rank] << " ns to that of rank 0, in an interval of "
         << 2 * clocks.uncertainty[rank] << " ns\n";
  }

  os << '\n';
  TextTable table("<figure|<of|value|25 %|75 %|samples|<found in");
  for (const MeasuredFigure &figure : calibration.figures) {
    std::string name = infoOf(figure.figure).name.str();
    if (figure.block == FigureBlock::Memory)
      name = "memory " + name;
    table.row({name, placeText(figure), decimalText(figure.value),
               decimalText(figure.lower), decimalText(figure.upper),
               utostr(figure.samples), evidenceText(figure.evidence).str()});
  }
  table.print(os);
  if (!calibration.leftOut.empty())
    os << "\nleft out:\n";
  for (const std::string &line : calibration.leftOut)
    os << "  " << line << '\n';
}

void writeCalibration(const Recording &recording,
                      const Calibration &calibration, json::OStream &json) {
  json.attribute("ranks", recording.ranks.size());
  json.attribute("stages", recording.numStages);
  json.attribute("microbatches", recording.numUnits);
  json.attribute("training_steps", calibration.numSteps);
  if (const auto &time = calibration.stepTime)
    json.attributeObject("step_time", [&] {
      writeExact(json, "min", (*time)[0]);
      writeExact(json, "median", (*time)[1]);
      writeExact(json, "max", (*time)[2]);
    });
  else
    json.attribute("step_time", nullptr);
  const Clocks &clocks = calibration.clocks;
  writeObjects(json, "clocks", otherClocks(clocks), [&](unsigned rank) {
    json.attribute("rank", rank);
    json.attribute("known", bool(clocks.known[rank]));
    json.attribute("offset_ns", clocks.offset[rank]);
    json.attribute("interval_ns", 2 * clocks.uncertainty[rank]);
  });
  writeObjects(json, "figures", calibration.figures, [&](const auto &figure) {
    json.attribute("block", blockName(figure.block));
    json.attribute("figure", infoOf(figure.figure).name);
    json.attribute("of", placeText(figure));
    writeExact(json, "value", figure.value);
    writeExact(json, "lower", figure.lower);
    writeExact(json, "upper", figure.upper);
    json.attribute("samples", figure.samples);
    json.attribute("found_in", evidenceText(figure.evidence));
  });
  writeTexts(json, "left_out", calibration.leftOut);
}

//===----------------------------------------------------------------------===//
// The profile
//===----------------------------------------------------------------------===//

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

void writeCostProfile(const Calibration &calibration, raw_ostream &os) {
  const CostSettings &costs = calibration.costs;
  const MemorySettings &memory = calibration.memory;
  double spread = 0;
  for (const MeasuredFigure &one : calibration.figures)
    if (one.block == FigureBlock::Cost && one.figure <= Figure::W)
      spread = std::max(spread, spreadOfQuartiles(one.lower.toDouble(),
                                                  one.upper.toDouble(),
                                                  one.value.toDouble()));
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("per", "stage");
    if (spread > 0)
      json.attributeObject("measured", [&] {
        writeNumber(json, "step_spread",
                    *Rational::make(std::llround(spread * 10000), 10000));
      });
    writeBlock(json, FigureBlock::Cost, costs);
    if (!costs.overlaps.empty())
      json.attributeObject("overlaps", [&] {
        for (const CostSettings::Overlap &overlap : costs.overlaps) {
          std::string key = overlapText(overlap.members);
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
