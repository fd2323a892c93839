//===- Names.cpp - What the names of a program refer to -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LanguageServer/Names.h"

using namespace llvm;

namespace pipec::lsp {

StringRef kindName(Definition::Kind kind) {
  switch (kind) {
  case Definition::Kind::Schedule:
    return "schedule";
  case Definition::Kind::Parameter:
    return "parameter";
  case Definition::Kind::Value:
    return "value";
  case Definition::Kind::Loop:
    return "loop variable";
  case Definition::Kind::Argument:
    return "argument";
  case Definition::Kind::Builtin:
    return "builtin value";
  case Definition::Kind::Function:
    return "function";
  case Definition::Kind::Pattern:
    return "pattern";
  case Definition::Kind::Phase:
    return "phase";
  }
  llvm_unreachable("all kinds are named");
}

/// One walk over the tree. Definitions come before their uses, except those of
/// imported files, which are added at the first use.
class NameCollector {
public:
  explicit NameCollector(NameTable &table) : table(table) {}

  void collect(const ast::Module &module) {
    for (const ast::Stmt *decl : module.decls)
      visit(decl);
    for (const ast::ScheduleDecl *schedule : module.schedules)
      visit(*schedule);
  }

private:
  unsigned define(const void *key, Definition definition) {
    auto [it, isNew] = known.try_emplace(key, table.all.size());
    if (isNew)
      table.all.push_back(definition);
    return it->second;
  }
  /// Adds a definition of this file, and its name as an occurrence. Without a
  /// key nothing refers to it.
  void add(const void *key, Definition::Kind kind, ast::Name name,
           SMRange statement) {
    if (name.text.empty())
      return;
    unsigned id = define(key ? key : name.text.data(),
                         {kind, name.text, name.range, statement});
    table.places.push_back({name.range, id, /*isDefinition=*/true});
  }
  void refer(SMRange range, unsigned definition) {
    table.places.push_back({range, definition});
  }
  static SMRange rangeOf(StringRef text) {
    return {SMLoc::getFromPointer(text.begin()),
            SMLoc::getFromPointer(text.end())};
  }

  void visit(const ast::NameExpr *expr) {
    const ast::Variable *variable = expr->variable;
    if (!variable)
      return;
    // The range of a name in a message includes its braces.
    SMRange range = rangeOf(expr->name);
    if (variable->kind != ast::Variable::Kind::Builtin) {
      auto it = known.find(variable);
      if (it != known.end())
        refer(range, it->second);
      return;
    }
    // A builtin has its own meaning in each schedule.
    auto [it, isNew] =
        builtins.try_emplace({schedule, variable}, table.all.size());
    if (isNew)
      table.all.push_back({Definition::Kind::Builtin, variable->name,
                           placeOfBuiltin(variable->name)});
    refer(range, it->second);
  }

  /// The name of the parameter whose role has the name of the builtin.
  SMRange placeOfBuiltin(StringRef name) const {
    if (schedule)
      for (const ast::ParamDecl &param : schedule->params)
        if (param.label.text == name)
          return param.name.range;
    return {};
  }

  void visit(ArrayRef<ast::Expr *> exprs) {
    for (const ast::Expr *expr : exprs)
      visit(expr);
  }

  void visit(const ast::Expr *expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case ast::Expr::Kind::Number:
    case ast::Expr::Kind::Letter:
    case ast::Expr::Kind::CostOf:
      return;
    case ast::Expr::Kind::Name:
      return visit(cast<ast::NameExpr>(expr));
    case ast::Expr::Kind::Unary:
      return visit(cast<ast::UnaryExpr>(expr)->operand);
    case ast::Expr::Kind::Binary:
      visit(cast<ast::BinaryExpr>(expr)->lhs);
      return visit(cast<ast::BinaryExpr>(expr)->rhs);
    case ast::Expr::Kind::Conditional: {
      const auto *conditional = cast<ast::ConditionalExpr>(expr);
      visit(conditional->condition);
      visit(conditional->whenTrue);
      return visit(conditional->whenFalse);
    }
    case ast::Expr::Kind::Call: {
      const auto *call = cast<ast::CallExpr>(expr);
      if (call->fn)
        refer(call->callee.range,
              define(call->fn, {Definition::Kind::Function, call->fn->name.text,
                                call->fn->name.range, call->fn->range}));
      return visit(call->args);
    }
    }
  }

  void visit(const ast::Block &block) {
    for (const ast::Stmt *stmt : block.stmts)
      visit(stmt);
  }

  void visit(ArrayRef<ast::Argument> args, SMRange statement) {
    for (const ast::Argument &arg : args)
      add(arg.variable, Definition::Kind::Argument, arg.name, statement);
  }

  void visit(const ast::LetStmt *let) {
    visit(let->value);
    add(let->variable, Definition::Kind::Value, let->name, let->range);
  }

  /// The range from the start of a statement to its body.
  static SMRange headOf(SMRange statement, SMRange body) {
    return {statement.Start, body.Start};
  }

  void visit(ArrayRef<ast::SettingEntry> entries) {
    for (const ast::SettingEntry &entry : entries) {
      visit(entry.values);
      visit(entry.entries);
    }
  }

