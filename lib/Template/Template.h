//===- Template.h - Mustache templates --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language is mustache(5): variables, sections, inverted sections,
// comments, partials, set delimiters; lines that contain only a tag are
// removed. If a partial is used within a line, the line break at the end of its
// file is removed too. Unlike in mustache, an unknown name, a variable without
// a value and a partial that cannot be found are errors with a position.
// Rendering is bounded in depth and time.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"
#include "Template/TemplateData.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <vector>

namespace pipec {

/// The maximum nesting depth of sections in one file.
inline constexpr unsigned maxSectionDepth = 32;
/// The maximum nesting depth of partials during rendering.
inline constexpr unsigned maxPartialDepth = 64;
/// The number of bytes of text that count as one tag. The number of tags
/// rendered per object of the data is limited.
inline constexpr unsigned bytesPerTag = 256;
inline constexpr unsigned maxTagsPerObject = 1024;

/// A template with its partials, which can be rendered any number of times.
class Template {
public:
  /// Returns the text of the partial `name`, which must live as long as the
  /// template. Reports an error at `loc` if there is none.
  using Loader = llvm::function_ref<llvm::FailureOr<llvm::StringRef>(
      llvm::StringRef name, DiagLoc loc)>;

  /// Parses `text` and all partials that it uses, directly or indirectly. Names
  /// are resolved in `data`. Reports the first error of each file.
  static llvm::FailureOr<Template> parse(llvm::StringRef text,
                                         const TemplateData &data,
                                         Loader loader, DiagEngine &diags);

  /// Writes the text for `data`, which must be of the kind that the template
  /// was parsed with. If rendering fails, reports an error; the output is then
  /// incomplete and must be discarded.
  llvm::LogicalResult render(const TemplateData &data, llvm::raw_ostream &os,
                             DiagEngine &diags) const;

private:
  friend class TemplateParser;
  friend class TemplateRenderer;

  /// A part of a file. The pieces are in the order of the text.
  struct Piece {
    enum Kind : uint8_t {
      Text,
      /// The start of an output line, where indentation is inserted.
      LineStart,
      Variable,
      RawVariable,
      Section,
      Inverted,
      Partial,
    };
    Kind kind;
    /// The text, or the name of a tag. Before a partial that is alone on its
    /// line, `indent` is the blanks before it.
    llvm::StringRef text;
    llvm::StringRef indent;
    /// For a name: the index of its first number in `File::names`, and the
    /// count.
    uint32_t firstName = 0;
    uint32_t numNames = 0;
    /// For a section: its bit in the flags of objects, 0 if it has none.
    uint64_t flag = 0;
    /// For a section: the piece after it. For a partial: the number of its
    /// file.
    uint32_t target = 0;
  };
  struct File {
    std::vector<Piece> pieces;
    std::vector<unsigned> names;
    /// The last piece is the line break at the end of the file.
    bool endsInLine = false;
  };

  /// The template, followed by the partials.
  std::vector<File> files;
};

/// Parses and renders `text`, a template of the compiler, which has no
/// mistakes.
llvm::LogicalResult renderEmbedded(llvm::StringRef text,
                                   const TemplateData &data,
                                   llvm::raw_ostream &os, DiagEngine &diags,
                                   Template::Loader loader = nullptr);

} // namespace pipec
