//===- Doc.cpp - Text with optional line breaks ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format/Doc.h"

#include "llvm/ADT/STLExtras.h"

#include <memory>

using namespace llvm;

namespace pipec::ast {

DocRef DocBuilder::text(StringRef text) {
  return new (arena.Allocate<Doc>()) Doc{Doc::Kind::Text, false, 0, text, {}};
}

DocRef DocBuilder::concat(ArrayRef<DocRef> parts) {
  DocRef *copy = arena.Allocate<DocRef>(parts.size());
  std::uninitialized_copy(parts.begin(), parts.end(), copy);
  return new (arena.Allocate<Doc>())
      Doc{Doc::Kind::Concat, false, 0, {}, {copy, parts.size()}};
}

DocRef DocBuilder::nest(unsigned indent, DocRef doc) {
  DocRef *part = arena.Allocate<DocRef>(1);
  *part = doc;
  return new (arena.Allocate<Doc>())
      Doc{Doc::Kind::Nest, false, indent, {}, {part, 1}};
}

DocRef DocBuilder::group(DocRef doc) {
  DocRef *part = arena.Allocate<DocRef>(1);
  *part = doc;
  return new (arena.Allocate<Doc>())
      Doc{Doc::Kind::Group, false, 0, {}, {part, 1}};
}

bool DocBuilder::renderFlat(DocRef doc, size_t width, std::string &out) {
  size_t limit = out.size() + width;
  SmallVector<DocRef, 32> rest = {doc};
  while (!rest.empty()) {
    DocRef next = rest.pop_back_val();
    if (next->kind == Doc::Kind::Text)
      out += next->text;
    else if (next->kind == Doc::Kind::Break)
      out += next->spaced ? " " : "";
    else
      rest.append(next->parts.rbegin(), next->parts.rend());
    if (out.size() > limit)
      return false;
  }
  return true;
}

namespace {
struct Pending {
  DocRef doc;
  unsigned indent;
  bool flat;
};
} // namespace

/// True if `pending`, up to the next line break, takes at most `room` columns.
static bool fits(Pending first, ArrayRef<Pending> pending, size_t room) {
  SmallVector<Pending, 32> rest = {first};
  while (true) {
    if (rest.empty()) {
      if (pending.empty())
        return true;
      rest.push_back(pending.back());
      pending = pending.drop_back();
    }
    Pending next = rest.pop_back_val();
    switch (next.doc->kind) {
    case Doc::Kind::Text:
      if (next.doc->text.size() > room)
        return false;
      room -= next.doc->text.size();
      break;
    case Doc::Kind::Break:
      if (!next.flat)
        return true;
      if (next.doc->spaced && room-- == 0)
        return false;
      break;
    case Doc::Kind::Concat:
    case Doc::Kind::Nest:
    case Doc::Kind::Group:
      for (DocRef part : reverse(next.doc->parts))
        rest.push_back({part, next.indent, next.flat});
      break;
    }
  }
}

std::vector<DocBuilder::Line> DocBuilder::render(DocRef doc, unsigned indent,
                                                 size_t width) {
  std::vector<Line> lines = {{indent, ""}};
  std::vector<Pending> pending = {{doc, indent, false}};
  while (!pending.empty()) {
    Pending next = pending.back();
    pending.pop_back();
    Line &line = lines.back();
    switch (next.doc->kind) {
    case Doc::Kind::Text:
      line.text += next.doc->text;
      break;
    case Doc::Kind::Break:
      if (!next.flat)
        lines.push_back({next.indent, ""});
      else if (next.doc->spaced)
        line.text += ' ';
      break;
    case Doc::Kind::Concat:
      for (DocRef part : reverse(next.doc->parts))
        pending.push_back({part, next.indent, next.flat});
      break;
    case Doc::Kind::Nest:
      pending.push_back(
          {next.doc->parts[0], next.indent + next.doc->indent, next.flat});
      break;
    case Doc::Kind::Group: {
      size_t used = line.indent + line.text.size();
      Pending inner = {next.doc->parts[0], next.indent, true};
      inner.flat =
          next.flat || fits(inner, pending, used < width ? width - used : 0);
      pending.push_back(inner);
      break;
    }
    }
  }
  return lines;
}

} // namespace pipec::ast
