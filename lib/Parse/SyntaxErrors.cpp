//===- SyntaxErrors.cpp - Translating ANTLR errors into diagnostics -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/Tokens.h"

#include "PipeParser.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SyntaxDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

#include <set>
#include <utility>

using namespace llvm;
using pipec::grammar::PipeLexer;
using pipec::grammar::PipeParser;

namespace pipec {

namespace {

/// True for tokens that could continue a complete expression, but rarely
/// should.
bool canContinueExpression(ssize_t type) {
  return binaryOperator(type) || type == PipeLexer::QUEST ||
         type == PipeLexer::AMP || type == PipeLexer::LBRACK;
}

bool isReservedWord(const antlr4::Token *token) {
  return token->getType() >= PipeLexer::SCHEDULE &&
         token->getType() <= PipeLexer::W;
}

/// The number of errors after which the parser gives up, including errors that
/// are not shown because another one is on the same line. Recovery costs more
/// than parsing a thousand correct tokens.
constexpr size_t maxSyntaxErrors = 1000;

/// The maximum length of a token in messages; a token may be a name of a
/// megabyte.
constexpr size_t shown = 40;

/// The words that begin a statement of a phase.
constexpr StringRef statementWords[] = {
    "let", "fn", "pattern", "repeat", "for", "if", "idle", "at", "fill"};
/// Those of them that are not allowed outside a phase.
constexpr StringRef phaseWords[] = {"repeat", "for", "if",
                                    "idle",   "at",  "fill"};
constexpr StringRef letters[] = {"F", "B", "I", "W"};

/// True if `type` begins a statement of a phase but was found outside one.
bool needsPhase(size_t type) {
  return llvm::is_contained({PipeLexer::REPEAT, PipeLexer::FOR, PipeLexer::IF,
                             PipeLexer::IDLE, PipeLexer::AT, PipeLexer::FILL,
                             PipeLexer::F, PipeLexer::B, PipeLexer::I,
                             PipeLexer::W},
                            type);
}

/// The usual name of the parameter of a role, empty for other tokens.
StringRef parameterName(size_t type) {
  return type == PipeLexer::RANKS          ? "p"
         : type == PipeLexer::MICROBATCHES ? "m"
         : type == PipeLexer::CHUNKS       ? "v"
                                           : "";
}

std::string inBackticks(StringRef text) {
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
                   size_t, size_t, const std::string &,
                   std::exception_ptr) override {
    // The lexer turns unknown characters into tokens and reports no errors.
    if (!offending)
      return;
    if (diags.atErrorLimit() || ++errors > maxSyntaxErrors)
      throw antlr4::ParseCancellationException();
    auto *parser = static_cast<antlr4::Parser *>(recognizer);
    report(parser, offending);
  }

private:
  bool isFirstOnLine(antlr4::Token *token) {
    return lines.insert(token->getLine()).second;
  }

