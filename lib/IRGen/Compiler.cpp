//===- Compiler.cpp - Syntax tree to flat form ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IRGen/Compiler.h"

#include "Support/Rational.h"

#include "llvm/ADT/STLExtras.h"

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
       {program.builtins.ranks, program.builtins.microbatches})
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
// Expressions
//===----------------------------------------------------------------------===//

Segment Compiler::compileSegment(const Expr *expr) {
  uint32_t entry = here();
  uint32_t result = compile(expr);
  emit(Op::Halt, expr->range);
  return {entry, result};
}

uint32_t Compiler::compile(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    // Sema has checked that the number is an integer that fits.
    return constant(Rational::parse(cast<NumberExpr>(expr)->text)->numerator());
  case Expr::Kind::Name:
    return cast<NameExpr>(expr)->variable->id;
  case Expr::Kind::Unary: {
    auto *unary = cast<UnaryExpr>(expr);
    uint32_t operand = compile(unary->operand);
    uint32_t result = newSlot();
    emit(unary->op == UnaryOp::Neg ? Op::Neg : Op::Not, expr->range, result,
         operand);
    return result;
  }
  case Expr::Kind::Binary:
    return compile(cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional:
    return compile(cast<ConditionalExpr>(expr));
  case Expr::Kind::Call:
    return compile(cast<CallExpr>(expr));
  case Expr::Kind::Letter:
  case Expr::Kind::CostOf:
    break;
  }
  llvm_unreachable("costs are not integers");
}

