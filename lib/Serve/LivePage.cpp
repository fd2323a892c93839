//===- LivePage.cpp - The live page ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LiveApi.h"

#include "Cost/Figure.h"
#include "Template/Template.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr char pageTemplate[] =
#include "Serve/page.html.inc"
    ;
// Rules of the page override those of the editor.
// clang-format off
constexpr char pageStyle[] =
#include "Serve/codemirror.css.inc"
#include "Serve/show-hint.css.inc"
#include "Serve/page.css.inc"
    ;
// In the order in which they run.
constexpr char pageProgram[] =
#include "Serve/codemirror.js.inc"
#include "Serve/show-hint.js.inc"
#include "Serve/mode.js.inc"
#include "Serve/link.js.inc"
#include "Serve/server.js.inc"
#include "Serve/state.js.inc"
#include "Serve/editor.js.inc"
#include "Serve/language.js.inc"
#include "Serve/form.js.inc"
#include "Serve/page.js.inc"
#include "Serve/tabs.js.inc"
#include "Serve/jobs.js.inc"
#include "Serve/run.js.inc"
#include "Serve/calibrate.js.inc"
#include "Serve/save.js.inc"
#include "Serve/history.js.inc"
    ;
// clang-format on

} // namespace

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

FailureOr<std::string> livePage(json::Object facts, DiagEngine &diags) {
  facts["costs"] = costNames();
  facts["maxTraceBytes"] = int64_t(maxUploadBytes);
  facts["maxProfileBytes"] = int64_t(maxPageProfileBytes);
  std::string config = scriptText(std::move(facts));
  TextData data;
  data.set("policy", pagePolicy);
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