  void report(antlr4::Parser *parser, antlr4::Token *token) {
    SMRange range = offsets.range(token);
    antlr4::Token *before = parser->getTokenStream()->LT(-1);
    // In the grammar, every name may begin the use of a pattern.
    if (parser->getContext()->getRuleIndex() == PipeParser::RuleUse && before &&
        before->getType() == PipeLexer::ID) {
      if (!isFirstOnLine(before))
        return;
      std::string word = before->getText();
      InFlightDiagnostic error =
          diags.report(offsets.range(before), diag::NotAStatement,
                       StringRef(word).take_front(shown));
      bool isLetter = word.size() == 1;
      StringRef meant =
          suggest(error, before,
                  isLetter ? ArrayRef(letters) : ArrayRef(statementWords));
      if (isLetter && meant.empty() && !std::exchange(listedLetters, true))
        error.note(offsets.range(before), diag::NoteChoices,
                   join(ArrayRef(letters), "`, `"));
      return;
    }
    if (token->getType() == PipeLexer::UNKNOWN) {
      if (!isFirstOnLine(token))
        return;
      if (token->getText() == "\"")
        (void)diags.report(range, diag::UnterminatedString);
      else
        (void)diags.report(range, diag::UnknownCharacter, token->getText());
      return;
    }

    std::set<ssize_t> expected;
    for (ssize_t type : parser->getExpectedTokens().toList())
      expected.insert(type);
    // Any operator may follow an expression, but it is rarely what is missing.
    std::set<ssize_t> meant = expected;
    std::erase_if(meant, canContinueExpression);
    if (meant.empty())
      meant = expected;

    // A token that is missing at the end of a line is reported there, not at
    // the start of the next line. If it can be a `;`, assume that it is.
    bool atLineEnd = before && before->getLine() != token->getLine();
    if (atLineEnd && meant.count(PipeLexer::SEMI))
      meant = {PipeLexer::SEMI};
    bool oneMissing = meant.size() == 1;
    if (!isFirstOnLine(oneMissing && atLineEnd ? before : token))
      return;

    if (meant.size() == 1 && *meant.begin() == PipeLexer::ID &&
        isReservedWord(token)) {
      (void)diags.report(range, diag::ReservedWord, token->getText());
      return;
    }
    // The left side of the relation of an expectation is not an expression.
    bool relation = expected.count(PipeLexer::EQEQ) &&
                    expected.count(PipeLexer::LE) &&
                    !expected.count(PipeLexer::PLUS);
    std::string what =
        relation ? "a relation" : describeExpected(parser, meant);
    if (what.empty()) {
      std::vector<std::string> words;
      for (ssize_t type : meant)
        words.push_back(wordOf(parser, type));
      std::vector<StringRef> candidates(words.begin(), words.end());
      llvm::erase_if(candidates, [](StringRef word) { return word.empty(); });
      bool outsidePhase = meant.count(PipeLexer::WARMUP);
      if (outsidePhase)
        llvm::append_range(candidates, phaseWords);
      InFlightDiagnostic error =
          diags.report(range, diag::SyntaxUnexpected, describe(token));
      StringRef word = suggest(error, token, candidates);
      if (outsidePhase && (needsPhase(token->getType()) ||
                           llvm::is_contained(phaseWords, word)))
        error.note(range, diag::NoteStepsInPhase);
      noteOpened(error, parser, token);
      return;
    }
    if (oneMissing && atLineEnd)
      range = {offsets.loc(before->getStopIndex() + 1),
               offsets.loc(before->getStopIndex() + 1)};
    InFlightDiagnostic error =
        diags.report(range, diag::SyntaxExpected, what, describe(token));
    if (StringRef missing(what); oneMissing && missing.consume_front("`"))
      error.fixIt(before && !isAlpha(missing[0])
                      ? offsets.loc(before->getStopIndex() + 1)
                      : range.Start,
                  missing.drop_back().str() + (isAlpha(missing[0]) ? " " : ""));
    if (meant.count(PipeLexer::F) && token->getText().size() == 1)
      suggest(error, token, letters);
    if (StringRef name = before ? parameterName(before->getType()) : "";
        !name.empty() && token->getType() == PipeLexer::ASSIGN)
      error.note(offsets.range(before), diag::NoteParameterName,
                 before->getText(), name);
    noteOpened(error, parser, token);
  }

  /// Adds a note that points at the open brace whose `}` is probably missing:
  /// one after which a line is not indented as the lines of its block are.
  void noteOpened(InFlightDiagnostic &error, antlr4::Parser *parser,
                  antlr4::Token *token) {
    struct OpenBrace {
      antlr4::Token *brace;
      /// The indentation of its statement; nothing if its block is not
      /// indented.
      std::optional<size_t> indentation;
    };
    std::vector<OpenBrace> open;
    std::optional<OpenBrace> unclosed;
    size_t line = 0, indentation = 0;
    antlr4::Token *before = nullptr;
    auto *tokens =
        static_cast<antlr4::CommonTokenStream *>(parser->getTokenStream());
    for (antlr4::Token *each : tokens->getTokens()) {
      bool isEnd = each->getType() == antlr4::Token::EOF;
      bool begins = !before || endsStatement(before) || closes(each);
      if (each->getLine() != line && (begins || each == token) && !isEnd) {
        size_t column = each->getCharPositionInLine();
        if (!open.empty() && open.back().indentation &&
            column < *open.back().indentation + !closes(each)) {
          if (before == open.back().brace)
            open.back().indentation.reset();
          else if (!unclosed)
            unclosed = open.back();
        }
        if (begins)
          indentation = column;
      }
      if (each == token)
        break;
      line = each->getLine();
      before = each;
      if (each->getType() == PipeLexer::LBRACE)
        open.push_back({each, indentation});
      else if (closes(each) && !open.empty())
        open.pop_back();
    }
    if (token->getType() == antlr4::Token::EOF && !unclosed && !open.empty())
      unclosed = open.back();
    if (unclosed)
      error.note(offsets.range(unclosed->brace), diag::NoteOpenedHere);
  }

  static bool endsStatement(antlr4::Token *token) {
    return token->getType() == PipeLexer::LBRACE || closes(token) ||
           token->getType() == PipeLexer::SEMI;
  }

