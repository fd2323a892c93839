//===- Sema.cpp - Names, arity, ranges ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Sema.h"

#include "Sema/Checker.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

/// Makes the definitions of the files that `module` imports visible under their
/// names. A second import of the same file has no effect.
void Checker::defineImports(const Module &module) {
  std::set<const Module *> seen;
  for (const ImportDecl &import : module.imports) {
    if (!import.module || !seen.insert(import.module).second)
      continue;
    for (Stmt *decl : import.module->decls) {
      Name name = isa<FnDecl>(decl) ? cast<FnDecl>(decl)->name
                                    : cast<PatternDecl>(decl)->name;
      define({name.text, name.range, nullptr, dyn_cast<FnDecl>(decl),
              dyn_cast<PatternDecl>(decl)});
    }
  }
}

/// Checks the definitions of one file in a separate scope, which contains the
/// builtins, imported definitions and the definitions of the file. Imported
/// files are checked first.
void Checker::checkModule(Module &module) {
  if (!checkedModules.insert(&module).second)
    return;
  for (ImportDecl &import : module.imports)
    if (import.module)
      checkModule(*import.module);
  size_t mark = scope.enter();
  defineImports(module);
  // At file level, the placement comes from the caller.
  placementKnown = true;
  Form form;
  chunksBuiltin->dependence = {.onChunks = true};
  for (Stmt *decl : module.decls)
    check(decl, form);
  scope.leave(mark);
}

void Checker::check(Module &main) {
  auto builtin = [&](StringRef name, Dependence dependence) {
    Variable *variable =
        makeVariable({name, {}}, Variable::Kind::Builtin, dependence);
    scope.define({name, {}, variable, nullptr, nullptr});
    return variable;
  };
  program.builtins.rank = builtin("rank", {.onRank = true});
  program.builtins.ranks = builtin("ranks", {.onRoles = roleBit(Role::Ranks)});
  program.builtins.stages = builtin("stages", {.onPlacement = true});
  program.builtins.chunks = chunksBuiltin =
      builtin("chunks", {.onPlacement = true});
  program.builtins.microbatches =
      builtin("microbatches", {.onRoles = roleBit(Role::Microbatches)});
  program.builtins.slices = slicesBuiltin =
      makeVariable({"slices", {}}, Variable::Kind::Builtin,
                   {.onRoles = roleBit(Role::Slices)});
  program.builtins.units = unitsBuiltin =
      makeVariable({"units", {}}, Variable::Kind::Builtin,
                   {.onRoles = uint8_t(roleBit(Role::Microbatches) |
                                       roleBit(Role::Slices))});

  for (ImportDecl &import : main.imports)
    if (import.module)
      checkModule(*import.module);
  defineImports(main);

  inMain = true;
  placementKnown = true;
  chunksBuiltin->dependence = {.onChunks = true};
  Form form;
  for (Stmt *decl : main.decls)
    check(decl, form);
  numTopLevel = warnable.size();
  for (ScheduleDecl *schedule : main.schedules) {
    for (const CheckedSchedule &other : program.schedules)
      if (other.decl->name.text == schedule->name.text)
        (void)diags
            .report(schedule->name.range, diag::SecondSchedule,
                    schedule->name.text)
            .note(other.decl->name.range, diag::NotePrevious);
    check(schedule);
  }
  checkAliases(main);
  // A file without schedules is meant to be imported.
  if (!main.schedules.empty() && !diags.hadErrors())
    warnUnused();
}

void Checker::warnUnused() {
  for (const auto &[number, symbol] : enumerate(warnable)) {
    // Another file may import what is outside of schedules.
    bool isTopLevel = number < numTopLevel;
    auto warn = [&, &symbol = symbol](auto kind) {
      InFlightDiagnostic warning =
          diags.report(symbol.range, kind, symbol.name);
      if (!isTopLevel)
        warning.removal(symbol.statement);
    };
    if (symbol.fn && !symbol.fn->used)
      warn(diag::UnusedFn);
    else if (symbol.pattern && !symbol.pattern->used)
      warn(diag::UnusedPattern);
    else if (symbol.variable && !symbol.variable->used) {
      if (symbol.variable->kind == Variable::Kind::Let)
        warn(diag::UnusedLet);
      else if (symbol.variable->kind == Variable::Kind::Param)
        (void)diags.report(symbol.range, diag::UnusedParameter, symbol.name);
    }
  }
}

FailureOr<CheckedProgram> checkProgram(Module &main, ast::Context &context,
                                       DiagEngine &diags) {
  unsigned errorsBefore = diags.numErrors();
  Checker checker(context, diags);
  checker.check(main);
  if (diags.numErrors() != errorsBefore)
    return failure();
  return checker.take();
}

} // namespace pipec
