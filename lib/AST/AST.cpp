//===- AST.cpp - Helpers for nodes of the tree ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AST/Decl.h"

using namespace llvm;

namespace pipec::ast {

StringRef letterName(Letter letter) {
  constexpr StringLiteral names[] = {"F", "B", "I", "W"};
  return names[unsigned(letter)];
}

StringRef spelling(BinaryOp op) {
  constexpr StringLiteral names[] = {"||", "&&", "==", "!=", "<", "<=", ">",
                                     ">=", "+",  "-",  "*",  "/", "%"};
  return names[unsigned(op)];
}

unsigned precedence(BinaryOp op) {
  constexpr unsigned levels[] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6};
  return levels[unsigned(op)];
}

} // namespace pipec::ast
