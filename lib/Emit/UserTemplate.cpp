//===- UserTemplate.cpp - --template: a form of the user's ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"
#include "Emit/Emitter.h"
#include "Template/Template.h"

using namespace llvm;

namespace pipec {

LogicalResult emitTemplate(const Schedule &schedule, const EmitOptions &options,
                           raw_ostream &os, DiagEngine &diags) {
  DataModel model(schedule, diags.sourceFiles());
  StringRef text = options.templateText;
  text.consume_front(byteOrderMark);
  FailureOr<Template> parsed =
      Template::parse(text, model, options.templatePartial, diags);
  if (failed(parsed))
    return failure();
  // Some errors are only found during rendering. The first rendering finds them
  // before anything is written.
  raw_null_ostream nowhere;
  if (failed(parsed->render(model, nowhere, diags)))
    return failure();
  return parsed->render(model, os, diags);
}

} // namespace pipec
