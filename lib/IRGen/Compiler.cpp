//===- Compiler.cpp - Syntax tree to flat form ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Compiler.h"

#include "AST/Walk.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

class Compiler::ScopeGuard {
public:
  ScopeGuard(Compiler &compiler, DebugScope scope)
      : compiler(compiler), saved(compiler.scope) {
    scope.parent = saved;
    compiler.scope = compiler.code.debugScopes.size();
    compiler.code.debugScopes.push_back(std::move(scope));
  }
  ~ScopeGuard() { compiler.scope = saved; }

private:
  Compiler &compiler;
  uint32_t saved;
};

Compiler::Compiler(const CheckedProgram &program, const ScheduleDecl &schedule,
                   const SourceFiles &files)
    : schedule(schedule), files(files),
      fixedVariables(program.variables.size()) {
  code.slots.resize(program.variables.size());
  for (const ParamDecl &param : schedule.params)
    fixedVariables[param.variable->id] = true;
  for (const Variable *builtin :
       {program.builtins.ranks, program.builtins.microbatches,
        program.builtins.slices, program.builtins.units})
    fixedVariables[builtin->id] = true;
  for (const Stmt *item : schedule.body.stmts)
    if (const auto *let = dyn_cast<LetStmt>(item))
      fixedVariables[let->variable->id] = !let->variable->dependence.onRank;
  // Functions that are called from outside return to instruction 0.
  emit(Op::Halt, {});
  code.fnEntries.resize(program.fns.size());
  code.fnResults.resize(program.fns.size());
  code.fnIsPure.resize(program.fns.size());
  code.patternEntries.resize(program.patterns.size());
  // Sema numbers definitions in source order, and a body only refers to earlier
  // definitions, so the entries that it needs are known.
  for (const FnDecl *fn : program.fns)
    compileFn(fn);
  for (const PatternDecl *pattern : program.patterns)
    compilePattern(pattern);
}

uint32_t Compiler::newSlot(int64_t value) {
  code.slots.push_back(value);
  return code.slots.size() - 1;
}

uint32_t Compiler::constant(int64_t value) {
  auto [it, inserted] = constants.try_emplace(value, 0);
  if (inserted)
    it->second = newSlot(value);
  return it->second;
}

uint32_t Compiler::emit(Op op, SMRange range, uint32_t a, uint32_t b,
                        uint32_t c) {
  Instruction instruction{op};
  instruction.a = a;
  instruction.b = b;
  instruction.c = c;
  code.instructions.push_back(instruction);
  code.ranges.push_back(range);
  code.locs.push_back(files.compress(range.Start));
  code.scopes.push_back(scope);
  return code.instructions.size() - 1;
}

//===----------------------------------------------------------------------===//
// Functions and patterns
//===----------------------------------------------------------------------===//

static SmallVector<const Variable *, 2> variablesOf(ArrayRef<Argument> args) {
  SmallVector<const Variable *, 2> variables;
  for (const Argument &arg : args)
    variables.push_back(arg.variable);
  return variables;
}

bool Compiler::isFixed(const Expr *expr, unsigned firstOwn) const {
  if (const auto *name = dyn_cast<NameExpr>(expr))
    return name->variable->id >= firstOwn || fixedVariables[name->variable->id];
  const auto *call = dyn_cast<CallExpr>(expr);
  bool fixed = !call || (call->fn ? code.fnIsPure[call->fn->id]
                                  : call->builtin != Builtin::Stage);
  forEachChild(*expr, [&](const Expr &child) {
    fixed = fixed && isFixed(&child, firstOwn);
  });
  return fixed;
}

/// Sema numbers the arguments and lets of a function before all later
/// variables, so all ids from its first argument on belong to the function. The
/// functions that it calls are defined, and were analysed, before it.
bool Compiler::isPure(const FnDecl *fn) const {
  if (fn->args.size() != 1)
    return false;
  unsigned firstOwn = fn->args[0].variable->id;
  return all_of(fn->lets,
                [&](const LetStmt *let) {
                  return isFixed(let->value, firstOwn);
                }) &&
         isFixed(fn->result, firstOwn);
}

void Compiler::compileFn(const FnDecl *fn) {
  code.fnIsPure[fn->id] = isPure(fn);
  ScopeGuard guard(*this, {DebugScope::Kind::Fn, 0, fn->name.range,
                           fn->name.text, variablesOf(fn->args)});
  code.fnEntries[fn->id] = here();
  for (const LetStmt *let : fn->lets)
    compile(let);
  code.fnResults[fn->id] = compile(fn->result);
  emit(Op::Return, fn->range);
}

