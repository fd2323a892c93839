//===- Parser.cpp - Text to tree -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes are checked first (ANTLR aborts on broken UTF-8), then the tokens
// (its parser recurses), then the grammar. ANTLR's exceptions end here.
//
//===----------------------------------------------------------------------===//

#include "Parse/Parser.h"

#include "Parse/OffsetMap.h"
#include "Parse/SyntaxErrors.h"
#include "Parse/TokenLimits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

// Last: ANTLR's headers undefine EOF.
#include "Parse/TreeBuilder.h"
#include "PipeLexer.h"

using namespace llvm;
using pipec::grammar::PipeLexer;
using pipec::grammar::PipeParser;

namespace pipec {

static LogicalResult checkBytes(StringRef text, DiagEngine &diags) {
  if (text.size() > maxSourceBytes)
    return diags.report(SMLoc::getFromPointer(text.data()), diag::SourceTooLong,
                        text.size(), maxSourceBytes);
  if (size_t nul = text.find('\0'); nul != StringRef::npos)
    return diags.report(SMLoc::getFromPointer(text.data() + nul),
                        diag::NulByte);
  const auto *p = reinterpret_cast<const UTF8 *>(text.bytes_begin());
  const auto *end = reinterpret_cast<const UTF8 *>(text.bytes_end());
  if (!isLegalUTF8String(&p, end))
    return diags.report(
        SMLoc::getFromPointer(reinterpret_cast<const char *>(p)),
        diag::InvalidUtf8, utohexstr(*p, /*LowerCase=*/true, /*Width=*/2));
  return success();
}

FailureOr<ast::Module *> parsePipe(StringRef path, StringRef text,
                                   ast::Context &context, DiagEngine &diags) {
  if (failed(checkBytes(text, diags)))
    return failure();
  // A byte order mark is no part of the program.
  text.consume_front("\xEF\xBB\xBF");

  unsigned errorsBefore = diags.numErrors();
  OffsetMap offsets(text);
  antlr4::ANTLRInputStream input(text.str());
  PipeLexer lexer(&input);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  tokens.fill();
  if (failed(checkTokenLimits(tokens, offsets, diags)))
    return failure();

  PipeParser parser(&tokens);
  auto listener = makeSyntaxErrorListener(offsets, diags);
  parser.removeErrorListeners();
  parser.addErrorListener(listener.get());
  parser.setErrorHandler(makeSyntaxErrorStrategy());
  PipeParser::FileContext *file = parser.file();
  if (diags.numErrors() != errorsBefore)
    return failure();

  ast::Module *module =
      TreeBuilder(offsets, text, context, diags).build(file, path, tokens);
  if (diags.numErrors() != errorsBefore)
    return failure();
  return module;
}

} // namespace pipec
