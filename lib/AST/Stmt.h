//===- Stmt.h - Statements as written ---------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_AST_STMT_H
#define PIPEC_AST_STMT_H

#include "AST/Expr.h"

#include <optional>

namespace pipec::ast {

struct PatternDecl;

/// What a value depends on, apart from parameters.
struct Dependence {
  /// The value may differ from rank to rank.
  bool onRank = false;
  /// The value depends on the stages that the placement defines.
  bool onPlacement = false;
  /// The value uses `chunks` at file level, where its dependences are not yet
  /// known; they are those of the schedule that uses the value.
  bool onChunks = false;
  /// The roles that the value depends on, independent of the names of the
  /// parameters; one bit per `Role`.
  uint8_t onRoles = 0;

  Dependence &operator|=(Dependence other) {
    onRank |= other.onRank;
    onPlacement |= other.onPlacement;
    onChunks |= other.onChunks;
    onRoles |= other.onRoles;
    return *this;
  }
};

/// A name that holds a value: a parameter, `let`, loop variable, parameter of a
/// function or pattern, or builtin. Created by Sema.
struct Variable {
  enum class Kind : uint8_t { Param, Let, Loop, Argument, Builtin };

  llvm::StringRef name;
  llvm::SMRange range;
  Kind kind;
  /// Numbered densely within a program: the index of its value.
  unsigned id;
  /// What its value may depend on.
  Dependence dependence;
  mutable bool used = false;
};

struct Stmt {
  enum class Kind : uint8_t {
    Let,
    Fn,
    Pattern,
    Repeat,
    For,
    If,
    Steps,
    Idle,
    Use,
    At,
    Fill,
    // Only at schedule level:
    Require,
    Placement,
    Connect,
    Graph,
    Tie,
    Alias,
    ForwardOnly,
    Cost,
    Memory,
    Fsdp,
    Expect,
    Phase,
  };
  Stmt(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}

  Kind kind;
  /// From the first character to the last, `;` or `}` included.
  llvm::SMRange range;
};

/// `{ ... }`; the range includes both braces.
struct Block {
  llvm::SMRange range;
  llvm::ArrayRef<Stmt *> stmts;
};

/// `let name = value;`
struct LetStmt : Stmt {
  LetStmt(llvm::SMRange range, Name name, Expr *value)
      : Stmt(Kind::Let, range), name(name), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Let; }

  Name name;
  Expr *value;
  Variable *variable = nullptr; // Sema
};

/// A parameter of a `fn` or `pattern`.
struct Argument {
  Name name;
  Variable *variable = nullptr; // Sema
};

/// `fn name(a, b) { let x = ...; result }`
struct FnDecl : Stmt {
  FnDecl(llvm::SMRange range, Name name, llvm::MutableArrayRef<Argument> args,
         llvm::SMRange bodyRange, llvm::ArrayRef<LetStmt *> lets, Expr *result)
      : Stmt(Kind::Fn, range), name(name), args(args), bodyRange(bodyRange),
        lets(lets), result(result) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Fn; }

  Name name;
  llvm::MutableArrayRef<Argument> args;
  llvm::SMRange bodyRange;
  llvm::ArrayRef<LetStmt *> lets;
  Expr *result;
  /// Set by Sema; numbered densely within a program.
  unsigned id = 0;
  Dependence dependence;
  mutable bool used = false;
};

/// `pattern name(a, b) { steps }`
struct PatternDecl : Stmt {
  PatternDecl(llvm::SMRange range, Name name,
              llvm::MutableArrayRef<Argument> args, Block body)
      : Stmt(Kind::Pattern, range), name(name), args(args), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Pattern; }

  Name name;
  llvm::MutableArrayRef<Argument> args;
  Block body;
  unsigned id = 0; // Sema
  mutable bool used = false;
  /// Set by Sema: the first statement that makes it timed (`at`, `fill`) and
  /// the first that makes it plain; null if there is none.
  const Stmt *timed = nullptr;
  const Stmt *plain = nullptr;
};

/// `repeat count { ... }`
struct RepeatStmt : Stmt {
  RepeatStmt(llvm::SMRange range, Expr *count, Block body)
      : Stmt(Kind::Repeat, range), count(count), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Repeat; }

  Expr *count;
  Block body;
};

/// `for name in begin..end { ... }`; `reverse begin..end` iterates in
/// descending order.
struct ForStmt : Stmt {
  ForStmt(llvm::SMRange range, Name name, bool reverse, Expr *begin, Expr *end,
          Block body)
      : Stmt(Kind::For, range), name(name), reverse(reverse), begin(begin),
        end(end), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::For; }

  Name name;
  bool reverse;
  Expr *begin;
  Expr *end;
  Block body;
  Variable *variable = nullptr; // Sema
};

/// `if condition { ... } else { ... }`. An `else if` is an else block that
/// contains one `if` and has no braces.
struct IfStmt : Stmt {
  IfStmt(llvm::SMRange range, Expr *condition, Block then,
         std::optional<Block> otherwise, bool elseIf)
      : Stmt(Kind::If, range), condition(condition), then(then),
        otherwise(otherwise), elseIf(elseIf) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::If; }

  Expr *condition;
  Block then;
  std::optional<Block> otherwise;
  bool elseIf;
};

/// `F`, `B[c]`, `W[c, i]`, `W*`, `W*[c]`.
struct StepRef {
  Letter letter;
  llvm::SMRange range;
  /// `W*`: all pending weight gradients.
  bool all = false;
  Expr *chunk = nullptr;
  Expr *microbatch = nullptr;
};

/// One step, or several joined by `&` in issue order.
struct StepsStmt : Stmt {
  StepsStmt(llvm::SMRange range, llvm::ArrayRef<StepRef> steps)
      : Stmt(Kind::Steps, range), steps(steps) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Steps; }

  llvm::ArrayRef<StepRef> steps;
};

/// `idle`, `idle n`.
struct IdleStmt : Stmt {
  IdleStmt(llvm::SMRange range, Expr *count)
      : Stmt(Kind::Idle, range), count(count) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Idle; }

  Expr *count; // null: one
};

/// `drain(1)`: a pattern in use.
struct UseStmt : Stmt {
  UseStmt(llvm::SMRange range, Name pattern, llvm::ArrayRef<Expr *> args)
      : Stmt(Kind::Use, range), pattern(pattern), args(args) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Use; }

  Name pattern;
  llvm::ArrayRef<Expr *> args;
  const PatternDecl *decl = nullptr; // Sema
};

/// `at slot { F[c, i] }` in a timed phase.
struct AtStmt : Stmt {
  AtStmt(llvm::SMRange range, Expr *slot, Block body)
      : Stmt(Kind::At, range), slot(slot), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::At; }

  Expr *slot;
  Block body;
};

/// `fill { W }` in a timed phase.
struct FillStmt : Stmt {
  FillStmt(llvm::SMRange range, Block body)
      : Stmt(Kind::Fill, range), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Fill; }

  Block body;
};

} // namespace pipec::ast

#endif // PIPEC_AST_STMT_H
