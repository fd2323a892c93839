//===- ItemWords.cpp - Words that begin an item of a schedule -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An item begins after the brace that opens the body of a schedule, and within
// that body, outside inner braces, after `;` and after `}`.
//
//===----------------------------------------------------------------------===//

#include "Parse/ItemWords.h"

#include "llvm/ADT/StringSwitch.h"

// Must come last, because ANTLR's headers undefine EOF.
#include "PipeLexer.h"
#include "antlr4-runtime.h"

using namespace llvm;
using pipec::grammar::PipeLexer;

namespace pipec {

static size_t itemWord(StringRef word) {
  return StringSwitch<size_t>(word)
      .Case("connect", PipeLexer::CONNECT)
      .Case("graph", PipeLexer::GRAPH)
      .Case("tie", PipeLexer::TIE)
      .Case("alias", PipeLexer::ALIAS)
      .Default(PipeLexer::ID);
}

void findItemWords(antlr4::CommonTokenStream &tokens) {
  size_t depth = 0;
  bool inSchedule = false;
  bool atItem = false;
  for (antlr4::Token *token : tokens.getTokens()) {
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL)
      continue;
    size_t type = token->getType();
    if (type == PipeLexer::ID && atItem)
      static_cast<antlr4::WritableToken *>(token)->setType(
          itemWord(token->getText()));
    if (type == PipeLexer::SCHEDULE && depth == 0)
      inSchedule = true;
    if (type == PipeLexer::LBRACE)
      ++depth;
    // The parser reports a `}` without a `{`.
    if (type == PipeLexer::RBRACE && depth != 0)
      inSchedule &= --depth != 0;
    atItem = inSchedule && depth == 1 &&
             (type == PipeLexer::LBRACE || type == PipeLexer::RBRACE ||
              type == PipeLexer::SEMI);
  }
}

} // namespace pipec
