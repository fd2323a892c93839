//===- Figures.cpp - Figures that two commands compare --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Figures.h"

#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

FailureOr<Report> measure(const Schedule &schedule,
                          std::optional<CommModel> model, DiagEngine &diags,
                          const std::optional<Jitter> &jitter) {
  ReportOptions options;
  options.model = model;
  options.jitter = jitter;
  options.path = false;
  options.gaps = 0;
  return makeReport(schedule, options, diags);
}

void writeParams(json::OStream &json, const ParamValues &params,
                 StringRef key) {
  json.attributeObject(key, [&] {
    for (const auto &[name, value] : params)
      json.attribute(json::fixUTF8(name), value);
  });
}

bool hasOneSlice(const ast::ParamDecl &param, int64_t value) {
  return param.role == ast::Role::Slices && value == 1 && param.defaultValue &&
         ast::sourceText(param.defaultValue->range) == "1";
}

ParamValues furtherParams(const CheckedSchedule &schedule,
                          const Schedule &lowered) {
  ParamValues params;
  for (const auto &[param, value] :
       zip_equal(schedule.decl->params, lowered.params))
    if (param.role != ast::Role::Ranks &&
        param.role != ast::Role::Microbatches &&
        !hasOneSlice(param, value.second))
      params.push_back(
          {(param.label.text.empty() ? param.name : param.label).text.str(),
           value.second});
  return params;
}

bool isSizeRefusal(const Diagnostic &found) {
  return found.id == diag::RequirementFailed.value ||
         found.id == diag::OddBidirectional.value;
}

void noteSize(Diagnostic &found, const std::string &text) {
  found.notes.push_back({diag::NoteExpectAt.value,
                         Severity::Note,
                         {},
                         DiagEngine::format(diag::NoteExpectAt.value, text)});
}

std::optional<Rational> excess(Rational value, Rational base) {
  if (base.isZero())
    return std::nullopt;
  std::optional<Rational> ratio = Rational::div(value, base);
  return ratio ? Rational::sub(*ratio, 1) : std::nullopt;
}

std::string rateText(Rational rate) {
  std::string text = toDecimal(rate, /*exactDigits=*/0).text;
  return rate.isInteger() ? text + ".0000" : text;
}

} // namespace pipec
