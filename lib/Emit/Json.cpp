//===- Json.cpp - --emit=json: the data model -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that may be numerous (steps, rows) are on one line each.
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"
#include "Emit/Emitter.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

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
