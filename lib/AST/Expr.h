//===- Expr.h - Expressions as written --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"

#include <string>

namespace pipec::ast {

struct Variable;
struct FnDecl;

/// A word of the source and its position.
struct Name {
  llvm::StringRef text;
  llvm::SMRange range;
};

/// The source text of a range.
inline llvm::StringRef sourceText(llvm::SMRange range) {
  return {range.Start.getPointer(),
          size_t(range.End.getPointer() - range.Start.getPointer())};
}

/// The letters of steps in the language, and the words of those without one.
enum class Letter : uint8_t {
  F,
  B,
  I,
  W,
  R,
  Update,
  Offload,
  WaitOffload,
  Reload
};
inline constexpr llvm::StringLiteral letterNames[] = {
    "F", "B", "I", "W", "R", "UPDATE", "OFFLOAD", "WAIT_OFFLOAD", "RELOAD"};
inline llvm::StringRef letterName(Letter letter) {
  return letterNames[unsigned(letter)];
}
/// `F & B`, or the word if there are no letters.
inline std::string leftSide(llvm::ArrayRef<Letter> letters, const Name &word) {
  std::string text = letters.empty() ? word.text.str() : "";
  for (Letter letter : letters)
    text += (text.empty() ? "" : " & ") + letterName(letter).str();
  return text;
}

/// The base of all expressions. Nodes live in the arena of a `Context`.
struct Expr {
  enum class Kind : uint8_t {
#define PIPEC_EXPR(Kind, Class) Kind,
#include "AST/Nodes.def"
  };
  Expr(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}

  Kind kind;
  llvm::SMRange range;
};

/// The base of the class of one kind.
template <Expr::Kind K> struct ExprOf : Expr {
  ExprOf(llvm::SMRange range) : Expr(K, range) {}
  static bool classof(const Expr *e) { return e->kind == K; }
};

/// `12` or `2.5`.
struct NumberExpr : ExprOf<Expr::Kind::Number> {
  bool isDecimal() const { return text.contains('.'); }

  llvm::StringRef text;
};

/// A variable, or one of the builtins `rank ranks stages chunks microbatches`.
struct NameExpr : ExprOf<Expr::Kind::Name> {
  llvm::StringRef name;
  /// Set by Sema.
  const Variable *variable = nullptr;
};

/// `F` in a cost or an expectation: the cost of that step.
struct LetterExpr : ExprOf<Expr::Kind::Letter> {
  Letter letter;
};

/// `cost(F & B)`: the cost of an overlap; or, without members, one of the
/// words of a cost block: `cost(p2p)`.
struct CostOfExpr : ExprOf<Expr::Kind::CostOf> {
  llvm::ArrayRef<Letter> members;
  Name word = {};
};

enum class UnaryOp : uint8_t { Neg, Not };

struct UnaryExpr : ExprOf<Expr::Kind::Unary> {
  UnaryOp op;
  Expr *operand;
};

/// The binary operators, lowest precedence first.
enum class BinaryOp : uint8_t {
  Or,
  And,
  EQ,
  NE,
  LT,
  LE,
  GT,
  GE,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
};
/// `||`, `+`, ...
inline llvm::StringRef spelling(BinaryOp op) {
  constexpr llvm::StringLiteral names[] = {
      "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
  return names[unsigned(op)];
}
/// 1 for `||` up to 6 for `*`; a higher number binds tighter.
inline unsigned precedence(BinaryOp op) {
  constexpr unsigned levels[] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6};
  return levels[unsigned(op)];
}

struct BinaryExpr : ExprOf<Expr::Kind::Binary> {
  BinaryOp op;
  llvm::SMRange opRange;
  Expr *lhs;
  Expr *rhs;
};

/// `condition ? whenTrue : whenFalse`
struct ConditionalExpr : ExprOf<Expr::Kind::Conditional> {
  Expr *condition;
  Expr *whenTrue;
  Expr *whenFalse;
};

/// The built-in functions.
enum class Builtin : uint8_t { None, Min, Max, Abs, CeilDiv, Stage };

/// `chunk(k)`, `min(a, b)`, `stage(c)`.
struct CallExpr : ExprOf<Expr::Kind::Call> {
  Name callee;
  llvm::ArrayRef<Expr *> args;
  /// Sema sets one of the two.
  Builtin builtin = Builtin::None;
  const FnDecl *fn = nullptr;
};

} // namespace pipec::ast
