//===- Compiler.h - Tree to flat form ---------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IRGEN_COMPILER_H
#define PIPEC_IRGEN_COMPILER_H

#include "IRGen/Code.h"
#include "Sema/Sema.h"

#include <map>

namespace pipec {

/// Compiles what one schedule needs of a program. The slot of a variable is its
/// id.
class Compiler {
public:
  Compiler(const CheckedProgram &program, const ast::ScheduleDecl &schedule,
           const SourceFiles &files);

  /// Code for one expression; runs on its own.
  Segment compileSegment(const ast::Expr *expr);
  /// Code for what a rank does: the lets of the schedule that depend on the
  /// rank, and the phases. `phaseNumber` names each phase.
  uint32_t compileBody(llvm::ArrayRef<unsigned> phaseNumbers);

  Code take() { return std::move(code); }

private:
  uint32_t newSlot(int64_t value = 0);
  uint32_t constant(int64_t value);
  uint32_t emit(Op op, llvm::SMRange range, uint32_t a = 0, uint32_t b = 0,
                uint32_t c = 0);
  uint32_t here() const { return code.instructions.size(); }
  void patch(uint32_t at) { code.instructions[at].c = here(); }

  /// Compiles a value and returns the slot that holds it.
  uint32_t compile(const ast::Expr *expr);
  uint32_t compile(const ast::BinaryExpr *expr);
  uint32_t compileLogical(const ast::BinaryExpr *expr);
  uint32_t compile(const ast::ConditionalExpr *expr);
  uint32_t compile(const ast::CallExpr *expr);
  void compileArguments(llvm::ArrayRef<ast::Argument> params,
                        llvm::ArrayRef<ast::Expr *> args);

  void compileFn(const ast::FnDecl *fn);
  /// True when nothing that `expr` reads changes during the run, apart from the
  /// variables with ids from `firstOwn`: those of the function it belongs to.
  bool isFixed(const ast::Expr *expr, unsigned firstOwn) const;
  bool isPure(const ast::FnDecl *fn) const;
  void compilePattern(const ast::PatternDecl *pattern);
  void compile(const ast::Block &block);
  void compile(const ast::Stmt *stmt);
  void compileSteps(const ast::StepsStmt *steps);
  void compileLoop(const ast::ForStmt *loop);

  /// Enters a debug scope for the life of the object.
  class ScopeGuard;

  const ast::ScheduleDecl &schedule;
  const SourceFiles &files;
  Code code;
  /// By variable id: set once, before the first rank.
  std::vector<bool> fixedVariables;
  std::map<int64_t, uint32_t> constants;
  uint32_t scope = noSlot;
};

} // namespace pipec

#endif // PIPEC_IRGEN_COMPILER_H
