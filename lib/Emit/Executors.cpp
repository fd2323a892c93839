//===- Executors.cpp - Executors and other forms of the data model --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each writes the data model (DataModel.h) of one schedule. All text of sources
// is in templates:
//
//   --emit=cpp               executor.mustache: functions with loops, one per
//                            family of ranks
//   --emit=cpp --cpp=table   executor-table.mustache: constant tables
//   --emit=python            pytorch.mustache: the same functions in Python
//   --template=FILE          a template of the user
//   --emit=json              the data itself
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"
#include "Emit/Emitter.h"
#include "Frameworks/TargetCheck.h"
#include "Template/Template.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

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
  auto *found = std::ranges::find(templates, name, &EmbeddedTemplate::name);
  assert(found != std::end(templates) && "a template that is not embedded");
  return found->text;
}

LogicalResult render(StringRef name, const Schedule &schedule, raw_ostream &os,
                     DiagEngine &diags, bool impliesWaits = false) {
  DataModel model(schedule, diags.sourceFiles(), impliesWaits);
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
  return render("pytorch", schedule, os, diags, /*impliesWaits=*/true);
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

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Objects that may be numerous (steps, rows) are on one line each.
static bool isOneLine(const DataNode &object) {
  return !is_contained({DataType::Schedule, DataType::Family, DataType::Rank,
                        DataType::Loop, DataType::Group},
                       DataType(object.type));
}

static void writeFields(const DataModel &model, const DataNode &object,
                        json::OStream &json);

static void writeObject(const DataModel &model, const DataNode &object,
                        json::OStream &json) {
  if (!isOneLine(object))
    return json.object([&] { writeFields(model, object, json); });
  json.rawValue([&](raw_ostream &os) {
    json::OStream line(os);
    line.object([&] { writeFields(model, object, line); });
  });
}

static void writeValue(const DataModel &model, const DataValue &value,
                       json::OStream &json) {
  switch (value.kind) {
  case DataValue::Missing:
  case DataValue::Null:
    return json.value(nullptr);
  case DataValue::Bool:
    return json.value(value.number != 0);
  case DataValue::Number:
    return json.value(value.number);
  case DataValue::Text:
    return json::isUTF8(value.text) ? json.value(value.text)
                                    : json.value(json::fixUTF8(value.text));
  case DataValue::Object:
    return writeObject(model, value.node, json);
  case DataValue::List:
    return json.array([&] {
      for (uint32_t i = 0; i != value.node.size; ++i)
        writeObject(model, model.item(value.node, i), json);
    });
  }
}

static void writeFields(const DataModel &model, const DataNode &object,
                        json::OStream &json) {
  model.forEachField(object, [&](StringRef name, const DataValue &value) {
    json.attributeBegin(name);
    writeValue(model, value, json);
    json.attributeEnd();
  });
}

LogicalResult emitJson(const Schedule &schedule, const EmitOptions &,
                       raw_ostream &os, DiagEngine &diags) {
  DataModel model(schedule, diags.sourceFiles());
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] { writeFields(model, model.root(), json); });
  os << '\n';
  return success();
}

} // namespace pipec
