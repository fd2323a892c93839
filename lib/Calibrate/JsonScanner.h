//===- JsonScanner.h - JSON that is read once -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces have tens of megabytes, most of which are events that are not needed.
// The scanner checks the whole syntax, returns keys and the texts of values,
// and stores nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_CALIBRATE_JSONSCANNER_H
#define PIPEC_CALIBRATE_JSONSCANNER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// Reads one JSON text from its beginning to its end. After a fault every
/// function returns at once, with nothing. Linear, without allocations.
class JsonScanner {
public:
  explicit JsonScanner(llvm::StringRef text) : rest(text) { skipSpace(); }

  bool atObject() const { return rest.starts_with("{"); }
  /// Takes the next value and returns its text; a string has its quotes.
  llvm::StringRef value();
  /// Takes the next value, which must be an object, and calls `member` with
  /// each key, as it is written without its quotes; `member` takes the value.
  void object(llvm::function_ref<void(llvm::StringRef key)> member);
  /// Takes the next value, which must be a list; `item` takes each value.
  void list(llvm::function_ref<void()> item);
  /// Checks that the text ends here.
  void end();

  bool hasFault() const { return fault; }
  /// What was expected, and where; only after a fault.
  const char *faultAt() const { return where; }
  const char *faultText() const { return fault; }
  /// Sets a fault, for readers that expect a certain value; the first counts.
  void setFault(const char *at, const char *text);

private:
  /// Objects and lists inside each other; the scanner is recursive.
  static constexpr unsigned maxDepth = 256;

  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  void fail(const char *text) { setFault(rest.data(), text); }
  void skipValue(unsigned depth);
  void skipString();
  void skipNumber();
  /// Takes `open`, then calls `member` for everything up to `close`.
  void members(char open, char close, llvm::function_ref<void()> member);

  llvm::StringRef rest;
  const char *fault = nullptr;
  const char *where = nullptr;
};

/// The characters of a string of JSON; `text` has its quotes. Anything else is
/// returned as it is.
std::string decodeJsonString(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_CALIBRATE_JSONSCANNER_H
