//===- Figures.h - Figures that two commands compare ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Explain/Report.h"
#include "Sema/Sema.h"
#include "Support/Decimal.h"

#include <string>

namespace pipec {

/// The figures of a schedule, without explanations. Reports the same errors as
/// `makeReport`.
llvm::FailureOr<Report>
measure(const Schedule &schedule, std::optional<CommModel> model,
        DiagEngine &diags, const std::optional<Jitter> &jitter = std::nullopt);

/// Writes an attribute, an object.
void writeParams(llvm::json::OStream &json, const ParamValues &params,
                 llvm::StringRef key = "params");

/// True for one slice, if that is the default of the parameter.
bool hasOneSlice(const ast::ParamDecl &param, int64_t value);

/// The parameters of a schedule but ranks and micro-batches, by label or name,
/// with their values in `lowered`.
ParamValues furtherParams(const CheckedSchedule &schedule,
                          const Schedule &lowered);

/// True if a requirement of the program refuses the size, which is not an error
/// where many sizes are tried.
bool isSizeRefusal(const Diagnostic &found);
/// Attaches the note that `found` is about the size in `text`.
void noteSize(Diagnostic &found, const std::string &text);

/// value / base - 1; no value if the base is 0 or the result does not fit.
std::optional<Rational> excess(Rational value, Rational base);

/// A rate with four decimals.
std::string rateText(Rational rate);

} // namespace pipec
