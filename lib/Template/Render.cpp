//===- Render.cpp - Rendering a template ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    push(data.root());
    return render(source.files.front(), 0, source.files.front().pieces.size());
  }

private:
  using Piece = Template::Piece;
  using File = Template::File;

  LogicalResult render(const File &file, size_t begin, size_t end);
  LogicalResult renderVariable(const Piece &piece, const DataValue &value);
  LogicalResult renderSection(const File &file, size_t section);
  LogicalResult renderPartial(const Piece &piece);
  size_t skipSections(const File &file, size_t begin, size_t end);
  /// The innermost object that has the name; null if none has it.
  const DataNode *owner(unsigned name) const;
  DataValue find(const File &file, const Piece &piece) const;
  /// The value of a path of names, which begins at `object`.
  DataValue findMember(const DataNode *object,
                       llvm::ArrayRef<unsigned> names) const;
  /// Limits the time: even a short template can nest sections over long lists.
  LogicalResult countTag(const Piece &piece) {
    if (tagsLeft == 0)
      return reportTooLong(piece);
    --tagsLeft;
    return success();
  }
  LogicalResult reportTooLong(const Piece &piece);
  void push(const DataNode &object) {
    stack.push_back({object, data.flags(object)});
  }
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
  /// The objects whose names are visible, innermost last.
  struct Frame {
    DataNode object;
    DataFlags flags;
  };
  SmallVector<Frame> stack;
  /// The indentation of the lines of the partial.
  SmallString<32> indent;
  unsigned partials = 0;
  uint64_t tagsLeft;
};

const DataNode *TemplateRenderer::owner(unsigned name) const {
  for (const Frame &frame : reverse(stack))
    if (data.has(frame.object, name))
      return &frame.object;
  return nullptr;
}

// Values are returned in place: a copy would read fields that were just written
// one by one in larger pieces, which stalls the processor.
DataValue TemplateRenderer::find(const File &file, const Piece &piece) const {
  const unsigned *names = &file.names[piece.firstName];
  const DataNode *object = owner(names[0]);
  if (piece.numNames == 1)
    return object ? data.get(*object, names[0]) : DataValue();
  return findMember(object, ArrayRef(names, piece.numNames));
}

DataValue TemplateRenderer::findMember(const DataNode *object,
                                       ArrayRef<unsigned> names) const {
  if (!object)
    return DataValue::null();
  DataNode member = *object;
  for (unsigned name : names.drop_back()) {
    DataValue value =
        data.has(member, name) ? data.get(member, name) : DataValue();
    if (value.kind != DataValue::Object)
      return DataValue::null();
    member = value.node;
  }
  return data.has(member, names.back()) ? data.get(member, names.back())
                                        : DataValue();
}

LogicalResult TemplateRenderer::reportTooLong(const Piece &piece) {
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

/// The first piece from `begin` on that is not a section of a flag that leaves
/// it out. Of the sections for the kinds of a step, one is rendered.
size_t TemplateRenderer::skipSections(const File &file, size_t begin,
                                      size_t end) {
  const DataFlags flags = stack.back().flags;
  size_t at = begin;
  while (at != end && tagsLeft != 0) {
    const Piece &piece = file.pieces[at];
    bool isTrue = flags.values & piece.flag;
    if (!(flags.known & piece.flag) || isTrue == (piece.kind == Piece::Section))
      break;
    --tagsLeft;
    at = piece.target;
  }
  return at;
}

LogicalResult TemplateRenderer::renderSection(const File &file,
                                              size_t section) {
  const Piece &piece = file.pieces[section];
  bool inverted = piece.kind == Piece::Inverted;
  DataValue value = find(file, piece);
  if (value.isTrue() == inverted)
    return success();
  if (inverted ||
      (value.kind != DataValue::List && value.kind != DataValue::Object))
    return render(file, section + 1, piece.target);
  uint32_t size = value.kind == DataValue::List ? value.node.size : 1;
  for (uint32_t i = 0; i != size; ++i) {
    push(value.kind == DataValue::List ? data.item(value.node, i) : value.node);
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
  // The lines of a partial within a line are not indented.
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
    if (file.pieces[i].flag) {
      i = skipSections(file, i, end);
      if (i == end)
        break;
    }
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
      if (stack.back().flags.known & piece.flag)
        result = render(file, i + 1, piece.target);
      else
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
