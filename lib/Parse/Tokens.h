//===- Tokens.h - Kinds of tokens -------------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PARSE_TOKENS_H
#define PIPEC_PARSE_TOKENS_H

// Must come last, because ANTLR's headers undefine EOF.
#include "PipeLexer.h"

namespace pipec {

/// True for an operator between two operands of an expression.
inline bool isBinaryOperator(size_t type) {
  using grammar::PipeLexer;
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
    return true;
  default:
    return false;
  }
}

} // namespace pipec

#endif // PIPEC_PARSE_TOKENS_H
