//===- Checker.h - The implementation of Sema -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the program in source order, implemented in ExprChecker.cpp,
// StmtChecker.cpp, ScheduleChecker.cpp and SettingsChecker.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/Figure.h"
#include "Sema/Sema.h"
#include "Support/Diagnostics/SemaDiags.h"

#include "llvm/ADT/StringMap.h"

#include <set>
#include <string>

namespace pipec {

/// The bit of a role in `Dependence::onRoles`.
constexpr uint8_t roleBit(ast::Role role) { return 1u << unsigned(role); }

/// The meaning of a name: a variable, a function or a pattern.
struct Symbol {
  llvm::StringRef name;
  llvm::SMRange range;
  const ast::Variable *variable = nullptr;
  const ast::FnDecl *fn = nullptr;
  const ast::PatternDecl *pattern = nullptr;
  /// The statement that only defines this name; invalid if there is none.
  llvm::SMRange statement = {};

  /// `value`, `function` or `pattern`.
  llvm::StringRef what() const {
    return variable ? "value" : fn ? "function" : "pattern";
  }
};

/// The names that are visible at one point of a program. Names cannot be
/// shadowed, so one table suffices for all blocks; leaving a block removes its
/// names.
class Scope {
public:
  /// The visible symbol with that name, or null.
  const Symbol *find(llvm::StringRef name) const {
    auto it = index.find(name);
    return it == index.end() ? nullptr : &symbols[it->second];
  }
  /// Adds a symbol. If a visible symbol has the name already, adds nothing and
  /// returns that symbol.
  const Symbol *define(Symbol symbol) {
    auto [it, inserted] = index.try_emplace(symbol.name, symbols.size());
    if (!inserted)
      return &symbols[it->second];
    symbols.push_back(symbol);
    return nullptr;
  }

  /// Returns a mark for `leave`, which restores the current state.
  size_t enter() const { return symbols.size(); }
  void leave(size_t mark) {
    for (; symbols.size() > mark; symbols.pop_back())
      index.erase(symbols.back().name);
  }

  /// The visible symbols.
  llvm::ArrayRef<Symbol> all() const { return symbols; }

private:
  std::vector<Symbol> symbols;
  llvm::StringMap<size_t> index;
};

class Checker {
public:
  Checker(ast::Context &context, DiagEngine &diags)
      : context(context), diags(diags) {}

  void check(ast::Module &main);
  CheckedProgram take() { return std::move(program); }

private:
  // Names (ExprChecker.cpp)
  ast::Variable *makeVariable(ast::Name name, ast::Variable::Kind kind,
                              ast::Dependence dependence);
  /// Adds a symbol, or reports that its name is already defined.
  void define(Symbol symbol);
  void defineVariable(ast::Variable *variable);
  /// The declaration that `name` refers to, which becomes used. Reports a name
  /// that is unknown, once, or that refers to something else; the suggestion
  /// may be one of `builtins`.
  template <typename Decl, typename Unknown, typename Other>
  const Decl *lookUp(ast::Name name, const Decl *Symbol::*member,
                     llvm::ArrayRef<llvm::StringRef> builtins,
                     Unknown unknownKind, Other otherKind);

  // Expressions: each function returns the dependences of the value.
  enum class Numbers { Integers, Rationals };
  ast::Dependence check(ast::Expr *expr, Numbers numbers);
  ast::Dependence check(ast::NumberExpr *expr, Numbers numbers);
  ast::Dependence check(ast::NameExpr *expr);
  ast::Dependence check(ast::CallExpr *expr, Numbers numbers);
  /// The dependence in the context of the current schedule.
  ast::Dependence resolved(ast::Dependence dependence) const;
  /// Checks an integer that may be missing.
  void checkInteger(ast::Expr *expr) {
    if (expr)
      check(expr, Numbers::Integers);
  }
  ast::Dependence checkRankFree(ast::Expr *expr, Numbers numbers);
  void checkRankFree(ast::Dependence dependence, llvm::SMRange range);

