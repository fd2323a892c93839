//===- SectionsParser.cpp - Sections in the header of step IR -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepText/StepParserDetail.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Diagnostics/StepTextDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// Reads `F`, `B` or `W`, the kinds of a body.
bool StepsParser::parseBodyKind(StringRef &text, StepKind &kind) {
  text = word();
  if (text != "F" && text != "B" && text != "W")
    return expected("`F`, `B` or `W`");
  kind = *parseStepKind(text);
  return true;
}

// Parses `dispatch on network F = 2/5 B = 2/5` after `section`.
bool StepsParser::parseSection() {
  Sections &sections = schedule.sections;
  Sections::Section section;
  skipBlanks();
  const char *begin = here();
  if (!name(section.name, "the name of a section"))
    return false;
  StringRef nameText = since(begin);
  if (sections.find(section.name) != sections.list.size())
    return fail(nameText, diag::StepsEntryTwice, section.name);
  if (consume("on")) {
    skipBlanks();
    begin = here();
    std::string stream;
    if (!name(stream, "the name of a stream"))
      return false;
    FailureOr<unsigned> number =
        sections.stream(stream, rangeOf(since(begin)), diags);
    if (failed(number))
      return false;
    section.stream = *number;
  }
  for (skipBlanks(); !atLineEnd(); skipBlanks()) {
    StringRef text;
    StepKind kind;
    Rational time;
    if (!parseBodyKind(text, kind) || !parseValue(text, false, time))
      return false;
    if (time.isNegative())
      return fail(text, diag::StepsNegativeCost, text);
    section.setCost(kind, time);
  }
  sections.list.push_back(std::move(section));
  return true;
}

// Parses `4 4 3 4` after `layers`: the layers of each stage.
bool StepsParser::parseLayers() {
  std::vector<uint32_t> &all = schedule.sections.layers;
  const char *begin = here();
  for (skipBlanks(); !atLineEnd(); skipBlanks()) {
    uint64_t layers = 0;
    const char *at = here();
    if (!number(layers, "a number of layers"))
      return false;
    if (layers < 1 || layers > maxStages)
      return fail(since(at), diag::SectionLayers, all.size(), layers,
                  maxStages);
    // Continue counting, but do not store entries beyond the limit.
    if (all.size() <= maxStages)
      all.push_back(layers);
  }
  if (schedule.numStages && all.size() != schedule.numStages)
    return fail(since(begin).trim(), diag::StepsLayersLength, all.size(),
                schedule.numStages);
  return true;
}

// Parses `B.combine F.attention last W.attention` after `body`.
bool StepsParser::parseBody() {
  Sections &sections = schedule.sections;
  skipBlanks();
  const char *whole = here();
  std::vector<SMRange> places;
  for (; !atLineEnd(); skipBlanks()) {
    const char *begin = here();
    Sections::BodyStep step;
    step.last = consume("last");
    StringRef kind;
    if (!parseBodyKind(kind, step.kind))
      return false;
    if (!consume('.'))
      return expected("`.`");
    std::string section;
    const char *at = here();
    if (!name(section, "the name of a section"))
      return false;
    step.section = sections.find(section);
    if (step.section == sections.list.size())
      return fail(since(at), diag::UnknownSection, section);
    sections.body.push_back(step);
    places.push_back(rangeOf(since(begin)));
  }
  return succeeded(
      sections.checkBody(places, rangeOf(since(whole).rtrim()), diags));
}

/// Reports sections without layers, layers without sections, and both in a
/// schedule that is not a chain of stages on one rank each.
void StepsParser::checkSections() {
  bool listed = !schedule.sections.empty();
  SMRange place = rangeOf({scheduleOpened, 1});
  if (listed != seenLayers || (seenBody && !listed))
    (void)diags.report(place, diag::StepsSectionsLayers,
                       listed       ? "section"
                       : seenLayers ? "layers"
                                    : "body",
                       listed ? "layers" : "section");
  else if (listed && maps.size() == 2)
    (void)diags.report(place, diag::GraphBidirectional, "section");
  else if (listed && (graph || ties))
    (void)diags.report(place, diag::SectionsGraph, graph ? "connect" : "tie");
}

} // namespace pipec
