//===- Cpp.cpp - --emit=cpp: an executor in C++ ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes one C++20 source for one schedule. All of its text is in templates:
// templates/executor.mustache has functions with loops, one per family of
// ranks; templates/executor-table.mustache, for `--cpp=table`, has constant
// tables. Their data is the data model (DataModel.h).
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"
#include "Emit/Emitter.h"
#include "Target/TargetCheck.h"
#include "Template/Template.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

struct EmbeddedTemplate {
  StringLiteral name;
  StringLiteral text;
};

constexpr EmbeddedTemplate templates[] = {
    {
        "executor",
#include "Emit/executor.mustache.inc"
    },
    {
        "executor-arguments",
#include "Emit/executor-arguments.mustache.inc"
    },
    {
        "executor-body",
#include "Emit/executor-body.mustache.inc"
    },
    {
        "executor-foot",
#include "Emit/executor-foot.mustache.inc"
    },
    {
        "executor-function",
#include "Emit/executor-function.mustache.inc"
    },
    {
        "executor-head",
#include "Emit/executor-head.mustache.inc"
    },
    {
        "executor-kind",
#include "Emit/executor-kind.mustache.inc"
    },
    {
        "executor-table",
#include "Emit/executor-table.mustache.inc"
    },
};

StringRef templateText(StringRef name) {
  auto found = find_if(templates, [&](const EmbeddedTemplate &candidate) {
    return candidate.name == name;
  });
  assert(found != std::end(templates) && "a template that is not embedded");
  return found->text;
}

} // namespace

LogicalResult emitCpp(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::Cpp, diags)))
    return failure();
  DataModel model(schedule, diags.sourceFiles());
  FailureOr<Template> parsed = Template::parse(
      templateText(options.cppTable ? "executor-table" : "executor"), model,
      [](StringRef name, DiagLoc) { return templateText(name); }, diags);
  assert(succeeded(parsed) && "a template of the compiler has a mistake");
  return parsed->render(model, os, diags);
}

} // namespace pipec
