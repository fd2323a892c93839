//===- ReportDetail.h - The two forms of reports ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_REPORTDETAIL_H
#define PIPEC_EMIT_REPORTDETAIL_H

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

#endif // PIPEC_EMIT_REPORTDETAIL_H
