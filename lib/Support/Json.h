//===- Json.h - Reading and writing JSON, reading literals ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles and traces are read in place, value by value, with the positions of
// all values and the spelling of all numbers. `value` returns the text of a
// value, which functions of this file and `StringRef::getAsInteger` convert.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace pipec {

/// The maximum nesting depth of objects and lists, since readers are recursive.
inline constexpr unsigned maxJsonDepth = 256;

/// A position in a text of values and punctuation, between blanks.
class TextCursor {
public:
  explicit TextCursor(llvm::StringRef text)
      : p(text.begin()), end(text.end()) {}

  const char *here() const { return p; }
  /// The text from `begin` to the cursor.
  llvm::StringRef since(const char *begin) const {
    return {begin, size_t(p - begin)};
  }
  /// True if only blanks are left. Skips them.
  bool atEnd() {
    skipBlanks();
    return p == end;
  }
  /// True if the next character after blanks is `c`. Skips the blanks.
  bool at(char c) { return !atEnd() && *p == c; }
  /// Skips `c` if it is next.
  bool consume(char c) {
    bool is = at(c);
    p += is;
    return is;
  }

protected:
  void skipBlanks() {
    while (p != end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
      ++p;
  }

  const char *p;
  const char *end;
};

/// Reads one JSON text from its beginning to its end, and checks its syntax.
/// After the first fault every function returns at once, with nothing. Escapes
/// in strings are skipped unchecked. Linear, without allocations.
class JsonReader : public TextCursor {
public:
  explicit JsonReader(llvm::StringRef text, unsigned depth = maxJsonDepth)
      : TextCursor(text), maxDepth(depth) {}

  /// Reads the next value and returns its text; a string includes its quotes.
  llvm::StringRef value();
  /// Reads the next value, which must be an object. Calls `member` with each
  /// key, as it is spelled, without its quotes; `member` must read the value.
  void object(llvm::function_ref<void(llvm::StringRef key)> member);
  /// Reads the next value, which must be a list; `item` must read each value.
  void list(llvm::function_ref<void()> item);
  /// Checks that the text ends here.
  void finish();

  struct Fault {
    const char *at = nullptr;
    /// The expected token; null if there is no fault.
    const char *text = nullptr;
    bool isTooDeep = false;
  };
  const Fault &fault() const { return first; }
  bool hasFault() const { return first.text; }
  /// Sets a fault, for readers that expect a certain value. Only the first
  /// fault counts.
  void setFault(const char *at, const char *text, bool isTooDeep = false);

private:
  void fail(const char *text) { setFault(p, text); }
  void skipValue(unsigned depth);
  void skipString();
  void skipNumber();
  llvm::StringRef readKey();
  /// Reads `open`, then calls `element` up to the closing bracket.
  void elements(char open, llvm::function_ref<void()> element);

  unsigned maxDepth;
  Fault first;
};

/// The characters of a string of JSON; `text` includes its quotes. Returns any
/// other text, and a string with invalid escapes, as it is spelled.
std::string decodeJsonString(llvm::StringRef text);

/// The number of JSON `text`, times ten to the power of `places`, without the
/// fraction of the result. Exact. Nothing if `text` is not a number or the
/// result does not fit.
std::optional<int64_t> scaledJsonNumber(llvm::StringRef text, unsigned places);

/// Parses a whole text with LLVM's recursive parser, if objects and lists do
/// not nest deeper than `depth`. The error says where and what the text lacks.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            unsigned depth = maxJsonDepth);
/// The object that such a text is; nothing for any other text.
std::optional<llvm::json::Object> parseJsonObject(llvm::StringRef text);

/// A value for JSON; null if there is none.
template <class T>
llvm::json::Value valueOrNull(const std::optional<T> &value) {
  return value ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}
/// The same for a text, which may have any bytes; null if it is empty.
inline llvm::json::Value textOrNull(llvm::StringRef text) {
  return text.empty() ? llvm::json::Value(nullptr)
                      : llvm::json::Value(llvm::json::fixUTF8(text));
}

/// Writes an array; `write` writes the value of each element of `range`.
template <class Range, class Write>
void writeArray(llvm::json::OStream &json, llvm::StringRef key, Range &&range,
                Write write) {
  json.attributeArray(key, [&] { llvm::for_each(range, write); });
}
/// The same for an array of texts.
void writeTexts(llvm::json::OStream &json, llvm::StringRef key,
                const auto &texts) {
  writeArray(json, key, texts, [&](llvm::StringRef text) {
    json.value(llvm::json::fixUTF8(text));
  });
}
/// The same for an array of objects, whose attributes `write` writes.
template <class Range, class Write>
void writeObjects(llvm::json::OStream &json, llvm::StringRef key, Range &&range,
                  Write write) {
  writeArray(json, key, range,
             [&](const auto &each) { json.object([&] { write(each); }); });
}

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
