//===- Compiler.h - Syntax tree to flat form --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "IRGen/Code.h"
#include "Sema/Sema.h"

#include <map>

namespace pipec {

/// Compiles the parts of a program that one schedule uses. The slot of a
/// variable is its id.
class Compiler {
public:
  Compiler(const CheckedProgram &program, const ast::ScheduleDecl &schedule,
           const SourceFiles &files);

  /// Compiles one expression to code that runs separately.
  Segment compileSegment(const ast::Expr *expr);
  /// Compiles the code of a rank: the lets of the schedule that depend on the
  /// rank, and the phases, with their numbers in `lowered`.
  uint32_t compileBody(Schedule &lowered);

  Code take() { return std::move(code); }

private:
  uint32_t newSlot(int64_t value = 0);
  uint32_t constant(int64_t value);
  uint32_t emit(Op op, llvm::SMRange range, uint32_t a = 0, uint32_t b = 0,
                uint32_t c = 0);
  uint32_t here() const { return code.instructions.size(); }
  void patch(uint32_t at) { code.instructions[at].c = here(); }

  /// Compiles an expression and returns the slot of its value.
  uint32_t compile(const ast::Expr *expr);
  uint32_t compile(const ast::BinaryExpr *expr);
  uint32_t compileLogical(const ast::BinaryExpr *expr);
  uint32_t compile(const ast::ConditionalExpr *expr);
  uint32_t compile(const ast::CallExpr *expr);
  void compileArguments(llvm::ArrayRef<ast::Argument> params,
                        llvm::ArrayRef<ast::Expr *> args);

  void compileFn(const ast::FnDecl *fn);
  /// True if the variables that `expr` reads do not change during the run,
  /// except those with ids from `firstOwn` on, which belong to the same
  /// function.
  bool isFixed(const ast::Expr *expr, unsigned firstOwn) const;
  bool isPure(const ast::FnDecl *fn) const;
  void compilePattern(const ast::PatternDecl *pattern);
  void compile(const ast::Block &block);
  void compile(const ast::Stmt *stmt);
  void compileSteps(const ast::StepsStmt *steps);
  void compileLoop(const ast::ForStmt *loop);

  /// Opens a debug scope for the lifetime of the object.
  class ScopeGuard;

  const ast::ScheduleDecl &schedule;
  const SourceFiles &files;
  Code code;
  /// Indexed by variable id: true if the variable is set once, before the first
  /// rank.
  std::vector<bool> fixedVariables;
  std::map<int64_t, uint32_t> constants;
  uint32_t scope = noSlot;
};

} // namespace pipec
