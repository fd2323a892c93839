//===- Tokens.h - Tokens of ANTLR, their checks and errors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Expr.h"
#include "Support/DiagEngine.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <memory>
#include <optional>
#include <vector>

// Must come last, because ANTLR's headers undefine EOF.
#include "PipeLexer.h"
#include "antlr4-runtime.h"

namespace pipec {

/// Maps code points, which ANTLR counts, to bytes, which `SourceMgr` counts.
/// Stores nothing if the text is all ASCII.
class OffsetMap {
public:
  /// `text` must be valid UTF-8.
  explicit OffsetMap(llvm::StringRef text) : text(text) {
    if (llvm::all_of(text, [](char c) { return (c & 0x80) == 0; }))
      return;
    for (size_t i = 0; i != text.size(); ++i)
      if (!isContinuationByte(text[i]))
        offsets.push_back(i);
    offsets.push_back(text.size());
  }

  /// The position of the code point with this index, which may be one past the
  /// last.
  llvm::SMLoc loc(size_t codePoint) const {
    size_t offset = offsets.empty()
                        ? std::min(codePoint, text.size())
                        : offsets[std::min(codePoint, offsets.size() - 1)];
    return llvm::SMLoc::getFromPointer(text.data() + offset);
  }
  /// The range of the tokens from `first` to `last`.
  llvm::SMRange range(antlr4::Token *first, antlr4::Token *last) const {
    return {loc(first->getStartIndex()), loc(last->getStopIndex() + 1)};
  }
  llvm::SMRange range(antlr4::Token *token) const {
    return range(token, token);
  }

private:
  llvm::StringRef text;
  /// The byte offset of every code point and of the end; empty for ASCII.
  std::vector<uint32_t> offsets;
};

/// The operator of a token between two operands, if the token is one.
std::optional<ast::BinaryOp> binaryOperator(size_t type);

/// Fails, with one error, if the tokens nest deeper than `maxNesting` or an
/// expression has more than `maxOperators` operators. After this check, the
/// parser and all later phases may recurse over the tree.
llvm::LogicalResult checkTokenLimits(antlr4::CommonTokenStream &tokens,
                                     const OffsetMap &offsets,
                                     DiagEngine &diags);

/// Turns `connect`, `graph`, `tie` and `alias` into tokens of their own where
/// an item of a schedule may begin. No name can occur there, so that these
/// words are names in all other places, and programs that use them as names
/// stay valid.
void findItemWords(antlr4::CommonTokenStream &tokens);

/// Turns `R`, `OFFLOAD`, `WAIT_OFFLOAD`, `RELOAD` and `UPDATE` into tokens of
/// their own where a step may begin, and where no `(`, `=` or operator follows:
/// programs that use them as names stay valid.
void findStepWords(antlr4::CommonTokenStream &tokens);

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
