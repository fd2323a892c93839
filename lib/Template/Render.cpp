//===- Render.cpp - The text of a template for some data -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Template/Template.h"

#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// Writes one rendering.
class TemplateRenderer {
public:
  TemplateRenderer(const Template &source, const TemplateData &data,
                   raw_ostream &os, DiagEngine &diags)
      : source(source), data(data), os(os), diags(diags),
        tagsLeft((data.numObjects() + 64) * maxTagsPerObject) {}

  LogicalResult run() {
    stack.push_back(data.root());
    return render(source.files.front(), 0, source.files.front().pieces.size());
  }

private:
  using Piece = Template::Piece;
  using File = Template::File;

  LogicalResult render(const File &file, size_t begin, size_t end);
  LogicalResult renderVariable(const Piece &piece, const DataValue &value);
  LogicalResult renderSection(const File &file, size_t section);
  LogicalResult renderPartial(const Piece &piece);
  DataValue find(const File &file, const Piece &piece) const;
  LogicalResult countTag(const Piece &piece);
  void write(StringRef text) {
    tagsLeft -= std::min<uint64_t>(tagsLeft, text.size() / bytesPerTag);
    os << text;
  }

  static SMRange rangeOf(const Piece &piece) {
    return SMRange(SMLoc::getFromPointer(piece.text.begin()),
                   SMLoc::getFromPointer(piece.text.end()));
  }

  const Template &source;
  const TemplateData &data;
  raw_ostream &os;
  DiagEngine &diags;
  /// The objects whose names are known, the innermost last.
  SmallVector<DataNode> stack;
  /// What the lines of the partial begin with.
  SmallString<32> indent;
  unsigned partials = 0;
  uint64_t tagsLeft;
};

DataValue TemplateRenderer::find(const File &file, const Piece &piece) const {
  ArrayRef<unsigned> names =
      ArrayRef(file.names).slice(piece.firstName, piece.numNames);
  DataValue value;
  for (const DataNode &object : reverse(stack)) {
    value = data.get(object, names.front());
    if (value.kind != DataValue::Missing)
      break;
  }
  for (unsigned name : names.drop_front()) {
    if (value.kind != DataValue::Object)
      return DataValue::null();
    value = data.get(value.node, name);
  }
  return value;
}

/// Sections within sections over long lists may render a short text for longer
/// than anyone waits.
LogicalResult TemplateRenderer::countTag(const Piece &piece) {
  if (tagsLeft != 0) {
    --tagsLeft;
    return success();
  }
  return diags.report(rangeOf(piece), diag::TemplateTooLong,
                      (data.numObjects() + 64) * maxTagsPerObject);
}

LogicalResult TemplateRenderer::renderVariable(const Piece &piece,
                                               const DataValue &value) {
  switch (value.kind) {
  case DataValue::Missing:
  case DataValue::Null:
    return diags.report(rangeOf(piece), diag::TemplateNoValue, piece.text);
  case DataValue::Object:
  case DataValue::List:
    return diags.report(rangeOf(piece), diag::TemplateNotText, piece.text,
                        value.kind == DataValue::List ? "a list" : "an object");
  case DataValue::Bool:
    os << (value.number ? "true" : "false");
    return success();
  case DataValue::Number:
    os << value.number;
    return success();
  case DataValue::Text:
    if (piece.kind == Piece::Variable)
      printHTMLEscaped(value.text, os);
    else
      os << value.text;
    return success();
  }
  llvm_unreachable("every kind is rendered or refused");
}

LogicalResult TemplateRenderer::renderSection(const File &file,
                                              size_t section) {
  const Piece &piece = file.pieces[section];
  DataValue value = find(file, piece);
  if (piece.kind == Piece::Inverted)
    return value.isTrue() ? success()
                          : render(file, section + 1, piece.target);
  if (!value.isTrue())
    return success();
  if (value.kind != DataValue::List && value.kind != DataValue::Object)
    return render(file, section + 1, piece.target);
  uint32_t size = value.kind == DataValue::List ? value.node.size : 1;
  for (uint32_t i = 0; i != size; ++i) {
    stack.push_back(value.kind == DataValue::List ? data.item(value.node, i)
                                                  : value.node);
    if (failed(countTag(piece)) ||
        failed(render(file, section + 1, piece.target)))
      return failure();
    stack.pop_back();
  }
  return success();
}

LogicalResult TemplateRenderer::renderPartial(const Piece &piece) {
  if (partials == maxPartialDepth)
    return diags.report(rangeOf(piece), diag::TemplateRecursion,
                        maxPartialDepth);
  SmallString<32> outer = indent;
  // A partial within a line has lines of its own.
  if (piece.indent.data())
    indent += piece.indent;
  else
    indent.clear();
  ++partials;
  const File &file = source.files[piece.target];
  size_t end = file.pieces.size() - (file.endsInLine && !piece.indent.data());
  LogicalResult result = render(file, 0, end);
  --partials;
  indent = outer;
  return result;
}

LogicalResult TemplateRenderer::render(const File &file, size_t begin,
                                       size_t end) {
  for (size_t i = begin; i != end; ++i) {
    const Piece &piece = file.pieces[i];
    switch (piece.kind) {
    case Piece::Text:
      write(piece.text);
      continue;
    case Piece::LineStart:
      write(indent);
      continue;
    default:
      break;
    }
    if (failed(countTag(piece)))
      return failure();
    LogicalResult result = success();
    switch (piece.kind) {
    case Piece::Section:
    case Piece::Inverted:
      result = renderSection(file, i);
      i = piece.target - 1;
      break;
    case Piece::Partial:
      result = renderPartial(piece);
      break;
    default:
      result = renderVariable(piece, find(file, piece));
      break;
    }
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult Template::render(const TemplateData &data, raw_ostream &os,
                               DiagEngine &diags) const {
  return TemplateRenderer(*this, data, os, diags).run();
}

} // namespace pipec
