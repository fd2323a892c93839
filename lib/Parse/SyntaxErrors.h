//===- SyntaxErrors.h - Translating ANTLR errors ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PARSE_SYNTAXERRORS_H
#define PIPEC_PARSE_SYNTAXERRORS_H

#include "Parse/OffsetMap.h"
#include "Support/DiagEngine.h"

#include <memory>

namespace antlr4 {
class ANTLRErrorListener;
class ANTLRErrorStrategy;
} // namespace antlr4

namespace pipec {

/// Creates a listener that reports ANTLR's errors through `diags`, at most one
/// per line, so that one mistake results in one message. Throws
/// `antlr4::ParseCancellationException` if there are too many errors.
std::unique_ptr<antlr4::ANTLRErrorListener>
makeSyntaxErrorListener(const OffsetMap &offsets, DiagEngine &diags);

/// Creates the strategy for error recovery. It only inserts tokens that end or
/// close something, and never skips half of a block, so that each mistake
/// results in one message.
std::shared_ptr<antlr4::ANTLRErrorStrategy> makeSyntaxErrorStrategy();

} // namespace pipec

#endif // PIPEC_PARSE_SYNTAXERRORS_H