  static bool closes(antlr4::Token *token) {
    return token->getType() == PipeLexer::RBRACE;
  }

  /// Suggests the candidate that is most similar to a word, and returns
  /// it; empty if there is none.
  StringRef suggest(InFlightDiagnostic &error, antlr4::Token *token,
                    ArrayRef<StringRef> candidates) {
    if (token->getType() != PipeLexer::ID && !isReservedWord(token))
      return "";
    std::string word = token->getText();
    StringRef meant = nearestWord(word, candidates);
    if (meant == word) // a word that is not misspelled
      return "";
    if (!meant.empty())
      error.suggest(offsets.range(token), meant);
    return meant;
  }

  /// The reserved word of a token type; empty for other tokens, and for the
  /// letters of steps, which are similar to every short word.
  static std::string wordOf(antlr4::Parser *parser, ssize_t type) {
    // Returns a string or a view, depending on the version of ANTLR.
    std::string literal(parser->getVocabulary().getLiteralName(type));
    StringRef name = StringRef(literal).trim('\'');
    return name.size() > 1 && isAlpha(name[0]) ? name.str() : "";
  }

  /// Describes the expected tokens: `a name`, "`;` or `,`", "an expression".
  /// Empty if the list would be too long to be useful.
  static std::string describeExpected(antlr4::Parser *parser,
                                      std::set<ssize_t> types) {
    std::vector<std::string> words;
    if (types.count(PipeLexer::INT) && types.count(PipeLexer::LPAREN) &&
        types.count(PipeLexer::ID)) {
      // Also covers the end of a list of arguments.
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
        words.push_back("`" +
                        StringRef(parser->getVocabulary().getDisplayName(type))
                            .trim('\'')
                            .str() +
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
  size_t errors = 0;
  std::set<size_t> lines;
  /// True once a message has listed the letters of steps.
  bool listedLetters = false;
};

class SyntaxErrorStrategy final : public antlr4::DefaultErrorStrategy {
public:
  /// If a rule is abandoned after its `{`, also skips its `}`.
  void recover(antlr4::Parser *parser, std::exception_ptr error) override {
    DefaultErrorStrategy::recover(parser, error);
    antlr4::ParserRuleContext *rule = parser->getContext();
    if (parser->getTokenStream()->LA(1) == PipeLexer::RBRACE &&
        rule->getTokens(PipeLexer::LBRACE).size() >
            rule->getTokens(PipeLexer::RBRACE).size())
      parser->consume();
  }

protected:
  /// Recovers as if a missing token were present if it is a separator or a
  /// closing bracket; otherwise (for example a `(` after a name) the rule is
  /// abandoned.
  bool singleTokenInsertion(antlr4::Parser *parser) override {
    antlr4::misc::IntervalSet expected = getExpectedTokens(parser);
    for (size_t type : {PipeLexer::SEMI, PipeLexer::RPAREN, PipeLexer::RBRACK,
                        PipeLexer::RBRACE, PipeLexer::COMMA})
      if (expected.contains(type))
        return DefaultErrorStrategy::singleTokenInsertion(parser);
    return false;
  }

  /// Skips an extra token, unless it opens or closes a block.
  antlr4::Token *singleTokenDeletion(antlr4::Parser *parser) override {
    size_t type = parser->getTokenStream()->LA(1);
    if (type == PipeLexer::LBRACE || type == PipeLexer::RBRACE)
      return nullptr;
    return DefaultErrorStrategy::singleTokenDeletion(parser);
  }

  /// Skips tokens up to one of `set`; blocks are skipped as a whole.
  void consumeUntil(antlr4::Parser *parser,
                    const antlr4::misc::IntervalSet &set) override {
    antlr4::TokenStream *tokens = parser->getTokenStream();
    size_t depth = 0;
    for (size_t type = tokens->LA(1); type != antlr4::Token::EOF;
         type = tokens->LA(1)) {
      if (depth == 0 && set.contains(type))
        return;
      if (type == PipeLexer::LBRACE)
        ++depth;
      else if (type == PipeLexer::RBRACE && depth != 0)
        --depth;
      parser->consume();
    }
  }
};

} // namespace

std::shared_ptr<antlr4::ANTLRErrorStrategy> makeSyntaxErrorStrategy() {
  return std::make_shared<SyntaxErrorStrategy>();
}

std::unique_ptr<antlr4::ANTLRErrorListener>
makeSyntaxErrorListener(const OffsetMap &offsets, DiagEngine &diags) {
  return std::make_unique<SyntaxErrorListener>(offsets, diags);
}

} // namespace pipec
