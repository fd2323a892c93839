//===- Doc.h - Text that knows where it may be broken -----------*- C++ -*-===//
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

/// A piece of text with places where a line may end. Made by `DocBuilder`.
struct Doc {
  enum class Kind : uint8_t { Text, Break, Concat, Nest, Group };
  Kind kind;
  /// Break: written as a space when the line does not end here.
  bool spaced = false;
  /// Nest: how much further in the lines of the part begin.
  unsigned indent = 0;
  llvm::StringRef text;
  llvm::ArrayRef<const Doc *> parts;
};
using DocRef = const Doc *;

/// Makes documents and lays them out (Wadler, "A prettier printer", 1998): a
/// group stands on one line when it fits, else every break that belongs to it
/// ends a line, and the groups inside it are tried again.
class DocBuilder {
public:
  /// `text` must outlive the document.
  DocRef text(llvm::StringRef text);
  /// A copy of `text` is kept.
  DocRef copied(llvm::StringRef text) { return this->text(text.copy(arena)); }
  /// A space, or the end of the line.
  DocRef line() { return &spacedBreak; }
  /// Nothing, or the end of the line.
  DocRef softLine() { return &plainBreak; }
  DocRef concat(llvm::ArrayRef<DocRef> parts);
  DocRef concat(std::initializer_list<DocRef> parts) {
    return concat(llvm::ArrayRef<DocRef>(parts.begin(), parts.size()));
  }
  DocRef nest(unsigned indent, DocRef doc);
  DocRef group(DocRef doc);

  /// The document on one line, or false when that takes more than `width`
  /// columns; `out` is then unspecified.
  static bool renderFlat(DocRef doc, size_t width, std::string &out);

  struct Line {
    unsigned indent;
    std::string text;
  };
  /// Lays the document out in `width` columns, from column `indent` on.
  static std::vector<Line> render(DocRef doc, unsigned indent, size_t width);

private:
  llvm::BumpPtrAllocator arena;
  const Doc spacedBreak{Doc::Kind::Break, true, 0, {}, {}};
  const Doc plainBreak{Doc::Kind::Break, false, 0, {}, {}};
};

} // namespace pipec::ast

#endif // PIPEC_FORMAT_DOC_H