uint32_t Compiler::compile(const BinaryExpr *expr) {
  if (expr->op == BinaryOp::Or || expr->op == BinaryOp::And)
    return compileLogical(expr);
  uint32_t lhs = compile(expr->lhs);
  uint32_t rhs = compile(expr->rhs);
  uint32_t result = newSlot();
  switch (expr->op) {
  case BinaryOp::EQ:
    emit(Op::EQ, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::NE:
    emit(Op::NE, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::LT:
    emit(Op::LT, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::LE:
    emit(Op::LE, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::GT:
    emit(Op::LT, expr->range, result, rhs, lhs);
    break;
  case BinaryOp::GE:
    emit(Op::LE, expr->range, result, rhs, lhs);
    break;
  case BinaryOp::Add:
    emit(Op::Add, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::Sub:
    emit(Op::Sub, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::Mul:
    emit(Op::Mul, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::Div:
    emit(Op::Div, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::Mod:
    emit(Op::Mod, expr->range, result, lhs, rhs);
    break;
  case BinaryOp::Or:
  case BinaryOp::And:
    llvm_unreachable("handled above");
  }
  return result;
}

/// `a && b` is decided by a if it is 0 (`||`: if it is not 0).
uint32_t Compiler::compileLogical(const BinaryExpr *expr) {
  uint32_t result = newSlot();
  emit(Op::Bool, expr->lhs->range, result, compile(expr->lhs));
  uint32_t skip =
      emit(expr->op == BinaryOp::And ? Op::JumpIfZero : Op::JumpIfNotZero,
           expr->range, 0, result);
  emit(Op::Bool, expr->rhs->range, result, compile(expr->rhs));
  patch(skip);
  return result;
}

uint32_t Compiler::compile(const ConditionalExpr *expr) {
  uint32_t condition = compile(expr->condition);
  uint32_t result = newSlot();
  uint32_t toFalse = emit(Op::JumpIfZero, expr->range, 0, condition);
  emit(Op::Move, expr->range, result, compile(expr->whenTrue));
  uint32_t toEnd = emit(Op::Jump, expr->range);
  patch(toFalse);
  emit(Op::Move, expr->range, result, compile(expr->whenFalse));
  patch(toEnd);
  return result;
}

/// Computes all arguments before it assigns the first, since one of them may
/// call the same function.
void Compiler::compileArguments(ArrayRef<Argument> params,
                                ArrayRef<Expr *> args) {
  SmallVector<uint32_t, 4> values;
  for (const Expr *arg : args)
    values.push_back(compile(arg));
  for (size_t i = 0; i != params.size(); ++i)
    emit(Op::Move, args[i]->range, params[i].variable->id, values[i]);
}

uint32_t Compiler::compile(const CallExpr *expr) {
  uint32_t result = newSlot();
  switch (expr->builtin) {
  case Builtin::Min:
  case Builtin::Max: {
    Op op = expr->builtin == Builtin::Min ? Op::Min : Op::Max;
    uint32_t best = compile(expr->args[0]);
    for (const Expr *arg : expr->args.drop_front()) {
      uint32_t next = compile(arg);
      emit(op, expr->range, result, best, next);
      best = result;
    }
    return result;
  }
  case Builtin::Abs:
    emit(Op::Abs, expr->range, result, compile(expr->args[0]));
    return result;
  case Builtin::CeilDiv: {
    uint32_t dividend = compile(expr->args[0]);
    uint32_t divisor = compile(expr->args[1]);
    emit(Op::CeilDiv, expr->range, result, dividend, divisor);
    return result;
  }
  case Builtin::Stage:
    emit(Op::Stage, expr->range, result, compile(expr->args[0]));
    return result;
  case Builtin::None:
    break;
  }
  unsigned fn = expr->fn->id;
  if (code.fnIsPure[fn]) {
    uint32_t argument = compile(expr->args[0]);
    emit(Op::Recall, expr->range, result, argument, fn);
    emit(Op::Move, expr->range, expr->fn->args[0].variable->id, argument);
    emit(Op::Call, expr->range, 0, 0, code.fnEntries[fn]);
    emit(Op::Remember, expr->range, result, argument, fn);
    return result;
  }
  compileArguments(expr->fn->args, expr->args);
  emit(Op::Call, expr->range, 0, 0, code.fnEntries[fn]);
  emit(Op::Move, expr->range, result, code.fnResults[fn]);
  return result;
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
  switch (expr->kind) {
  case Expr::Kind::Name: {
    unsigned id = cast<NameExpr>(expr)->variable->id;
    return id >= firstOwn || fixedVariables[id];
  }
  case Expr::Kind::Unary:
    return isFixed(cast<UnaryExpr>(expr)->operand, firstOwn);
  case Expr::Kind::Binary: {
    auto *binary = cast<BinaryExpr>(expr);
    return isFixed(binary->lhs, firstOwn) && isFixed(binary->rhs, firstOwn);
  }
  case Expr::Kind::Conditional: {
    auto *conditional = cast<ConditionalExpr>(expr);
    return isFixed(conditional->condition, firstOwn) &&
           isFixed(conditional->whenTrue, firstOwn) &&
           isFixed(conditional->whenFalse, firstOwn);
  }
  case Expr::Kind::Call: {
    auto *call = cast<CallExpr>(expr);
    return (call->fn ? code.fnIsPure[call->fn->id]
                     : call->builtin != Builtin::Stage) &&
           all_of(call->args,
                  [&](const Expr *arg) { return isFixed(arg, firstOwn); });
  }
  default:
    return true;
  }
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
  uint32_t saved = scope;
  scope = noSlot;
  {
    ScopeGuard guard(*this, {DebugScope::Kind::Fn, 0, fn->name.range,
                             fn->name.text, variablesOf(fn->args)});
    code.fnEntries[fn->id] = here();
    for (const LetStmt *let : fn->lets)
      compile(let);
    code.fnResults[fn->id] = compile(fn->result);
    emit(Op::Return, fn->range);
  }
  scope = saved;
}

void Compiler::compilePattern(const PatternDecl *pattern) {
  uint32_t saved = scope;
  scope = noSlot;
  {
    ScopeGuard guard(*this, {DebugScope::Kind::Pattern, 0, pattern->name.range,
                             pattern->name.text, variablesOf(pattern->args)});
    code.patternEntries[pattern->id] = here();
    compile(pattern->body);
    emit(Op::Return, pattern->range);
  }
  scope = saved;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

uint32_t Compiler::compileBody(ArrayRef<unsigned> phaseNumbers) {
  uint32_t entry = here();
  size_t nextPhase = 0;
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
    emit(Op::Phase, phase->name.range, phaseNumbers[nextPhase++]);
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
  // Compute the chunks and micro-batches of all members first, so that the
  // steps of an overlap are adjacent.
  SmallVector<std::pair<uint32_t, uint32_t>, 2> operands;
  for (const StepRef &step : steps->steps) {
    uint32_t chunk = step.chunk ? compile(step.chunk) : noSlot;
    uint32_t microbatch = step.microbatch ? compile(step.microbatch) : noSlot;
    operands.push_back({chunk, microbatch});
  }
  for (size_t i = 0; i != operands.size(); ++i) {
    const StepRef &step = steps->steps[i];
    if (step.all) {
      emit(Op::DrainW, step.range, 0, operands[i].first);
      continue;
    }
    uint32_t at =
        emit(Op::Step, step.range, 0, operands[i].first, operands[i].second);
    code.instructions[at].letter = step.letter;
    code.instructions[at].joined = i + 1 != operands.size();
  }
}

} // namespace pipec
