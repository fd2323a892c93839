//===- OrderCursor.h - Reading orders of other frameworks -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_ORDERCURSOR_H
#define PIPEC_IMPORT_ORDERCURSOR_H

#include "Support/DiagEngine.h"
#include "Support/SourceFiles.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace pipec {

/// A cursor over nested lists, objects, words and numbers, as JSON writes them
/// and as Python prints them. The text must be followed by a NUL byte.
class OrderCursor {
public:
  OrderCursor(llvm::StringRef text, DiagEngine &diags)
      : begin(text.begin()), p(text.begin()), end(text.end()), diags(diags),
        base(diags.sourceFiles().compress(llvm::SMLoc::getFromPointer(begin))) {
  }

  const char *here() const { return p; }
  /// The beginning of the text, and a place in it, for diagnostics.
  SourceLoc start() const { return base; }
  SourceLoc locOf(const char *place) const {
    return {base.offset + uint32_t(place - begin)};
  }
  /// Goes back to an earlier place.
  void rewind(const char *place) { p = place; }
  bool atEnd() {
    skipBlanks();
    return p == end;
  }
  /// True if the next character after blanks is `c`.
  bool at(char c) {
    skipBlanks();
    return p != end && *p == c;
  }
  /// True if a quotation mark of JSON or Python is next.
  bool atQuote() { return at('"') || at('\''); }
  /// True if the next word is `text`, and is longer than it only if `prefix`.
  bool atWord(llvm::StringRef text, bool prefix = false);
  /// The text from `begin` to the cursor.
  llvm::StringRef since(const char *begin) const {
    return {begin, size_t(p - begin)};
  }

  /// Skips `c` if it is next.
  bool consume(char c) {
    bool is = at(c);
    p += is;
    return is;
  }
  /// Skips `text` if it is the next word.
  bool consumeWord(llvm::StringRef text);
  /// Skips `c`; reports anything else.
  bool expect(char c);
  /// Reads a word of letters, digits, `_` and `.`; empty if there is none.
  llvm::StringRef word();
  /// Reads a string and returns what is between its quotation marks, as it is
  /// written; reports anything else.
  bool string(llvm::StringRef &text);
  /// Reads a number below `limit`; reports anything else. Messages call it
  /// `what`.
  bool number(unsigned limit, llvm::StringRef what, unsigned &value);
  /// Skips a value with everything inside of it, up to a `,` or a closing
  /// bracket outside of it.
  void skipValue();

  /// Reads elements between commas up to `close`; `element` reads one and
  /// reports what is wrong with it, and the others are read then too. A comma
  /// before `close` is allowed. Returns false after any error.
  bool readElements(char close, llvm::function_ref<bool()> element);

  /// Reports that `what` was expected here.
  void expected(const llvm::Twine &what);

  /// The length of the value at the beginning of `text`, without blanks after
  /// it.
  static size_t valueLength(llvm::StringRef text);

private:
  void skipBlanks();

  const char *begin;
  const char *p;
  const char *end;
  DiagEngine &diags;
  SourceLoc base;
};

} // namespace pipec

#endif // PIPEC_IMPORT_ORDERCURSOR_H
