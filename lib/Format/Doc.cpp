//===- Doc.cpp - Text with optional line breaks ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/Doc.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

DocRef DocBuilder::doc(const Part &part) {
  if (part.doc || part.expr)
    return part.doc ? part.doc : expr(part.expr);
  return new (arena.Allocate<Doc>())
      Doc{Doc::Kind::Text, false, 0, part.text, {}};
}

DocRef DocBuilder::make(Doc::Kind kind, unsigned value, ArrayRef<Part> parts) {
  DocRef *docs = arena.Allocate<DocRef>(parts.size());
  for (auto [number, part] : enumerate(parts))
    docs[number] = doc(part);
  return new (arena.Allocate<Doc>())
      Doc{kind, false, value, {}, {docs, parts.size()}};
}

DocRef DocBuilder::commas(ArrayRef<Part> parts) {
  Parts all;
  for (const Part &part : parts) {
    if (!all.empty())
      all.append({",", line()});
    all.push_back(part);
  }
  return concat(all);
}

DocRef DocBuilder::arguments(ArrayRef<Expr *> args) {
  if (args.empty())
    return doc("()");
  return group({"(", softLine(), commas(Parts(args.begin(), args.end())), ")"});
}

//===----------------------------------------------------------------------===//
// On one line
//===----------------------------------------------------------------------===//

/// Appends `doc` to `line`. `atHead` is true while the line may get another
/// head. Returns false if the line has more than `width` bytes.
static bool writeFlat(DocRef doc, size_t width, FormatLine &line,
                      bool &atHead) {
  ArrayRef<DocRef> parts = doc->parts;
  bool isHead = doc->kind == Doc::Kind::Head && atHead;
  if (doc->kind == Doc::Kind::Text) {
    line.body += doc->text;
    atHead &= doc->text.empty() || doc->text.ends_with(" ");
  } else if (doc->kind == Doc::Kind::Break && doc->spaced) {
    line.body += ' ';
  } else if (isHead) {
    parts = parts.drop_back(); // the space
  }
  for (DocRef part : parts)
    if (!writeFlat(part, width, line, atHead))
      return false;
  if (isHead) {
    line.heads.push_back({doc->value, std::move(line.body)});
    line.body.clear();
    atHead = true;
  }
  size_t used = line.body.size();
  for (const LineHead &head : line.heads)
    used += head.text.size() + 1;
  return used <= width;
}

std::optional<FormatLine> DocBuilder::renderFlat(DocRef doc, unsigned indent) {
  FormatLine line{indent};
  bool atHead = true;
  if (indent >= formatWidth ||
      !writeFlat(doc, formatWidth - indent, line, atHead))
    return std::nullopt;
  return line;
}

//===----------------------------------------------------------------------===//
// On several lines
//===----------------------------------------------------------------------===//

namespace {
struct Pending {
  DocRef doc;
  unsigned indent;
  bool flat;
};
} // namespace

/// True if `first`, then `pending`, fit in `room` columns up to the next break.
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
    default:
      for (DocRef part : reverse(next.doc->parts))
        rest.push_back({part, next.indent, next.flat});
      break;
    }
  }
}

std::vector<FormatLine> DocBuilder::render(DocRef doc, unsigned indent) {
  std::vector<FormatLine> lines(1, FormatLine{indent});
  std::vector<Pending> pending = {{doc, indent, false}};
  while (!pending.empty()) {
    Pending next = pending.back();
    pending.pop_back();
    FormatLine &line = lines.back();
    switch (next.doc->kind) {
    case Doc::Kind::Text:
      line.body += next.doc->text;
      continue;
    case Doc::Kind::Break:
      if (!next.flat)
        lines.push_back(FormatLine{next.indent});
      else if (next.doc->spaced)
        line.body += ' ';
      continue;
    case Doc::Kind::Nest:
      next.indent += next.doc->value;
      break;
    case Doc::Kind::Group:
      if (!next.flat) {
        size_t used = line.indent + line.body.size();
        next.flat = fits({next.doc->parts[0], next.indent, true}, pending,
                         used < formatWidth ? formatWidth - used : 0);
      }
      break;
    case Doc::Kind::Concat:
    case Doc::Kind::Head:
      break;
    }
    for (DocRef part : reverse(next.doc->parts))
      pending.push_back({part, next.indent, next.flat});
  }
  return lines;
}

} // namespace pipec::ast
