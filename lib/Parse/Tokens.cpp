//===- Tokens.cpp - Checks of tokens before the parser runs ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/Tokens.h"

#include "Parse/Parser.h"
#include "Support/Diagnostics/SyntaxDiags.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using pipec::grammar::PipeLexer;

namespace pipec {

std::optional<ast::BinaryOp> binaryOperator(size_t type) {
  // In the order of `BinaryOp`.
  static constexpr size_t operators[] = {
      PipeLexer::OROR,   PipeLexer::ANDAND, PipeLexer::EQEQ, PipeLexer::NEQ,
      PipeLexer::LT,     PipeLexer::LE,     PipeLexer::GT,   PipeLexer::GE,
      PipeLexer::PLUS,   PipeLexer::MINUS,  PipeLexer::STAR, PipeLexer::SLASH,
      PipeLexer::PERCENT};
  static_assert(std::size(operators) == size_t(ast::BinaryOp::Mod) + 1);
  const size_t *found = find(operators, type);
  return found == std::end(operators)
             ? std::nullopt
             : std::optional(ast::BinaryOp(found - operators));
}

//===----------------------------------------------------------------------===//
// Limits
//
// Four constructs make a tree deep: brackets, runs of prefix operators
// (`!!!x`), conditionals in the else branch of conditionals (`a ? b : c ? d :
// e`) and `else if`. All of them can be counted in the tokens:
//
//   - a bracket opens a level and its partner closes it;
//   - a prefix operator counts until the operand that ends the run;
//   - a `?` counts until the expression that contains it ends, at the next `;`,
//     `,` or brace on its level, or at the end of the level;
//   - an `else` counts until a `}` that is not followed by `else`.
//
// A long sum is not nested in the source, but its tree is as deep as it is
// long, so binary operators have a separate, higher limit.
//
//===----------------------------------------------------------------------===//

namespace {
struct Level {
  unsigned conditionals = 0;
  unsigned elses = 0;
  unsigned operators = 0;
};
} // namespace

static bool isOperator(size_t type) {
  return binaryOperator(type) || type == PipeLexer::BANG;
}

/// True if an expression cannot end at this token, so that a `-` after it is a
/// sign.
static bool awaitsOperand(size_t type) {
  return !llvm::is_contained({PipeLexer::INT, PipeLexer::DECIMAL, PipeLexer::ID,
                              PipeLexer::RPAREN, PipeLexer::RBRACK},
                             type);
}

LogicalResult checkTokenLimits(antlr4::CommonTokenStream &tokens,
                               const OffsetMap &offsets, DiagEngine &diags) {
  std::vector<Level> levels(1);
  unsigned prefixes = 0;
  unsigned chained = 0; // conditionals and elses of all open levels
  size_t previous = antlr4::Token::EOF;

  auto endExpression = [&] {
    chained -= levels.back().conditionals;
    levels.back().conditionals = 0;
    levels.back().operators = 0;
  };
  auto endElses = [&] {
    chained -= levels.back().elses;
    levels.back().elses = 0;
  };

  for (antlr4::Token *token : tokens.getTokens()) {
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL)
      continue;
    size_t type = token->getType();
    if (previous == PipeLexer::RBRACE && type != PipeLexer::ELSE)
      endElses();
    bool isPrefix = type == PipeLexer::BANG ||
                    (type == PipeLexer::MINUS && awaitsOperand(previous));
    prefixes = isPrefix                    ? prefixes + 1
               : type == PipeLexer::LPAREN ? prefixes
                                           : 0;

    switch (type) {
    case PipeLexer::LPAREN:
    case PipeLexer::LBRACK:
      levels.emplace_back();
      break;
    case PipeLexer::LBRACE:
      endExpression();
      levels.emplace_back();
      break;
    case PipeLexer::RPAREN:
    case PipeLexer::RBRACK:
    case PipeLexer::RBRACE:
      endExpression();
      endElses();
      // The parser reports unmatched closing brackets.
      if (levels.size() > 1)
        levels.pop_back();
      break;
    case PipeLexer::SEMI:
    case PipeLexer::COMMA:
      endExpression();
      break;
    case PipeLexer::QUEST:
      ++levels.back().conditionals;
      ++chained;
      break;
    case PipeLexer::ELSE:
      ++levels.back().elses;
      ++chained;
      break;
    default:
      if (isOperator(type) && ++levels.back().operators > maxOperators)
        return diags.report(offsets.loc(token->getStartIndex()),
                            diag::TooManyOperators, maxOperators);
      break;
    }
    if (levels.size() - 1 + prefixes + chained > maxNesting)
      return diags.report(offsets.loc(token->getStartIndex()),
                          diag::NestingTooDeep, maxNesting);
    previous = type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Words that begin an item
//===----------------------------------------------------------------------===//

static size_t itemWord(StringRef word) {
  return StringSwitch<size_t>(word)
      .Case("connect", PipeLexer::CONNECT)
      .Case("graph", PipeLexer::GRAPH)
      .Case("tie", PipeLexer::TIE)
      .Case("alias", PipeLexer::ALIAS)
      .Case("sections", PipeLexer::SECTIONS)
      .Case("overlap", PipeLexer::OVERLAP)
      .Default(PipeLexer::ID);
}

// An item begins after the brace that opens the body of a schedule, and within
// that body, outside inner braces, after `;` and after `}`.
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

//===----------------------------------------------------------------------===//
// Words that are steps
//===----------------------------------------------------------------------===//

void findStepWords(antlr4::CommonTokenStream &tokens) {
  std::vector<antlr4::Token *> line;
  for (antlr4::Token *token : tokens.getTokens())
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL)
      line.push_back(token);
  auto typeAt = [&](size_t i) {
    return i < line.size() ? line[i]->getType() : size_t(PipeLexer::EOF);
  };
  // True if the token before `i` may end a statement, or join steps.
  auto mayBegin = [&](size_t i) {
    size_t before = typeAt(i - 1), second = i > 1 ? typeAt(i - 2) : before;
    switch (before) {
    case PipeLexer::LBRACE:
    case PipeLexer::RBRACE:
    case PipeLexer::RBRACK:
    case PipeLexer::RPAREN:
    case PipeLexer::SEMI:
    case PipeLexer::AMP:
    case PipeLexer::F:
    case PipeLexer::B:
    case PipeLexer::I:
    case PipeLexer::W:
    case PipeLexer::STEP_WORD:
      return true;
    case PipeLexer::STAR:
      return second == PipeLexer::W;
    case PipeLexer::IDLE: // a name without brackets is its count
      return typeAt(i + 1) == PipeLexer::LBRACK;
    default: // the count of `idle`
      return second == PipeLexer::IDLE;
    }
  };
  // True unless the token after `i` continues or ends an expression.
  auto mayFollow = [&](size_t i) {
    size_t next = typeAt(i + 1);
    return !binaryOperator(next) &&
           !llvm::is_contained({PipeLexer::LPAREN, PipeLexer::RPAREN,
                                PipeLexer::RBRACK, PipeLexer::LBRACE,
                                PipeLexer::ASSIGN, PipeLexer::QUEST,
                                PipeLexer::COLON, PipeLexer::DOTDOT,
                                PipeLexer::COMMA, PipeLexer::SEMI},
                               next);
  };
  // By open brace, whether it has statements. Those of phases and patterns
  // have, and the braces in these but for the bodies of functions.
  std::vector<bool> blocks;
  bool opensPhase = false, opensFunction = false;
  for (size_t i = 0; i < line.size(); ++i) {
    switch (line[i]->getType()) {
    case PipeLexer::WARMUP:
    case PipeLexer::STEADY:
    case PipeLexer::COOLDOWN:
    case PipeLexer::PHASE:
    case PipeLexer::PATTERN:
      opensPhase = true;
      break;
    case PipeLexer::FN:
      opensFunction = true;
      break;
    case PipeLexer::LBRACE:
      blocks.push_back(!opensFunction &&
                       (opensPhase || (!blocks.empty() && blocks.back())));
      opensPhase = opensFunction = false;
      break;
    case PipeLexer::RBRACE:
      // The parser reports a `}` without a `{`.
      if (!blocks.empty())
        blocks.pop_back();
      break;
    case PipeLexer::ID:
      if (!blocks.empty() && blocks.back() && mayBegin(i) &&
          llvm::is_contained(ArrayRef(ast::letterNames).drop_front(4),
                             StringRef(line[i]->getText())) &&
          mayFollow(i))
        static_cast<antlr4::WritableToken *>(line[i])->setType(
            PipeLexer::STEP_WORD);
      break;
    }
  }
}

} // namespace pipec