void Compiler::compilePattern(const PatternDecl *pattern) {
  ScopeGuard guard(*this, {DebugScope::Kind::Pattern, 0, pattern->name.range,
                           pattern->name.text, variablesOf(pattern->args)});
  code.patternEntries[pattern->id] = here();
  compile(pattern->body);
  emit(Op::Return, pattern->range);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

uint32_t Compiler::compileBody(Schedule &lowered) {
  uint32_t entry = here();
  for (const Stmt *item : schedule.body.stmts) {
    if (const auto *let = dyn_cast<LetStmt>(item)) {
      // The other lets were computed before the first rank.
      if (let->variable->dependence.onRank)
        compile(let);
      continue;
    }
    const auto *phase = dyn_cast<PhaseStmt>(item);
    if (!phase)
      continue;
    ScopeGuard guard(
        *this,
        {DebugScope::Kind::Phase, 0, phase->name.range, phase->name.text, {}});
    emit(Op::Phase, phase->name.range, lowered.phaseIndex(phase->name.text));
    compile(phase->body);
    emit(Op::EndPhase, phase->name.range);
  }
  emit(Op::Halt, schedule.name.range);
  return entry;
}

void Compiler::compile(const Block &block) {
  for (const Stmt *stmt : block.stmts)
    compile(stmt);
}

void Compiler::compile(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    auto *let = cast<LetStmt>(stmt);
    emit(Op::Move, let->range, let->variable->id, compile(let->value));
    return;
  }
  case Stmt::Kind::Fn:
  case Stmt::Kind::Pattern:
    return; // compiled at their definition
  case Stmt::Kind::Repeat: {
    auto *repeat = cast<RepeatStmt>(stmt);
    uint32_t count = compile(repeat->count);
    uint32_t left = newSlot();
    ScopeGuard guard(*this,
                     {DebugScope::Kind::Loop, 0, stmt->range, "repeat", {}});
    uint32_t enter = emit(Op::RepeatEnter, repeat->count->range, left, count);
    uint32_t body = here();
    compile(repeat->body);
    emit(Op::RepeatNext, stmt->range, left, 0, body);
    patch(enter);
    return;
  }
  case Stmt::Kind::For:
    return compileLoop(cast<ForStmt>(stmt));
  case Stmt::Kind::If: {
    auto *branch = cast<IfStmt>(stmt);
    uint32_t toElse =
        emit(Op::JumpIfZero, stmt->range, 0, compile(branch->condition));
    compile(branch->then);
    if (!branch->otherwise) {
      patch(toElse);
      return;
    }
    uint32_t toEnd = emit(Op::Jump, stmt->range);
    patch(toElse);
    compile(*branch->otherwise);
    patch(toEnd);
    return;
  }
  case Stmt::Kind::Steps:
    return compileSteps(cast<StepsStmt>(stmt));
  case Stmt::Kind::Idle: {
    auto *idle = cast<IdleStmt>(stmt);
    uint32_t count = idle->count ? compile(idle->count) : noSlot;
    emit(Op::Idle, stmt->range, 0, count);
    return;
  }
  case Stmt::Kind::Use: {
    auto *use = cast<UseStmt>(stmt);
    compileArguments(use->decl->args, use->args);
    emit(Op::Call, stmt->range, 0, 0, code.patternEntries[use->decl->id]);
    return;
  }
  case Stmt::Kind::At: {
    auto *at = cast<AtStmt>(stmt);
    emit(Op::At, stmt->range, 0, compile(at->slot));
    return compile(at->body);
  }
  case Stmt::Kind::Fill:
    emit(Op::Fill, stmt->range);
    return;
  default:
    llvm_unreachable("not a statement of a rank");
  }
}

void Compiler::compileLoop(const ForStmt *loop) {
  // The bounds are computed once: the variable starts at one of them, the other
  // is kept in its own slot.
  uint32_t begin = compile(loop->begin);
  uint32_t end = compile(loop->end);
  uint32_t variable = loop->variable->id;
  uint32_t bound = newSlot();
  emit(Op::Move, loop->range, variable, loop->reverse ? end : begin);
  emit(Op::Move, loop->range, bound, loop->reverse ? begin : end);
  ScopeGuard guard(
      *this, {DebugScope::Kind::Loop, 0, loop->range, "for", {loop->variable}});
  uint32_t enter = emit(loop->reverse ? Op::ForEnterReverse : Op::ForEnter,
                        loop->range, variable, bound);
  uint32_t body = here();
  compile(loop->body);
  emit(loop->reverse ? Op::ForNextReverse : Op::ForNext, loop->range, variable,
       bound, body);
  patch(enter);
}

void Compiler::compileSteps(const StepsStmt *steps) {
  // Compute the chunks, micro-batches and slices of all members first, so that
  // the steps of an overlap are adjacent.
  auto operand = [&](const Expr *expr) {
    return expr ? compile(expr) : noSlot;
  };
  SmallVector<std::array<uint32_t, 3>, 2> operands;
  for (const ast::StepRef &step : steps->steps) {
    uint32_t chunk = operand(step.chunk), microbatch = operand(step.microbatch);
    operands.push_back({operand(step.slice), chunk, microbatch});
  }
  for (size_t i = 0; i != operands.size(); ++i) {
    const ast::StepRef &step = steps->steps[i];
    auto [slice, chunk, microbatch] = operands[i];
    if (step.all) {
      emit(Op::DrainW, step.range, 0, chunk);
      continue;
    }
    uint32_t at = emit(Op::Step, step.range, slice, chunk, microbatch);
    code.instructions[at].letter = step.letter;
    code.instructions[at].joined = i + 1 != operands.size();
  }
}

} // namespace pipec
