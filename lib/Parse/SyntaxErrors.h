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

/// A listener that reports what ANTLR finds through `diags`, at most one error
/// per line, so that one mistake gives one message. Throws
/// `antlr4::ParseCancellationException` when there are too many errors.
std::unique_ptr<antlr4::ANTLRErrorListener>
makeSyntaxErrorListener(const OffsetMap &offsets, DiagEngine &diags);

/// How the parser goes on behind an error: it supplies what ends or closes
/// something and nothing else, and never skips half of a block, so that one
/// mistake gives one message and the next one its own.
std::shared_ptr<antlr4::ANTLRErrorStrategy> makeSyntaxErrorStrategy();

} // namespace pipec

#endif // PIPEC_PARSE_SYNTAXERRORS_H
