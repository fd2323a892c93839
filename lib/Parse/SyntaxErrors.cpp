//===- SyntaxErrors.cpp - ANTLR's complaints in our words -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse/SyntaxErrors.h"

#include <set>
#include <string>

// Last: ANTLR's headers undefine EOF.
#include "PipeLexer.h"
#include "antlr4-runtime.h"

using namespace llvm;
using pipec::grammar::PipeLexer;

namespace pipec {

namespace {

/// Sets of tokens that stand for one thing of the language.
bool isBinaryOperator(ssize_t type) {
  switch (type) {
  case PipeLexer::OROR:
  case PipeLexer::ANDAND:
  case PipeLexer::EQEQ:
  case PipeLexer::NEQ:
  case PipeLexer::LT:
  case PipeLexer::LE:
  case PipeLexer::GT:
  case PipeLexer::GE:
  case PipeLexer::PLUS:
  case PipeLexer::MINUS:
  case PipeLexer::STAR:
  case PipeLexer::SLASH:
  case PipeLexer::PERCENT:
  case PipeLexer::QUEST:
  case PipeLexer::AMP:
  case PipeLexer::LBRACK:
    return true;
  default:
    return false;
  }
}

bool isReservedWord(const antlr4::Token *token) {
  return token->getType() >= PipeLexer::SCHEDULE &&
         token->getType() <= PipeLexer::W;
}

std::string inBackticks(StringRef text) {
  // A name of a megabyte is one token.
  constexpr size_t shown = 40;
  std::string quoted = "`" + text.take_front(shown).str();
  if (text.size() > shown)
    quoted += "...";
  return quoted + "`";
}

std::string describe(antlr4::Token *token) {
  if (token->getType() == antlr4::Token::EOF)
    return "end of file";
  return inBackticks(token->getText());
}

class SyntaxErrorListener final : public antlr4::BaseErrorListener {
public:
  SyntaxErrorListener(const OffsetMap &offsets, DiagEngine &diags)
      : offsets(offsets), diags(diags) {}

  void syntaxError(antlr4::Recognizer *recognizer, antlr4::Token *offending,
                   size_t line, size_t, const std::string &,
                   std::exception_ptr) override {
    // The lexer knows no errors: what it does not know is a token.
    if (!offending || !lines.insert(line).second)
      return;
    auto *parser = static_cast<antlr4::Parser *>(recognizer);
    report(parser, offending);
  }

private:
  SMRange rangeOf(antlr4::Token *token) const {
    if (token->getType() == antlr4::Token::EOF)
      return {offsets.loc(token->getStartIndex()),
              offsets.loc(token->getStartIndex())};
    return {offsets.loc(token->getStartIndex()),
            offsets.loc(token->getStopIndex() + 1)};
  }

  void report(antlr4::Parser *parser, antlr4::Token *token) {
    SMRange range = rangeOf(token);
    if (token->getType() == PipeLexer::UNKNOWN) {
      if (token->getText() == "\"")
        (void)diags.report(range, diag::UnterminatedString);
      else
        (void)diags.report(range, diag::UnknownCharacter, token->getText());
      return;
    }

    std::set<ssize_t> expected;
    for (ssize_t type : parser->getExpectedTokens().toList())
      expected.insert(type);
    // Behind an expression every operator could follow; nobody means that.
    std::set<ssize_t> meant = expected;
    std::erase_if(meant, isBinaryOperator);
    if (meant.empty())
      meant = expected;

    if (meant.size() == 1 && *meant.begin() == PipeLexer::ID &&
        isReservedWord(token)) {
      (void)diags.report(range, diag::ReservedWord, token->getText());
      return;
    }
    std::string what = describeExpected(parser, meant);
    if (what.empty()) {
      (void)diags.report(range, diag::SyntaxUnexpected, describe(token));
      return;
    }
    // What is missing at the end of a line is shown there, not where the next
    // line begins.
    antlr4::Token *before = parser->getTokenStream()->LT(-1);
    bool oneMissing = meant.size() == 1;
    if (oneMissing && before && before->getLine() != token->getLine())
      range = {offsets.loc(before->getStopIndex() + 1),
               offsets.loc(before->getStopIndex() + 1)};
    InFlightDiagnostic error = diags.report(range, diag::SyntaxExpected, what,
                                            describe(token));
    if (oneMissing && StringRef(what).starts_with("`"))
      error.fixIt(StringRef(what).drop_front().drop_back());
  }

  /// `a name`, "`;` or `,`", "an expression"; empty when it would be a list
  /// that helps nobody.
  static std::string describeExpected(antlr4::Parser *parser,
                                      std::set<ssize_t> types) {
    std::vector<std::string> words;
    if (types.count(PipeLexer::INT) && types.count(PipeLexer::LPAREN) &&
        types.count(PipeLexer::ID)) {
      // A list of arguments may also end here.
      return "an expression";
    }
    if (types.count(PipeLexer::F) && types.count(PipeLexer::W) &&
        !types.count(PipeLexer::RBRACE))
      return "a step";
    for (ssize_t type : types) {
      if (type == PipeLexer::ID)
        words.push_back("a name");
      else if (type == PipeLexer::STRING)
        words.push_back("a string");
      else if (type == PipeLexer::INT)
        words.push_back("a number");
      else if (type == ssize_t(antlr4::Token::EOF))
        words.push_back("end of file");
      else
        words.push_back(
            "`" +
            StringRef(parser->getVocabulary().getDisplayName(type)).trim('\'').str() +
            "`");
    }
    if (words.empty() || words.size() > 3)
      return "";
    std::string text = words[0];
    for (size_t i = 1; i != words.size(); ++i)
      text += (i + 1 == words.size() ? " or " : ", ") + words[i];
    return text;
  }

  const OffsetMap &offsets;
  DiagEngine &diags;
  std::set<size_t> lines;
};

} // namespace

std::unique_ptr<antlr4::ANTLRErrorListener>
makeSyntaxErrorListener(const OffsetMap &offsets, DiagEngine &diags) {
  return std::make_unique<SyntaxErrorListener>(offsets, diags);
}

} // namespace pipec
