//===- ComparisonData.cpp - pipec compare as CSV and JSON -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/Comparison.h"

#include "Emit/Emitter.h"
#include "Support/Json.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

/// A cell, quoted if necessary. Spreadsheets run cells that begin like a
/// formula, unless an apostrophe comes first.
static std::string csvCell(StringRef cell) {
  std::string text = cell.str();
  if (!text.empty() && StringRef("=+-@\t\r").contains(text[0]))
    text.insert(text.begin(), '\'');
  if (StringRef(text).find_first_of(",\"\r\n") == StringRef::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c;
    if (c == '"')
      quoted += c;
  }
  return quoted + '"';
}

static std::string csvNumber(Rational value) {
  return toDecimal(value, /*exactDigits=*/15, 15).text;
}

void Comparison::printCsv(raw_ostream &os) const {
  os << "schedule,parameters,fits,reason";
  for (const FigureColumn &column : figureColumns)
    os << ',' << column.key;
  os << ",layout,target,place,bound";
  for (const FrameworkInfo &info : frameworkTable)
    os << ',' << info.key;
  os << ",memory_by";
  if (options.jitter)
    JitterReport().forEach(
        [&](StringRef name, Rational) { os << ',' << name; });
  os << '\n';
  for (const Candidate &candidate : candidates) {
    bool fits = candidate.outcome == Candidate::Outcome::Fits;
    os << csvCell(candidate.shownName()) << ',' << csvCell(candidate.params)
       << ',' << (fits ? "true" : "false") << ',' << csvCell(candidate.reason);
    for (const FigureColumn &column : figureColumns)
      os << ',' << (candidate.figures ? csvNumber(column.of(candidate)) : "");
    os << ',' << csvCell(candidate.layout) << ',' << candidate.target << ',';
    if (fits)
      os << candidate.place;
    os << ',' << (candidate.bound ? csvNumber(*candidate.bound) : "");
    for (const Verdict &verdict : candidate.verdicts)
      os << ',' << (candidate.figures ? runsAsName(verdict.how) : "");
    os << ',' << candidate.memoryBy;
    if (options.jitter && candidate.figures)
      candidate.figures->jitter->forEach(
          [&](StringRef, Rational time) { os << ',' << csvNumber(time); });
    else if (options.jitter)
      os << ",,,,";
    os << '\n';
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printVerdicts(json::OStream &json, const Verdicts &verdicts) {
  for (const FrameworkInfo &info : frameworkTable)
    json.attributeObject(info.key, [&] {
      const Verdict &verdict = verdicts[size_t(info.framework)];
      json.attribute("runs_as", textOrNull(runsAsName(verdict.how)));
      json.attribute("reason", textOrNull(verdict.reason));
      if (verdict.how == RunsAs::BuiltIn)
        json.attribute("settings", verdict.settings);
    });
}

static void printCandidate(json::OStream &json, const Candidate &candidate) {
  json.attribute("name", json::fixUTF8(candidate.name));
  json.attribute("file", textOrNull(candidate.path));
  json.attribute("origin", textOrNull(candidate.origin));
  writeParams(json, candidate.values);
  json.attribute("layout", textOrNull(candidate.layout));
  json.attribute("target", textOrNull(candidate.target));
  json.attribute("fits", candidate.outcome == Candidate::Outcome::Fits);
  json.attribute("reason", textOrNull(candidate.reason));
  if (candidate.place != 0)
    json.attribute("place", candidate.place);
  if (const auto &request = candidate.request)
    json.attributeObject("search", [&] {
      json.attribute("placement", request->isV ? "v" : "loop");
      json.attribute("chunks", request->chunks);
      if (candidate.bound)
        json.attribute("backward", nameOf(candidate.form));
      json.attribute("effort", request->effort);
      json.attribute("seed", request->seed);
    });
  if (!candidate.figures)
    return;
  candidate.assumed.write(json);
  json.attribute("stages", candidate.stages);
  json.attribute("copies", candidate.copies);
  for (const FigureColumn &column : figureColumns)
    if (column.key != "copies")
      writeExact(json, column.key, column.of(candidate));
  if (candidate.figures->jitter)
    writeJitter(*candidate.figures->jitter, json);
  if (candidate.bound)
    writeExact(json, "bound", *candidate.bound);
  json.attributeObject("frameworks",
                       [&] { printVerdicts(json, candidate.verdicts); });
  json.attribute("memory_by", textOrNull(candidate.memoryBy));
}

static void printChoice(json::OStream &json, const FrameworkChoice &choice) {
  json.attribute("schedule", json::fixUTF8(choice.schedule));
  json.attribute("layout", textOrNull(choice.layout));
  json.attribute("runs_as", runsAsName(choice.how));
  writeTexts(json, "commands", choice.commands);
  json.attribute("settings", textOrNull(choice.settings));
}

void Comparison::print(json::OStream &json) const {
  const GivenSettings &given = options.given.front();
  json.attribute("ranks", options.ranks);
  json.attribute("microbatches", options.microbatches);
  json.attribute("slices", options.slices);
  json.attribute("per",
                 costPerName(hasLayouts() ? CostPer::Layer : CostPer::Part));
  json.attribute("parts",
                 valueOrNull(hasLayouts() ? std::nullopt : given.parts));
  json.attribute("costs", costs());
  assumed.write(json);
  writeRounding(rounding, json);
  json.attribute(
      "model", textOrNull(options.model ? options.model->name() : ""));
  writeObjects(json, "schedules", candidates, [&](const Candidate &candidate) {
    printCandidate(json, candidate);
  });
  json.attributeObject("commands", [&] {
    for (size_t i = 0; i != choices.size(); ++i)
      json.attributeObject(
          frameworkTable[size_t(choices[i].framework)].key, [&] {
            printChoice(json, choices[i]);
            if (i + 1 != choices.size() &&
                choices[i + 1].framework == choices[i].framework)
              json.attributeObject("executor",
                                   [&] { printChoice(json, choices[++i]); });
          });
  });
}

} // namespace pipec
