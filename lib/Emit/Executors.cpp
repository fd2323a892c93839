//===- Executors.cpp - Executors and other text from templates ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one source for one schedule. All of its text is in templates, and
// their data is the data model (DataModel.h):
//
//   --emit=cpp               executor.mustache: functions with loops, one per
//                            family of ranks
//   --emit=cpp --cpp=table   executor-table.mustache: constant tables
//   --emit=python            pytorch.mustache: the same functions in Python
//   --template=FILE          a template of the user
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"
#include "Emit/Emitter.h"
#include "Frameworks/TargetCheck.h"
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
#include "Emit/templates.inc"
};

StringRef templateText(StringRef name) {
  auto found = find_if(templates, [&](const EmbeddedTemplate &candidate) {
    return candidate.name == name;
  });
  assert(found != std::end(templates) && "a template that is not embedded");
  return found->text;
}

LogicalResult render(StringRef name, const Schedule &schedule, raw_ostream &os,
                     DiagEngine &diags) {
  DataModel model(schedule, diags.sourceFiles());
  return renderEmbedded(
      templateText(name), model, os, diags,
      [](StringRef name, DiagLoc) { return templateText(name); });
}

} // namespace

LogicalResult emitCpp(const Schedule &schedule, const EmitOptions &options,
                      raw_ostream &os, DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::Cpp, diags)))
    return failure();
  return render(options.cppTable ? "executor-table" : "executor", schedule, os,
                diags);
}

LogicalResult emitPython(const Schedule &schedule, const EmitOptions &,
                         raw_ostream &os, DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::Python, diags)))
    return failure();
  return render("pytorch", schedule, os, diags);
}

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
