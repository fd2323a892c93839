//===- Expr.h - Expressions as written --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_AST_EXPR_H
#define PIPEC_AST_EXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"

namespace pipec::ast {

struct Variable;
struct FnDecl;

/// A word of the source and its position.
struct Name {
  llvm::StringRef text;
  llvm::SMRange range;
};

/// The letters of steps in the language.
enum class Letter : uint8_t { F, B, I, W };
inline llvm::StringRef letterName(Letter letter) {
  constexpr llvm::StringLiteral names[] = {"F", "B", "I", "W"};
  return names[unsigned(letter)];
}

/// The base of all expressions. Nodes live in the arena of a `Context`.
struct Expr {
  enum class Kind : uint8_t {
    Number,
    Name,
    Letter,
    CostOf,
    Unary,
    Binary,
    Conditional,
    Call,
  };
  Expr(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}

  Kind kind;
  llvm::SMRange range;
};

/// `12` or `2.5`.
struct NumberExpr : Expr {
  NumberExpr(llvm::SMRange range, llvm::StringRef text)
      : Expr(Kind::Number, range), text(text) {}
  bool isDecimal() const { return text.contains('.'); }
  static bool classof(const Expr *e) { return e->kind == Kind::Number; }

  llvm::StringRef text;
};

/// A variable, or one of the builtins `rank ranks stages chunks microbatches`.
struct NameExpr : Expr {
  NameExpr(llvm::SMRange range, llvm::StringRef name)
      : Expr(Kind::Name, range), name(name) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }

  llvm::StringRef name;
  /// Set by Sema.
  const Variable *variable = nullptr;
};

/// `F` in a cost or an expectation: the cost of that step.
struct LetterExpr : Expr {
  LetterExpr(llvm::SMRange range, Letter letter)
      : Expr(Kind::Letter, range), letter(letter) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Letter; }

  Letter letter;
};

/// `cost(F & B)`: the cost of an overlap; or, without members, one of the
/// words of a cost block: `cost(p2p)`.
struct CostOfExpr : Expr {
  CostOfExpr(llvm::SMRange range, llvm::ArrayRef<Letter> members)
      : Expr(Kind::CostOf, range), members(members) {}
  CostOfExpr(llvm::SMRange range, Name word)
      : Expr(Kind::CostOf, range), word(word) {}
  static bool classof(const Expr *e) { return e->kind == Kind::CostOf; }

  llvm::ArrayRef<Letter> members;
  Name word;
};

enum class UnaryOp : uint8_t { Neg, Not };

struct UnaryExpr : Expr {
  UnaryExpr(llvm::SMRange range, UnaryOp op, Expr *operand)
      : Expr(Kind::Unary, range), op(op), operand(operand) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }

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

struct BinaryExpr : Expr {
  BinaryExpr(llvm::SMRange range, BinaryOp op, llvm::SMRange opRange, Expr *lhs,
             Expr *rhs)
      : Expr(Kind::Binary, range), op(op), opRange(opRange), lhs(lhs),
        rhs(rhs) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }

  BinaryOp op;
  llvm::SMRange opRange;
  Expr *lhs;
  Expr *rhs;
};

/// `condition ? whenTrue : whenFalse`
struct ConditionalExpr : Expr {
  ConditionalExpr(llvm::SMRange range, Expr *condition, Expr *whenTrue,
                  Expr *whenFalse)
      : Expr(Kind::Conditional, range), condition(condition),
        whenTrue(whenTrue), whenFalse(whenFalse) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Conditional; }

  Expr *condition;
  Expr *whenTrue;
  Expr *whenFalse;
};

/// The built-in functions.
enum class Builtin : uint8_t { None, Min, Max, Abs, CeilDiv, Stage };

/// `chunk(k)`, `min(a, b)`, `stage(c)`.
struct CallExpr : Expr {
  CallExpr(llvm::SMRange range, Name callee, llvm::ArrayRef<Expr *> args)
      : Expr(Kind::Call, range), callee(callee), args(args) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }

  Name callee;
  llvm::ArrayRef<Expr *> args;
  /// Sema sets one of the two.
  Builtin builtin = Builtin::None;
  const FnDecl *fn = nullptr;
};

} // namespace pipec::ast

#endif // PIPEC_AST_EXPR_H
