//===- Template.h - Mustache templates --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The language of mustache(5): variables, sections, inverted sections,
// comments, partials, set delimiters, and lines that hold one tag alone, which
// are left out. Of a partial within a line, the line break at the end of its
// file is left out, too. Stricter than that page in what would be a silent
// mistake: a name that the data does not have, a variable without a value, and
// a partial that cannot be found are errors with a position. Rendering is
// bounded in depth and in time.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TEMPLATE_TEMPLATE_H
#define PIPEC_TEMPLATE_TEMPLATE_H

#include "Support/DiagEngine.h"
#include "Template/TemplateData.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <vector>

namespace pipec {

/// How deep sections nest in one file.
inline constexpr unsigned maxSectionDepth = 32;
/// How deep partials nest when they are rendered.
inline constexpr unsigned maxPartialDepth = 64;
/// Tags that are rendered, for each object of the data; so many bytes of text
/// count as one more.
inline constexpr unsigned bytesPerTag = 256;
inline constexpr unsigned maxTagsPerObject = 1024;

/// A template with its partials, ready to be rendered any number of times.
class Template {
public:
  /// Returns the text of the partial `name`, which lives as long as the
  /// template; reports at `loc` when there is none.
  using Loader = llvm::function_ref<llvm::FailureOr<llvm::StringRef>(
      llvm::StringRef name, DiagLoc loc)>;

  /// Parses `text` and all partials that it names, directly or not. The names
  /// in it are those of `data`. Reports the first mistake of each file.
  static llvm::FailureOr<Template> parse(llvm::StringRef text,
                                         const TemplateData &data,
                                         Loader loader, DiagEngine &diags);

  /// Writes the text for `data`, which must be of the kind that the template
  /// was parsed with. Reports a mistake that only shows now; what was written
  /// is then to be dropped.
  llvm::LogicalResult render(const TemplateData &data, llvm::raw_ostream &os,
                             DiagEngine &diags) const;

private:
  friend class TemplateParser;
  friend class TemplateRenderer;

  /// A part of a file, in the order of the text.
  struct Piece {
    static constexpr uint8_t noFlag = 64;
    enum Kind : uint8_t {
      Text,
      /// A line that is written begins: the place of the indentation.
      LineStart,
      Variable,
      RawVariable,
      Section,
      Inverted,
      Partial,
    };
    Kind kind;
    /// The text; the name of a tag; before a partial that is alone on its
    /// line, `indent` is the blanks before it.
    llvm::StringRef text;
    llvm::StringRef indent;
    /// Of a name: where its numbers begin in `File::names`, and how many.
    uint32_t firstName = 0;
    uint32_t numNames = 0;
    /// The bit of a name alone in the flags of objects, else `noFlag`.
    uint8_t flag = noFlag;
    /// Of a section: the piece after it. Of a partial: the number of its file.
    uint32_t target = 0;
  };
  struct File {
    std::vector<Piece> pieces;
    std::vector<unsigned> names;
    /// The last piece is the line break at the end of the file.
    bool endsInLine = false;
  };

  /// The template itself, then the partials.
  std::vector<File> files;
};

} // namespace pipec

#endif // PIPEC_TEMPLATE_TEMPLATE_H
