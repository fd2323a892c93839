//===- Tokens.h - Kinds of tokens -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Expr.h"

#include <iterator>
#include <optional>

// Must come last, because ANTLR's headers undefine EOF.
#include "PipeLexer.h"

namespace pipec {

/// The tokens of the operators between two operands, in the order of
/// `ast::BinaryOp`.
inline constexpr size_t binaryOperators[] = {
    grammar::PipeLexer::OROR,   grammar::PipeLexer::ANDAND,
    grammar::PipeLexer::EQEQ,   grammar::PipeLexer::NEQ,
    grammar::PipeLexer::LT,     grammar::PipeLexer::LE,
    grammar::PipeLexer::GT,     grammar::PipeLexer::GE,
    grammar::PipeLexer::PLUS,   grammar::PipeLexer::MINUS,
    grammar::PipeLexer::STAR,   grammar::PipeLexer::SLASH,
    grammar::PipeLexer::PERCENT};
static_assert(std::size(binaryOperators) == size_t(ast::BinaryOp::Mod) + 1);

/// The operator of a token between two operands, if the token is one.
inline std::optional<ast::BinaryOp> binaryOperator(size_t type) {
  for (size_t op = 0; op != std::size(binaryOperators); ++op)
    if (binaryOperators[op] == type)
      return ast::BinaryOp(op);
  return std::nullopt;
}

} // namespace pipec
