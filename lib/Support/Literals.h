//===- Literals.h - JSON and literals of Python -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"
#include "Support/Json.h"

#include "llvm/ADT/Twine.h"

namespace pipec {

/// Reads nested lists, objects, words and numbers as JSON writes them and as
/// Python prints them, in any mixture: strings in either quotation marks, words
/// such as `None`, and commas before closing brackets. Getters report anything
/// else at its place and return false; `elements` continues after such an
/// error. The text must be a file of the engine's `SourceFiles`.
class LiteralReader : public TextCursor {
public:
  LiteralReader(llvm::StringRef text, DiagEngine &diags)
      : TextCursor(text), diags(diags), begin(text.begin()),
        base(diags.sourceFiles().compress(llvm::SMLoc::getFromPointer(begin))) {
  }

  /// The position of a place in the text, and of the next value.
  SourceLoc locOf(const char *place) const {
    return {base.offset + uint32_t(place - begin)};
  }
  SourceLoc next() {
    skipBlanks();
    return locOf(p);
  }
  SourceLoc start() const { return base; }
  /// Goes back to an earlier place.
  void rewind(const char *place) { p = place; }

  /// True if a quotation mark is next.
  bool atQuote() { return at('"') || at('\''); }
  /// True if the next word is `text`.
  bool atWord(llvm::StringRef text);
  /// Skips `text` if it is the next word.
  bool consumeWord(llvm::StringRef text);
  /// Skips `c`; reports anything else.
  bool expect(char c);
  /// Reads a string, as it is spelled, without its quotation marks.
  bool string(llvm::StringRef &text);
  /// Reads a string, or a word of letters, digits, `_` and `.`. Messages call
  /// it `what`.
  bool name(llvm::StringRef what, llvm::StringRef &text);
  /// Reads a number below `limit`. Messages call it `what`.
  bool number(unsigned limit, llvm::StringRef what, unsigned &value);
  /// Skips a value with everything inside of it, up to a `,` or a closing
  /// bracket outside of it, and returns its text.
  llvm::StringRef skipValue();
  /// Reads elements between commas up to `close`, which may follow a comma.
  /// Skips an element with an error, and reads the others. Returns false after
  /// any error.
  bool elements(char close, llvm::function_ref<bool()> element);

  /// Reads the rest of an object; `member` reads the value of each key. Reports
  /// duplicate keys. Messages call a key `what`.
  bool members(llvm::StringRef what,
               llvm::function_ref<bool(llvm::StringRef key)> member);

  /// Reports that `what` was expected here. Returns false.
  bool expected(const llvm::Twine &what);
  /// Reports an error of a kind at a part of the text. Returns false.
  template <typename... Args>
  bool error(llvm::StringRef piece, Args &&...args) {
    (void)diags.report(rangeOf(piece), std::forward<Args>(args)...);
    return false;
  }
  /// The same at the item of a position.
  template <typename... Args> bool error(SourceLoc place, Args &&...args) {
    (void)diags.report(place, std::forward<Args>(args)...);
    return false;
  }

  /// The length of the value at the beginning of `rest`, up to the end of the
  /// line for a longer one; for `SourceFiles::setItems`.
  static size_t itemLength(llvm::StringRef rest);

private:
  /// The letters, digits, `_` and `.` that are next.
  llvm::StringRef wordHere() const;

  DiagEngine &diags;
  const char *begin;
  SourceLoc base;
};

} // namespace pipec
