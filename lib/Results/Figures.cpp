//===- Figures.cpp - Figures that two commands compare --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/Figures.h"

using namespace llvm;

namespace pipec {

FailureOr<Report> measure(const Schedule &schedule,
                          std::optional<WaitModel> model, DiagEngine &diags) {
  ReportOptions options;
  options.model = model;
  options.path = false;
  options.gaps = 0;
  return makeReport(schedule, options, diags);
}

void writeParams(json::OStream &json, const ParamValues &params) {
  json.attributeObject("params", [&] {
    for (const auto &[name, value] : params)
      json.attribute(json::fixUTF8(name), value);
  });
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
