//===- SyntaxErrors.h - Translating ANTLR errors ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

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
