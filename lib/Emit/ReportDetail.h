//===- ReportDetail.h - The two forms of reports ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Explain/Report.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace pipec {

/// Writes a report as text tables.
void printReport(const Schedule &schedule, const Report &report,
                 llvm::raw_ostream &os);

/// Writes a report as the JSON object documented in docs/Report.md; `more` adds
/// attributes to it.
void writeReport(
    const Schedule &schedule, const Report &report, llvm::json::OStream &json,
    llvm::function_ref<void()> more = [] {});

} // namespace pipec