  // Statements
  /// Which kinds of statements a phase or pattern has so far.
  struct Form {
    const ast::Stmt *timed = nullptr;
    const ast::Stmt *plain = nullptr;
  };
  void check(const ast::Block &block, Form &form);
  void check(ast::Stmt *stmt, Form &form);
  void check(ast::LetStmt *let);
  void check(ast::FnDecl *fn);
  void check(ast::PatternDecl *pattern);
  void check(ast::ForStmt *loop, Form &form);
  void check(const ast::StepsStmt *steps);
  void check(ast::UseStmt *use, Form &form);
  void check(const ast::AtStmt *at);
  void check(const ast::FillStmt *fill);
  /// Records that `stmt` is timed (plain); reports a mixture once.
  void noteTimed(Form &form, const ast::Stmt *stmt);
  void notePlain(Form &form, const ast::Stmt *stmt);
  void defineArguments(llvm::MutableArrayRef<ast::Argument> args);
  void checkArgumentCount(ast::Name callee, size_t given, size_t wanted,
                          llvm::SMRange declared);

  // Schedules
  void check(ast::ScheduleDecl *schedule);
  void checkParams(ast::ScheduleDecl *schedule, CheckedSchedule &checked);
  void checkLabels(ast::ScheduleDecl *schedule);
  void checkDefault(ast::Expr *value, uint8_t later);
  void check(ast::RequireStmt *require);
  void check(ast::PlacementStmt *placement);
  void check(const ast::AliasStmt *stmt);
  void checkAfterPlacement(const ast::Stmt *stmt, llvm::StringRef word);
  void check(ast::EdgesStmt *stmt);
  void check(ast::SectionsStmt *stmt);
  void check(const ast::OverlapStmt *stmt);
  void checkSectionCost(ast::SettingEntry &entry);
  void check(const ast::SettingsStmt *stmt);
  void check(const ast::ExpectStmt *expect);
  void checkEntries(llvm::ArrayRef<ast::SettingEntry> entries,
                    llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> names,
                    Numbers numbers);
  void checkShare(ast::SettingEntry &entry);
  void checkSettings(llvm::MutableArrayRef<ast::SettingEntry> entries,
                     FigureBlock block, FigureScope scope = FigureScope::Whole);
  void checkWord(const ast::CostOfExpr *cost);
  /// Notes a statement in `place`, or reports that it is not the first.
  template <typename T>
  void setOnce(const T *&place, std::type_identity_t<const T *> stmt,
               llvm::StringRef what) {
    if (place)
      (void)diags.report(stmt->range, diag::SecondStatement, what)
          .note(place->range, diag::NotePrevious);
    else
      place = stmt;
  }
  void defineImports(const ast::Module &module);
  void checkAliases(const ast::Module &main);
  void reportMissingRole(const ast::ScheduleDecl &schedule,
                         llvm::StringRef role);
  void checkModule(ast::Module &module);
  void warnUnused();

  ast::Context &context;
  DiagEngine &diags;
  CheckedProgram program;
  Scope scope;
  /// Modules whose definitions have been checked.
  std::set<const ast::Module *> checkedModules;
  /// Unknown names that have been reported, each once.
  std::set<std::string> unknown;
  /// The current schedule; null at file level.
  CheckedSchedule *current = nullptr;
  bool placementKnown = false;
  /// The aliases of the schedules so far.
  llvm::StringMap<llvm::SMRange> aliases;
  /// Definitions of the main module that may be unused, in order.
  std::vector<Symbol> warnable;
  /// The first of these are defined outside of schedules.
  size_t numTopLevel = 0;
  bool inMain = false;
  /// Builtins whose dependence depends on the schedule.
  ast::Variable *chunksBuiltin = nullptr;
  ast::Variable *slicesBuiltin = nullptr;
  ast::Variable *unitsBuiltin = nullptr;
};

} // namespace pipec
