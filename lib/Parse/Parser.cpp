//===- Parser.cpp - Text to tree ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three checks follow each other: bytes (ANTLR aborts on invalid UTF-8), tokens
// (its parser recurses), and the grammar. Exceptions of ANTLR do not leave this
// file.
//
//===----------------------------------------------------------------------===//

#include "Parse/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

// Must come last, because ANTLR's headers undefine EOF.
#include "Parse/TreeBuilder.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SyntaxDiags.h"
#include "Support/Words.h"

using namespace llvm;
using pipec::grammar::PipeLexer;
using pipec::grammar::PipeParser;

namespace pipec {

static LogicalResult checkBytes(StringRef path, StringRef text,
                                DiagEngine &diags) {
  if (text.size() > maxSourceBytes)
    return diags.report(DiagLoc(), diag::FileTooLarge, path, maxSourceBytes);
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

/// Parses text that has passed the check of bytes.
static FailureOr<ast::Module *> parseText(StringRef path, StringRef text,
                                          ast::Context &context,
                                          DiagEngine &diags) {
  unsigned errorsBefore = diags.numErrors();
  OffsetMap offsets(text);
  antlr4::ANTLRInputStream input(text.str());
  PipeLexer lexer(&input);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  tokens.fill();
  if (failed(checkTokenLimits(tokens, offsets, diags)))
    return failure();

  findItemWords(tokens);
  findStepWords(tokens);
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

/// The length of the step at the beginning of `rest`: `F`, `B*`, `W[c, i]`; 0
/// if there is none.
static size_t stepLength(StringRef rest) {
  if (rest.size() < 2 || !StringRef("FBIW").contains(rest[0]) ||
      isWordByte(rest[1]))
    return 0;
  size_t length = rest[1] == '*' ? 2 : 1;
  if (!rest.substr(length).starts_with("["))
    return length;
  int depth = 0;
  for (size_t end = length; end != rest.size() && rest[end] != '\n'; ++end) {
    depth += (rest[end] == '[') - (rest[end] == ']');
    if (depth == 0)
      return end + 1;
  }
  return length;
}

FailureOr<ast::Module *> parsePipe(StringRef path, StringRef text,
                                   ast::Context &context, DiagEngine &diags) {
  if (failed(checkBytes(path, text, diags)))
    return failure();
  // A byte order mark is not part of the program.
  text.consume_front(byteOrderMark);
  diags.sourceFiles().setItems(text, stepLength);
  // The ANTLR runtime throws on internal errors and misuse.
  try {
    return parseText(path, text, context, diags);
  } catch (const antlr4::ParseCancellationException &) {
    return failure(); // errors were reported
  } catch (const std::exception &error) {
    return diags.report(SMLoc::getFromPointer(text.data()),
                        diag::SyntaxUnexpected,
                        "failure of the parser: " + std::string(error.what()));
  }
}

} // namespace pipec
