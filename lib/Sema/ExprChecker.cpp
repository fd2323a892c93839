//===- ExprChecker.cpp - Names and expressions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Checker.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Rational.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

/// In the order of `Builtin`, after `None`.
static constexpr StringRef builtinFunctionNames[] = {"min", "max", "abs",
                                                     "ceil_div", "stage"};
static Builtin builtinFunction(StringRef name) {
  const StringRef *found = find(builtinFunctionNames, name);
  return found == std::end(builtinFunctionNames)
             ? Builtin::None
             : Builtin(found - builtinFunctionNames + 1);
}

static constexpr StringRef builtinValueNames[] = {"rank", "ranks", "stages",
                                                  "chunks", "microbatches"};

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Variable *Checker::makeVariable(Name name, Variable::Kind kind,
                                Dependence dependence) {
  auto *variable = context.make<Variable>(
      Variable{name.text, name.range, kind, unsigned(program.variables.size()),
               dependence});
  program.variables.push_back(variable);
  return variable;
}

void Checker::define(Symbol symbol) {
  Builtin builtin = builtinFunction(symbol.name);
  // `stage` without a call may be the name of a value.
  if (builtin != Builtin::None &&
      !(builtin == Builtin::Stage && symbol.variable)) {
    (void)diags.report(symbol.range, diag::BuiltinRedefined, symbol.name);
    return;
  }
  if (const Symbol *previous = scope.define(symbol)) {
    // Of the builtins, only `slices` and `units` are not reserved.
    if (!previous->range.isValid()) {
      (void)diags.report(symbol.range, diag::BuiltinRedefined, symbol.name);
      return;
    }
    (void)diags.report(symbol.range, diag::Redefinition, symbol.name)
        .note(previous->range, diag::NotePrevious);
    return;
  }
  if (inMain)
    warnable.push_back(symbol);
}

void Checker::defineVariable(Variable *variable) {
  define({variable->name, variable->range, variable, nullptr, nullptr});
}

template <typename Decl, typename Unknown, typename Other>
const Decl *Checker::lookUp(Name name, const Decl *Symbol::*member,
                            ArrayRef<StringRef> builtins, Unknown unknownKind,
                            Other otherKind) {
  const Symbol *symbol = scope.find(name.text);
  if (symbol && symbol->*member) {
    (symbol->*member)->used = true;
    return symbol->*member;
  }
  if (symbol) {
    (void)diags.report(name.range, otherKind, name.text, symbol->what())
        .note(symbol->range, diag::NoteDefinedHere, name.text);
  } else if (unknown.insert(name.text.str()).second) {
    InFlightDiagnostic error = diags.report(name.range, unknownKind, name.text);
    SmallVector<StringRef> candidates(builtins);
    for (const Symbol &other : scope.all())
      if (other.*member)
        candidates.push_back(other.name);
    if (StringRef meant = nearestWord(name.text, candidates); !meant.empty())
      error.suggest(name.range, meant);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Dependence Checker::resolved(Dependence dependence) const {
  return dependence.onChunks ? dependence |= chunksBuiltin->dependence
                             : dependence;
}

void Checker::checkRankFree(Dependence dependence, SMRange range) {
  StringRef text = sourceText(range);
  if (dependence.onRank)
    (void)diags.report(range, diag::DependsOnRank, text);
  else if (dependence.onPlacement && !placementKnown)
    (void)diags.report(range, diag::BeforePlacement, text);
}

Dependence Checker::checkRankFree(Expr *expr, Numbers numbers) {
  Dependence dependence = check(expr, numbers);
  checkRankFree(dependence, expr->range);
  return dependence;
}

Dependence Checker::check(Expr *expr, Numbers numbers) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    return check(cast<NumberExpr>(expr), numbers);
  case Expr::Kind::Name:
    return check(cast<NameExpr>(expr));
  case Expr::Kind::CostOf:
    checkWord(cast<CostOfExpr>(expr));
    [[fallthrough]];
  case Expr::Kind::Letter:
    if (numbers == Numbers::Integers)
      (void)diags.report(expr->range, diag::CostHere);
    return {};
  case Expr::Kind::Unary:
    return check(cast<UnaryExpr>(expr)->operand, numbers);
  case Expr::Kind::Binary: {
    auto *binary = cast<BinaryExpr>(expr);
    Dependence dependence = check(binary->lhs, numbers);
    return dependence |= check(binary->rhs, numbers);
  }
  case Expr::Kind::Conditional: {
    auto *conditional = cast<ConditionalExpr>(expr);
    Dependence dependence = check(conditional->condition, numbers);
    dependence |= check(conditional->whenTrue, numbers);
    return dependence |= check(conditional->whenFalse, numbers);
  }
  case Expr::Kind::Call:
    return check(cast<CallExpr>(expr), numbers);
  }
  llvm_unreachable("all kinds are checked");
}