  void visit(const ast::Stmt *stmt) {
    switch (stmt->kind) {
    case ast::Stmt::Kind::Let:
      return visit(cast<ast::LetStmt>(stmt));
    case ast::Stmt::Kind::Fn: {
      const auto *fn = cast<ast::FnDecl>(stmt);
      visit(fn->args, headOf(fn->range, fn->bodyRange));
      for (const ast::LetStmt *let : fn->lets)
        visit(let);
      visit(fn->result);
      return add(fn, Definition::Kind::Function, fn->name, fn->range);
    }
    case ast::Stmt::Kind::Pattern: {
      const auto *pattern = cast<ast::PatternDecl>(stmt);
      visit(pattern->args, headOf(pattern->range, pattern->body.range));
      visit(pattern->body);
      return add(pattern, Definition::Kind::Pattern, pattern->name,
                 pattern->range);
    }
    case ast::Stmt::Kind::Repeat:
      visit(cast<ast::RepeatStmt>(stmt)->count);
      return visit(cast<ast::RepeatStmt>(stmt)->body);
    case ast::Stmt::Kind::For: {
      const auto *loop = cast<ast::ForStmt>(stmt);
      visit(loop->begin);
      visit(loop->end);
      add(loop->variable, Definition::Kind::Loop, loop->name,
          headOf(loop->range, loop->body.range));
      return visit(loop->body);
    }
    case ast::Stmt::Kind::If: {
      const auto *branch = cast<ast::IfStmt>(stmt);
      visit(branch->condition);
      visit(branch->then);
      if (branch->otherwise)
        visit(*branch->otherwise);
      return;
    }
    case ast::Stmt::Kind::Steps:
      for (const ast::StepRef &step : cast<ast::StepsStmt>(stmt)->steps) {
        table.written.push_back({step.range, step.letter});
        visit(step.chunk);
        visit(step.microbatch);
      }
      return;
    case ast::Stmt::Kind::Idle:
      return visit(cast<ast::IdleStmt>(stmt)->count);
    case ast::Stmt::Kind::Use: {
      const auto *use = cast<ast::UseStmt>(stmt);
      visit(use->args);
      if (const ast::PatternDecl *decl = use->decl)
        refer(use->pattern.range,
              define(decl, {Definition::Kind::Pattern, decl->name.text,
                            decl->name.range, decl->range}));
      return;
    }
    case ast::Stmt::Kind::At:
      visit(cast<ast::AtStmt>(stmt)->slot);
      return visit(cast<ast::AtStmt>(stmt)->body);
    case ast::Stmt::Kind::Fill:
      return visit(cast<ast::FillStmt>(stmt)->body);
    case ast::Stmt::Kind::Require: {
      const auto *require = cast<ast::RequireStmt>(stmt);
      visit(require->condition);
      for (const ast::RequireStmt::Piece &piece : require->pieces)
        visit(static_cast<const ast::Expr *>(piece.name));
      return;
    }
    case ast::Stmt::Kind::Placement: {
      const auto *placement = cast<ast::PlacementStmt>(stmt);
      visit(placement->argument);
      visit(placement->stages);
      if (placement->stages)
        add(placement->stageVariable, Definition::Kind::Loop,
            placement->stageName, placement->range);
      return visit(placement->rank);
    }
    case ast::Stmt::Kind::Connect:
    case ast::Stmt::Kind::Graph:
      for (const ast::EdgeEntry &edge : cast<ast::EdgesStmt>(stmt)->edges) {
        visit(edge.begin);
        visit(edge.end);
        if (edge.isLoop())
          add(edge.loopVariable, Definition::Kind::Loop, edge.loopName,
              edge.range);
        visit(edge.from);
        visit(edge.to);
      }
      return;
    case ast::Stmt::Kind::Tie:
      return visit(cast<ast::TieStmt>(stmt)->stages);
    case ast::Stmt::Kind::Alias:
    case ast::Stmt::Kind::ForwardOnly:
      return;
    case ast::Stmt::Kind::Cost:
    case ast::Stmt::Kind::Memory:
    case ast::Stmt::Kind::Fsdp:
      return visit(cast<ast::SettingsStmt>(stmt)->entries);
    case ast::Stmt::Kind::Expect:
      visit(cast<ast::ExpectStmt>(stmt)->rank);
      visit(cast<ast::ExpectStmt>(stmt)->value);
      return visit(cast<ast::ExpectStmt>(stmt)->condition);
    case ast::Stmt::Kind::Phase: {
      const auto *phase = cast<ast::PhaseStmt>(stmt);
      if (phase->named)
        add(phase, Definition::Kind::Phase, phase->name, phase->range);
      return visit(phase->body);
    }
    }
  }

  void visit(const ast::ScheduleDecl &decl) {
    schedule = &decl;
    add(&decl, Definition::Kind::Schedule, decl.name,
        headOf(decl.range, decl.body.range));
    for (const ast::ParamDecl &param : decl.params) {
      visit(param.defaultValue);
      SMRange statement = param.name.range;
      if (!param.label.text.empty())
        statement.Start = param.label.range.Start;
      if (param.defaultValue)
        statement.End = param.defaultValue->range.End;
      add(param.variable, Definition::Kind::Parameter, param.name, statement);
    }
    visit(decl.body);
    schedule = nullptr;
  }

  NameTable &table;
  DenseMap<const void *, unsigned> known;
  DenseMap<std::pair<const void *, const void *>, unsigned> builtins;
  const ast::ScheduleDecl *schedule = nullptr;
};

NameTable::NameTable(const ast::Module &module) {
  NameCollector(*this).collect(module);
}

static bool touches(SMRange range, SMLoc loc) {
  return range.Start.getPointer() <= loc.getPointer() &&
         loc.getPointer() <= range.End.getPointer();
}

const Occurrence *NameTable::at(SMLoc loc) const {
  for (const Occurrence &place : places)
    if (touches(place.range, loc))
      return &place;
  return nullptr;
}

const WrittenStep *NameTable::stepAt(SMLoc loc) const {
  for (const WrittenStep &step : written)
    if (touches(step.range, loc))
      return &step;
  return nullptr;
}

} // namespace pipec::lsp
