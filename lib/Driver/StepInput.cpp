//===- StepInput.cpp - Schedules that are read as steps -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/StepInput.h"

#include "IR/Parser.h"
#include "Import/Csv.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

/// The name of a schedule that comes from `path`: the file's own name with `_`
/// for whatever no name may contain.
static std::string scheduleName(StringRef path) {
  std::string name = sys::path::stem(path).str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  if (name.empty() || path == "-")
    return "csv";
  return isDigit(name[0]) ? "_" + name : name;
}

FailureOr<Schedule> readStepInput(InputKind kind, StringRef path,
                                  StringRef text,
                                  const StepInputOptions &options,
                                  DiagEngine &diags) {
  if (kind == InputKind::Steps)
    return parseSteps(text, diags);
  std::string name = scheduleName(path);
  CsvOptions csv;
  csv.name = name;
  csv.stages = options.stages;
  csv.microbatches = options.microbatches;
  return importCsv(text, csv, diags);
}

} // namespace pipec
