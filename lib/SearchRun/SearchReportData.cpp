//===- SearchReportData.cpp - The report of a search as JSON --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/SearchReport.h"

#include "Support/Json.h"

using namespace llvm;

namespace pipec {

void SearchReport::printMemoryBy(json::OStream &json) const {
  json.attribute("memory_by", textOrNull(found.memoryBy));
  json.attribute("bound_plain", boundIsPlain());
  if (found.memoryBy.empty())
    return;
  if (const auto &plain = result.plain)
    json.attributeObject("plain", [&] {
      writeExact(json, "makespan", plain->makespan);
      writeExact(json, "bound", plain->bound.bound);
    });
  else
    json.attribute("plain", nullptr);
  writeArray(json, "recomputed", recomputed(),
             [&](unsigned units) { json.value(units); });
}

void SearchReport::printMemory(json::OStream &json) const {
  if (minimal)
    json.attributeObject("minimal_memory", [&] {
      writeExact(json, "limit", minimal->limit);
      writeExact(json, "bound", minimal->bound);
      writeExact(json, "goal", minimal->goal);
      json.attribute("backward", nameOf(request.form()));
    });
  if (frontier.empty())
    return;
  writeObjects(json, "frontier", frontier, [&](const MemoryPoint &point) {
    for (const auto &column : frontierColumns)
      writeExact(json, column.name, column.of(point));
    json.attribute("backward", nameOf(request.form()));
  });
}

void SearchReport::printLayouts(json::OStream &json) const {
  if (!layouts)
    return;
  json.attribute("layout", layouts->best);
  json.attributeObject("layouts", [&] {
    writeExact(json, "bound", layouts->bound);
    json.attribute("optimal", layouts->bound == found.makespan);
    json.attribute("searched", layouts->searched);
    json.attribute("bounded", layouts->bounded);
    json.attribute("even", layouts->even);
    writeExact(json, "even_makespan", layouts->evenMakespan);
  });
}

/// Each placement, form and layout.
void SearchReport::printAll(json::OStream &json) const {
  writeExact(json, "bound_all", boundOfAll());
  const auto &all = layouts ? layouts->each : result.trials;
  writeObjects(json, "searched", all, [&](const PlacementTrial &trial) {
    json.attribute("placement", requestOf(request, trial).placementName());
    json.attribute("chunks", trial.chunks);
    json.attribute("backward", nameOf(trial.form));
    std::string layout = trial.layout;
    if (!layouts && !found.model.header.layers.empty() && isOfBest(trial))
      layout = layoutText(found.model.header.layers);
    json.attribute("layout", textOrNull(layout));
    writeExact(json, "makespan", trial.makespan);
    writeExact(json, "bound", trial.bound);
    json.attribute("state", !trial.hasSchedules() ? "excluded"
                            : trial.makespan      ? "searched"
                                                  : "bounded");
    if (trial.outcome == PlacementTrial::Outcome::Covered)
      json.attribute("reason", "split backwards are at least as good");
    else if (!trial.reason.empty())
      json.attribute("reason", trial.reason);
  });
}

void SearchReport::printTrial(json::OStream &json,
                              const PlacementTrial &trial) const {
  json.attribute("backward", nameOf(trial.form));
  json.attribute("outcome", nameOf(trial.outcome));
  writeExact(json, "makespan", trial.makespan);
  writeExact(json, "bound", trial.bound);
  if (!trial.reason.empty())
    json.attribute("reason", trial.reason);
}

void SearchReport::printPlacements(json::OStream &json) const {
  if (!hasPlacements() || !found.memoryBy.empty())
    return;
  json.attributeArray("placements", [&] {
    for (const PlacementTrial &trial : result.trials)
      if (trial.outcome != PlacementTrial::Outcome::Covered)
        json.object([&] {
          json.attribute("placement", trial.isV ? "v" : "loop");
          json.attribute("chunks", trial.chunks);
          printTrial(json, trial);
        });
  });
}

/// The form of the result, the forms of its placement, and those that the bound
/// covers.
void SearchReport::printForms(json::OStream &json) const {
  json.attribute("backward", nameOf(found.form));
  if (request.anyForm && found.memoryBy.empty())
    json.attributeArray("forms", [&] {
      for (const PlacementTrial &trial : result.trials)
        if (isOfBest(trial))
          json.object([&] { printTrial(json, trial); });
    });
  json.attributeArray("bound_covers", [&] {
    if (result.coverage != Coverage::Whole)
      json.value("split");
    if (result.coverage != Coverage::Split)
      json.value("whole");
    if (result.coverage == Coverage::All)
      json.value("mixed");
  });
}

void SearchReport::printEveryM(json::OStream &json) const {
  if (!everyM)
    return;
  const EveryM &every = *everyM;
  json.attributeObject("every_m", [&] {
    json.attribute("least", every.least);
    json.attribute("from", every.from);
    json.attribute("step", every.step * every.period);
    writeExact(json, "rate", every.makespan.rate);
    writeExact(json, "base", every.makespan.base);
    writeExact(json, "bound_rate", every.bound.rate);
    writeExact(json, "bound_base", every.bound.base);
    json.attribute("bound_from", every.boundFrom);
    json.attribute("optimal_from", valueOrNull(every.optimalFrom));
    if (!everyIsCertified || !every.proof.bound)
      return;
    writeExact(json, "certified_rate", every.proven.line.rate);
    writeExact(json, "certified_base", every.proven.line.base);
    json.attribute("certified_from", every.proven.from);
  });
}

void SearchReport::print(json::OStream &json) const {
  search::LowerBound bound = result.bound();
  writeExact(json, "makespan", found.makespan);
  writeExact(json, "bound", bound.bound);
  writeExact(json, "gap", gap());
  json.attribute("optimal", isOptimal());
  json.attribute("bound_by", nameOf(bound.source));
  if (certified)
    writeExact(json, "certified", *certified);
  if (certifiedAll)
    writeExact(json, "certified_all", *certifiedAll);
  json.attribute("bound_relaxed",
                 found.model.isRelaxed() || !found.memoryBy.empty());
  json.attribute("ranks", request.ranks);
  json.attribute("microbatches", request.microbatches);
  json.attribute("slices", request.slices);
  json.attribute("chunks", request.chunks);
  json.attribute("placement", request.placementName());
  if (request.model)
    json.attribute("schedule", request.model->name);
  printLayouts(json);
  printPlacements(json);
  printMemory(json);
  if (found.bestMakespan) {
    json.attribute("block", found.blocks ? found.blocks->batch : 0);
    json.attribute("copies", found.blocks ? found.blocks->copies : 0);
    writeExact(json, "makespan_without_blocks", *found.bestMakespan);
  }
  printEveryM(json);
  if (found.inGivenOrder) {
    writeArray(json, "order", found.schedule.order,
               [&](uint32_t number) { json.value(number); });
    writeExact(json, "given", *found.inGivenOrder);
  }
  printForms(json);
  json.attribute("overlaps", overlaps());
  printMemoryBy(json);
  writeArray(json, "peaks", found.peaks, [&](Rational peak) {
    json.value(peak.isInteger() ? json::Value(peak.numerator())
                                : json::Value(peak.toDouble()));
  });
  if (const auto &best = found.library)
    json.attributeObject("library", [&] {
      json.attribute("name", best->name);
      writeParams(json, best->params);
      writeExact(json, "makespan", best->makespan);
      json.attribute("backward", nameOf(best->form));
    });
  else
    json.attribute("library", nullptr);
  if (found.libraryLeftOut)
    json.attribute("library_left_out", found.libraryLeftOut);
  json.attribute("seed", request.seed);
  json.attribute("effort", request.effort);
  json.attribute("reproducible", !found.stopped);
  assumed().write(json);
  writeRounding(found.schedule.rounding, json);
  printAll(json);
}

} // namespace pipec
