//===- Report.cpp - --emit=report: what a schedule costs ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One run of the schedule under its costs, as text or, with `--format=json`, as
// JSON. docs/Report.md explains every line.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "Emit/ReportDetail.h"

using namespace llvm;

namespace pipec {

LogicalResult emitReport(const Schedule &schedule, const EmitOptions &options,
                         raw_ostream &os, DiagEngine &diags) {
  ReportOptions what;
  what.model = options.model;
  FailureOr<Report> report = makeReport(schedule, what, diags);
  if (failed(report))
    return failure();
  if (!options.json) {
    printReport(schedule, *report, os);
    return success();
  }
  json::OStream json(os, /*IndentSize=*/2);
  writeReport(schedule, *report, json);
  os << '\n';
  return success();
}

} // namespace pipec
