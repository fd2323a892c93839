//===- Sema.h - Names, arity, ranges ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// A schedule with bound names, whose parts are identified.
struct CheckedSchedule {
  ast::ScheduleDecl *decl = nullptr;
  const ast::ParamDecl *ranks = nullptr;
  const ast::ParamDecl *microbatches = nullptr;
  const ast::ParamDecl *chunks = nullptr; // may be null
  const ast::ParamDecl *slices = nullptr; // may be null
  const ast::PlacementStmt *placement = nullptr;
  const ast::EdgesStmt *graph = nullptr;             // may be null
  const ast::ForwardOnlyStmt *forwardOnly = nullptr; // may be null
  const ast::SectionsStmt *sections = nullptr;       // may be null
  const ast::OverlapStmt *overlap = nullptr;         // may be null
  const ast::SettingsStmt *cost = nullptr;           // may be null
  const ast::SettingsStmt *memory = nullptr;         // may be null
  const ast::SettingsStmt *fsdp = nullptr;           // may be null
  std::vector<const ast::ExpectStmt *> expects;
};

/// The builtin variables, each one of the program's variables.
struct BuiltinVariables {
  const ast::Variable *rank = nullptr;
  const ast::Variable *ranks = nullptr;
  const ast::Variable *stages = nullptr;
  const ast::Variable *chunks = nullptr;
  const ast::Variable *microbatches = nullptr;
  /// Names in schedules with the role `slices`.
  const ast::Variable *slices = nullptr;
  const ast::Variable *units = nullptr;
};

/// A program in which all names are bound.
struct CheckedProgram {
  std::vector<CheckedSchedule> schedules;
  BuiltinVariables builtins;
  /// Every variable, function and pattern, indexed by its id.
  std::vector<const ast::Variable *> variables;
  std::vector<const ast::FnDecl *> fns;
  std::vector<const ast::PatternDecl *> patterns;
};

/// Binds the names of `main` and of the modules it imports, which must be
/// loaded, and checks everything that does not depend on values. Annotates the
/// tree in place. Reports all errors, and fails if there are any.
llvm::FailureOr<CheckedProgram>
checkProgram(ast::Module &main, ast::Context &context, DiagEngine &diags);

} // namespace pipec