Dependence Checker::check(NumberExpr *expr, Numbers numbers) {
  if (expr->isDecimal() && numbers == Numbers::Integers)
    (void)diags.report(expr->range, diag::DecimalHere, expr->text);
  else if (!Rational::parse(expr->text))
    (void)diags.report(expr->range, diag::NumberTooLarge,
                       expr->text.take_front(40));
  return {};
}

Dependence Checker::check(NameExpr *expr) {
  expr->variable =
      lookUp({expr->name, expr->range}, &Symbol::variable, builtinValueNames,
             diag::UnknownName, diag::NotAValue);
  return expr->variable ? resolved(expr->variable->dependence) : Dependence();
}

void Checker::checkArgumentCount(Name callee, size_t given, size_t wanted,
                                 SMRange declared) {
  if (given == wanted)
    return;
  InFlightDiagnostic error =
      diags.report(callee.range, diag::WrongArgumentCount, callee.text,
                   countText(given, "argument"), std::to_string(wanted));
  if (declared.isValid())
    error.note(declared, diag::NoteDefinedHere, callee.text);
}

Dependence Checker::check(CallExpr *expr, Numbers numbers) {
  Dependence dependence;
  expr->builtin = builtinFunction(expr->callee.text);
  // Arguments of functions of the program, and chunks, are integers.
  bool plain =
      expr->builtin != Builtin::None && expr->builtin != Builtin::Stage;
  for (Expr *arg : expr->args)
    dependence |= check(arg, plain ? numbers : Numbers::Integers);

  switch (expr->builtin) {
  case Builtin::Min:
  case Builtin::Max:
    if (expr->args.size() < 2)
      (void)diags.report(expr->callee.range, diag::WrongArgumentCount,
                         expr->callee.text,
                         countText(expr->args.size(), "argument"), "2 or more");
    return dependence;
  case Builtin::Abs:
  case Builtin::CeilDiv:
    checkArgumentCount(expr->callee, expr->args.size(),
                       expr->builtin == Builtin::Abs ? 1 : 2, {});
    return dependence;
  case Builtin::Stage:
    checkArgumentCount(expr->callee, expr->args.size(), 1, {});
    return dependence |= Dependence{.onRank = true, .onPlacement = true};
  case Builtin::None:
    break;
  }

  expr->fn = lookUp(expr->callee, &Symbol::fn, builtinFunctionNames,
                    diag::UnknownFunction, diag::NotAFunction);
  if (!expr->fn)
    return dependence;
  checkArgumentCount(expr->callee, expr->args.size(), expr->fn->args.size(),
                     expr->fn->name.range);
  return dependence |= resolved(expr->fn->dependence);
}

void Checker::check(UseStmt *use, Form &form) {
  for (Expr *arg : use->args)
    check(arg, Numbers::Integers);
  use->decl = lookUp(use->pattern, &Symbol::pattern, {}, diag::UnknownPattern,
                     diag::NotAPattern);
  if (!use->decl)
    return;
  checkArgumentCount(use->pattern, use->args.size(), use->decl->args.size(),
                     use->decl->name.range);
  if (use->decl->timed)
    noteTimed(form, use);
  else if (use->decl->plain)
    notePlain(form, use);
}

} // namespace pipec
