//===- Doc.h - Text with optional line breaks -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Expr.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace pipec::ast {

/// The maximum number of columns of a line of code; comments may be longer.
inline constexpr size_t formatWidth = 100;

/// The part of a line before an element that consecutive lines align: `let far`
/// before `=`, `warmup` and `{ repeat w` before a brace.
struct LineHead {
  /// Only heads of the same kind are aligned.
  unsigned kind;
  std::string text;
};

/// A line of output.
struct FormatLine {
  unsigned indent = 0;
  /// The line after its heads. A line that is a comment consists of the body.
  std::string body = {};
  llvm::SmallVector<LineHead, 2> heads = {};
  /// The comment after the code, or empty.
  std::string comment = {};
  bool blankAbove = false;

  /// The number of columns of the code without padding and indentation.
  size_t width() const;
};

/// Aligns the lines as defined in docs/LangRef.md under "Canonical form", and
/// writes them.
void printLines(std::vector<FormatLine> lines, llvm::raw_ostream &os);

/// A piece of text with optional line breaks, created by `DocBuilder`.
struct Doc {
  enum class Kind : uint8_t { Text, Break, Concat, Nest, Group, Head };
  Kind kind;
  /// Break: written as a space if the line does not end here.
  bool spaced = false;
  /// Nest: the additional indentation of the lines of the part. Head: its kind.
  unsigned value = 0;
  llvm::StringRef text = {};
  llvm::ArrayRef<const Doc *> parts = {};
};
using DocRef = const Doc *;

/// Precedences: an expression of lower precedence than its context requires is
/// parenthesized. 1 to 6 are the binary operators.
enum : unsigned { bindAny = 0, bindUnary = 7, bindPrimary = 8 };

/// Creates documents and lays them out (Wadler, "A prettier printer", 1998): if
/// a group fits on one line, it is printed on one line; otherwise each of its
/// breaks ends a line, and the nested groups are tried separately.
class DocBuilder {
public:
  /// A document, a text that outlives it, or an expression.
  struct Part {
    Part(DocRef doc) : doc(doc) {}
    Part(llvm::StringRef text) : text(text) {}
    Part(const char *text) : text(text) {}
    Part(const Expr *expr) : expr(expr) {}
    DocRef doc = nullptr;
    const Expr *expr = nullptr;
    llvm::StringRef text = {};
  };
  using Parts = llvm::SmallVector<Part, 8>;

  DocRef concat(llvm::ArrayRef<Part> parts) {
    return make(Doc::Kind::Concat, 0, parts);
  }
  DocRef concat(std::initializer_list<Part> parts) {
    return concat(llvm::ArrayRef<Part>(parts.begin(), parts.size()));
  }
  /// A text that is copied.
  DocRef copied(llvm::StringRef text) { return doc(text.copy(arena)); }
  /// A space or a line break.
  DocRef line() { return &spacedBreak; }
  /// Nothing or a line break.
  DocRef softLine() { return &plainBreak; }
  DocRef nest(unsigned indent, Part part) {
    return make(Doc::Kind::Nest, indent, part);
  }
  /// A group whose lines after the first are indented.
  DocRef group(llvm::ArrayRef<Part> parts) {
    return make(Doc::Kind::Group, 0, Part(nest(4, concat(parts))));
  }
  DocRef group(std::initializer_list<Part> parts) {
    return group(llvm::ArrayRef<Part>(parts.begin(), parts.size()));
  }
  /// A part that is followed by a space. It is a head of its line (`LineHead`)
  /// if the whole document is on one line, and only heads and texts that end in
  /// a space, such as `{ `, precede it.
  DocRef head(unsigned kind, Part part) {
    return make(Doc::Kind::Head, kind, {part, " "});
  }
  /// `a, b`, with optional breaks.
  DocRef commas(llvm::ArrayRef<Part> parts);
  /// `(a, b)`, with optional breaks.
  DocRef arguments(llvm::ArrayRef<Expr *> args);

  /// The expression with the necessary parentheses, and with those that clarify
  /// uncommon precedence: `(a && b) || c`, `(a < b) == c`, `a ? (b ? c : d) :
  /// e`, `-(-a)`. Lines break before an operator, before `:` and after a comma.
  DocRef expr(const Expr *expr, unsigned binding = bindAny);

  /// Lays out the document on one line of at most `formatWidth` columns; fails
  /// if it is longer.
  static std::optional<FormatLine> renderFlat(DocRef doc, unsigned indent);
  /// Lays out the document in `formatWidth` columns.
  static std::vector<FormatLine> render(DocRef doc, unsigned indent);

private:
  DocRef doc(const Part &part);
  DocRef make(Doc::Kind kind, unsigned value, llvm::ArrayRef<Part> parts);
  DocRef bare(const Expr *expr);
  DocRef binary(const BinaryExpr *expr);
  DocRef conditional(const ConditionalExpr *expr);

  llvm::BumpPtrAllocator arena;
  const Doc spacedBreak{Doc::Kind::Break, true};
  const Doc plainBreak{Doc::Kind::Break, false};
};

} // namespace pipec::ast
