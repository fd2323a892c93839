//===- Stmt.h - Statements as written ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Expr.h"

#include <optional>

namespace pipec::ast {

struct PatternDecl;

/// The dependences of a value, apart from parameters.
struct Dependence {
  /// The value may differ from rank to rank.
  bool onRank = false;
  /// The value depends on the stages that the placement defines.
  bool onPlacement = false;
  /// The value uses `chunks` at file level. Its dependences are determined by
  /// the schedule that uses the value.
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
  /// The dependences of its value.
  Dependence dependence;
  mutable bool used = false;
};

struct Stmt {
  enum class Kind : uint8_t {
#define PIPEC_STMT(Kind, Class) Kind,
#include "AST/Nodes.def"
  };
  Stmt(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}

  Kind kind;
  /// From the first character to the last, `;` or `}` included.
  llvm::SMRange range;
};

/// The base of the class of one kind.
template <Stmt::Kind K> struct StmtOf : Stmt {
  StmtOf(llvm::SMRange range) : Stmt(K, range) {}
  static bool classof(const Stmt *s) { return s->kind == K; }
};

/// `{ ... }`; the range includes both braces.
struct Block {
  llvm::SMRange range;
  llvm::ArrayRef<Stmt *> stmts;
};

/// `let name = value;`
struct LetStmt : StmtOf<Stmt::Kind::Let> {
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
struct FnDecl : StmtOf<Stmt::Kind::Fn> {
  Name name;
  llvm::MutableArrayRef<Argument> args;
  llvm::SMRange bodyRange;
  llvm::ArrayRef<LetStmt *> lets;
  Expr *result;
  /// Set by Sema; numbered densely within a program.
  unsigned id = 0;
  Dependence dependence = {};
  mutable bool used = false;
};

/// `pattern name(a, b) { steps }`
struct PatternDecl : StmtOf<Stmt::Kind::Pattern> {
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
struct RepeatStmt : StmtOf<Stmt::Kind::Repeat> {
  Expr *count;
  Block body;
};

/// `for name in begin..end { ... }`; `reverse begin..end` iterates in
/// descending order.
struct ForStmt : StmtOf<Stmt::Kind::For> {
  Name name;
  bool reverse;
  Expr *begin;
  Expr *end;
  Block body;
  Variable *variable = nullptr; // Sema
};

/// `if condition { ... } else { ... }`. An `else if` is an else block that
/// contains one `if` and has no braces.
struct IfStmt : StmtOf<Stmt::Kind::If> {
  Expr *condition;
  Block then;
  std::optional<Block> otherwise;
  bool elseIf;
};

/// `F`, `B[c]`, `W[c, i]`, `W[c, i, k]`, `W*`, `W*[c]`.
struct StepRef {
  Letter letter;
  llvm::SMRange range;
  /// `W*`: all pending weight gradients.
  bool all = false;
  Expr *chunk = nullptr;
  Expr *microbatch = nullptr;
  Expr *slice = nullptr;
};

/// One step, or several joined by `&` in issue order.
struct StepsStmt : StmtOf<Stmt::Kind::Steps> {
  llvm::ArrayRef<StepRef> steps;
};

/// `idle`, `idle n`.
struct IdleStmt : StmtOf<Stmt::Kind::Idle> {
  Expr *count; // null: one
};

/// `drain(1)`: a pattern in use.
struct UseStmt : StmtOf<Stmt::Kind::Use> {
  Name pattern;
  llvm::ArrayRef<Expr *> args;
  const PatternDecl *decl = nullptr; // Sema
};

/// `at slot { F[c, i] }` in a timed phase.
struct AtStmt : StmtOf<Stmt::Kind::At> {
  Expr *slot;
  Block body;
};

/// `fill { W }` in a timed phase.
struct FillStmt : StmtOf<Stmt::Kind::Fill> {
  Block body;
};

} // namespace pipec::ast
