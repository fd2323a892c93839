//===- JsonWalk.h - JSON with its places and spellings ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's JSON parser decides whether a text is JSON. It keeps neither positions
// nor the spelling of numbers, and both matter in a profile, so the values are
// then read from the text itself by a walk that relies on its syntax.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_JSONWALK_H
#define PIPEC_IMPORT_JSONWALK_H

#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace pipec {

/// Objects and lists inside each other; the parser is recursive.
inline constexpr unsigned maxJsonDepth = 256;

/// Reports, at its place, why `text` is not JSON or that it nests too deep.
llvm::LogicalResult checkJson(llvm::StringRef text, DiagEngine &diags);

/// The range of a piece of a source file.
inline llvm::SMRange rangeOf(llvm::StringRef piece) {
  return {llvm::SMLoc::getFromPointer(piece.begin()),
          llvm::SMLoc::getFromPointer(piece.end())};
}

/// A walk over the values of a text that `checkJson` accepts, from its
/// beginning to its end. Linear.
class JsonWalk {
public:
  explicit JsonWalk(llvm::StringRef text) : rest(text) {}

  /// True when the next value is an object.
  bool atObject();
  /// Takes the next value, whole, and returns its text; a string has its
  /// quotes.
  llvm::StringRef takeValue();
  /// Takes the next value, which is an object, and calls `member` with the key
  /// of each of its members, without quotes; `member` takes the value.
  void takeObject(llvm::function_ref<void(llvm::StringRef key)> member);

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }

  llvm::StringRef rest;
};

} // namespace pipec

#endif // PIPEC_IMPORT_JSONWALK_H
