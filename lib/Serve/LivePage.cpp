//===- LivePage.cpp - The live page ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LivePage.h"

#include "Cost/Figure.h"
#include "Serve/LiveApi.h"
#include "Template/Template.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr char pageTemplate[] =
#include "Serve/page.html.inc"
    ;
constexpr char pageStyle[] =
#include "Serve/codemirror.css.inc"
#include "Serve/page.css.inc"
    ;
// In the order in which they run.
// clang-format off
constexpr char pageProgram[] =
#include "Serve/codemirror.js.inc"
#include "Serve/mode.js.inc"
#include "Serve/link.js.inc"
#include "Serve/server.js.inc"
#include "Serve/page.js.inc"
#include "Serve/calibrate.js.inc"
#include "Serve/history.js.inc"
    ;
// clang-format on

} // namespace

static json::Array
namesOf(const std::vector<std::pair<std::string, std::string>> &rows) {
  json::Array all;
  for (const auto &[name, summary] : rows)
    all.push_back(json::Object{{"name", name}, {"summary", summary}});
  return all;
}

/// The times that can be set for a whole schedule.
static json::Array costNames() {
  json::Array all;
  for (const FigureInfo &figure : allFigures())
    if (figure.block == FigureBlock::Cost && figure.isIn(FigureScope::Whole))
      all.push_back(json::Object{{"name", figure.name},
                                 {"default", figure.defaultText},
                                 {"doc", figure.doc}});
  return all;
}

/// JSON as the contents of a script element.
static std::string scriptText(json::Value value) {
  std::string text;
  raw_string_ostream os(text);
  os << value;
  std::string safe;
  for (char c : text)
    c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

FailureOr<std::string> livePage(const LiveFacts &facts, DiagEngine &diags) {
  std::string config =
      scriptText(json::Object{{"name", json::fixUTF8(facts.name)},
                              {"program", json::fixUTF8(facts.program)},
                              {"library", namesOf(facts.library)},
                              {"targets", namesOf(facts.targets)},
                              {"timedTargets", facts.timedTargets},
                              {"backwards", namesOf(facts.backwards)},
                              {"costs", costNames()},
                              {"maxTraceBytes", int64_t(maxTraceBytes)},
                              {"maxProfileBytes", int64_t(maxProfileBytes)}});
  TextData data;
  data.set("style", pageStyle);
  data.set("config", config);
  data.set("program", pageProgram);
  std::string text;
  raw_string_ostream os(text);
  if (failed(renderEmbedded(pageTemplate, data, os, diags)))
    return failure();
  return text;
}

} // namespace pipec
