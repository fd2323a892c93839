//===- JsonWalk.h - JSON with positions and spellings -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's JSON parser decides whether a text is valid JSON. It does not keep
// positions or the spelling of numbers, which profiles need, so the values are
// then read by a walk over the text, which relies on its validity.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_JSONWALK_H
#define PIPEC_IMPORT_JSONWALK_H

#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace pipec {

/// The maximum nesting depth of objects and lists; the parser is recursive.
inline constexpr unsigned maxJsonDepth = 256;

/// Reports an error at its position if `text` is not JSON or is nested too
/// deeply.
llvm::LogicalResult checkJson(llvm::StringRef text, DiagEngine &diags);

/// The range of a part of a source file.
inline llvm::SMRange rangeOf(llvm::StringRef piece) {
  return {llvm::SMLoc::getFromPointer(piece.begin()),
          llvm::SMLoc::getFromPointer(piece.end())};
}

/// A walk over the values of a text that `checkJson` accepts, from beginning to
/// end. Linear.
class JsonWalk {
public:
  explicit JsonWalk(llvm::StringRef text) : rest(text) {}

  /// True if the next value is an object.
  bool atObject();
  /// Reads the next value and returns its text; a string includes its quotes.
  llvm::StringRef takeValue();
  /// Reads the next value, which must be an object. Calls `member` with each
  /// key, without quotes; `member` must read the value.
  void takeObject(llvm::function_ref<void(llvm::StringRef key)> member);

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }

  llvm::StringRef rest;
};

} // namespace pipec

#endif // PIPEC_IMPORT_JSONWALK_H
