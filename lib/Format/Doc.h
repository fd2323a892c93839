//===- Doc.h - Text with optional line breaks -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FORMAT_DOC_H
#define PIPEC_FORMAT_DOC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace pipec::ast {

/// A piece of text with optional line breaks, created by `DocBuilder`.
struct Doc {
  enum class Kind : uint8_t { Text, Break, Concat, Nest, Group };
  Kind kind;
  /// Break: written as a space if the line does not end here.
  bool spaced = false;
  /// Nest: the additional indentation of the lines of the part.
  unsigned indent = 0;
  llvm::StringRef text;
  llvm::ArrayRef<const Doc *> parts;
};
using DocRef = const Doc *;

/// Creates documents and lays them out (Wadler, "A prettier printer", 1998): if
/// a group fits on one line, it is printed on one line; otherwise each of its
/// breaks ends a line, and the nested groups are tried separately.
class DocBuilder {
public:
  /// `text` must outlive the document.
  DocRef text(llvm::StringRef text);
  /// Copies `text`.
  DocRef copied(llvm::StringRef text) { return this->text(text.copy(arena)); }
  /// A space or a line break.
  DocRef line() { return &spacedBreak; }
  /// Nothing or a line break.
  DocRef softLine() { return &plainBreak; }
  DocRef concat(llvm::ArrayRef<DocRef> parts);
  DocRef concat(std::initializer_list<DocRef> parts) {
    return concat(llvm::ArrayRef<DocRef>(parts.begin(), parts.size()));
  }
  DocRef nest(unsigned indent, DocRef doc);
  DocRef group(DocRef doc);

  /// Writes the document on one line. Returns false if that takes more than
  /// `width` columns; `out` is then unspecified.
  static bool renderFlat(DocRef doc, size_t width, std::string &out);

  struct Line {
    unsigned indent;
    std::string text;
  };
  /// Lays out the document in `width` columns, starting at column `indent`.
  static std::vector<Line> render(DocRef doc, unsigned indent, size_t width);

private:
  llvm::BumpPtrAllocator arena;
  const Doc spacedBreak{Doc::Kind::Break, true, 0, {}, {}};
  const Doc plainBreak{Doc::Kind::Break, false, 0, {}, {}};
};

} // namespace pipec::ast

#endif // PIPEC_FORMAT_DOC_H
