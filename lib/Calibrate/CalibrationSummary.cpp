//===- CalibrationSummary.cpp - What calibrate found, for people ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/CalibrationSummary.h"

#include "Support/Decimal.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// `stage 0`, `edge 0 -> 1`, `F & B`; empty for the whole schedule.
static std::string placeText(const MeasuredFigure &figure) {
  const ScopeInfo &scope = infoOf(figure.place.scope);
  if (scope.scope == FigureScope::Overlap)
    return join(map_range(figure.members, stepKindName), " & ");
  return placeText(figure.place);
}

/// What the time of a clock needs to be that of rank 0, by clock, without that
/// of rank 0; the first rank that reads a clock stands for it.
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
     << countText(recording.numMicrobatches, "micro-batch", "es") << "; "
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
  TextTable table;
  table.column("figure", TextTable::Align::Left);
  table.column("of", TextTable::Align::Left);
  table.column("value");
  table.column("25 %");
  table.column("75 %");
  table.column("samples");
  table.column("found in", TextTable::Align::Left);
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
  json.attribute("microbatches", recording.numMicrobatches);
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
  json.attributeArray("clocks", [&] {
    for (unsigned rank : otherClocks(clocks))
      json.object([&] {
        json.attribute("rank", rank);
        json.attribute("known", bool(clocks.known[rank]));
        json.attribute("offset_ns", clocks.offset[rank]);
        json.attribute("interval_ns", 2 * clocks.uncertainty[rank]);
      });
  });
  json.attributeArray("figures", [&] {
    for (const MeasuredFigure &figure : calibration.figures)
      json.object([&] {
        json.attribute("block", blockName(figure.block));
        json.attribute("figure", infoOf(figure.figure).name);
        json.attribute("of", placeText(figure));
        writeExact(json, "value", figure.value);
        writeExact(json, "lower", figure.lower);
        writeExact(json, "upper", figure.upper);
        json.attribute("samples", figure.samples);
        json.attribute("found_in", evidenceText(figure.evidence));
      });
  });
  json.attributeArray("left_out", [&] {
    for (const std::string &line : calibration.leftOut)
      json.value(line);
  });
}

} // namespace pipec
