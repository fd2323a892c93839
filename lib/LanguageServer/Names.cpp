//===- Names.cpp - What the names of a program refer to -------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LanguageServer/Names.h"

using namespace llvm;
using namespace pipec::ast;

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

  void collect(const Module &module) {
    for (const Stmt *decl : module.decls)
      visit(decl);
    for (const ScheduleDecl *schedule : module.schedules)
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
  void add(const void *key, Definition::Kind kind, Name name,
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

  void visit(const NameExpr *expr) {
    const Variable *variable = expr->variable;
    if (!variable)
      return;
    // The range of a name in a message includes its braces.
    SMRange range = rangeOf(expr->name);
    if (variable->kind != Variable::Kind::Builtin) {
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

  SMRange placeOfBuiltin(StringRef name) const {
    Role role = name == "ranks"          ? Role::Ranks
                : name == "microbatches" ? Role::Microbatches
                : name == "chunks"       ? Role::Chunks
                                         : Role::None;
    if (schedule && role != Role::None)
      for (const ParamDecl &param : schedule->params)
        if (param.role == role)
          return param.name.range;
    return {};
  }

  void visit(ArrayRef<Expr *> exprs) {
    for (const Expr *expr : exprs)
      visit(expr);
  }

  void visit(const Expr *expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case Expr::Kind::Number:
    case Expr::Kind::Letter:
    case Expr::Kind::CostOf:
      return;
    case Expr::Kind::Name:
      return visit(cast<NameExpr>(expr));
    case Expr::Kind::Unary:
      return visit(cast<UnaryExpr>(expr)->operand);
    case Expr::Kind::Binary:
      visit(cast<BinaryExpr>(expr)->lhs);
      return visit(cast<BinaryExpr>(expr)->rhs);
    case Expr::Kind::Conditional: {
      const auto *conditional = cast<ConditionalExpr>(expr);
      visit(conditional->condition);
      visit(conditional->whenTrue);
      return visit(conditional->whenFalse);
    }
    case Expr::Kind::Call: {
      const auto *call = cast<CallExpr>(expr);
      if (call->fn)
        refer(call->callee.range,
              define(call->fn, {Definition::Kind::Function, call->fn->name.text,
                                call->fn->name.range, call->fn->range}));
      return visit(call->args);
    }
    }
  }

  void visit(const Block &block) {
    for (const Stmt *stmt : block.stmts)
      visit(stmt);
  }

  void visit(ArrayRef<Argument> args, SMRange statement) {
    for (const Argument &arg : args)
      add(arg.variable, Definition::Kind::Argument, arg.name, statement);
  }

  void visit(const LetStmt *let) {
    visit(let->value);
    add(let->variable, Definition::Kind::Value, let->name, let->range);
  }

  /// The range from the start of a statement to its body.
  static SMRange headOf(SMRange statement, SMRange body) {
    return {statement.Start, body.Start};
  }

  void visit(ArrayRef<SettingEntry> entries) {
    for (const SettingEntry &entry : entries) {
      visit(entry.values);
      visit(entry.entries);
    }
  }

  void visit(const Stmt *stmt) {
    switch (stmt->kind) {
    case Stmt::Kind::Let:
      return visit(cast<LetStmt>(stmt));
    case Stmt::Kind::Fn: {
      const auto *fn = cast<FnDecl>(stmt);
      visit(fn->args, headOf(fn->range, fn->bodyRange));
      for (const LetStmt *let : fn->lets)
        visit(let);
      visit(fn->result);
      return add(fn, Definition::Kind::Function, fn->name, fn->range);
    }
    case Stmt::Kind::Pattern: {
      const auto *pattern = cast<PatternDecl>(stmt);
      visit(pattern->args, headOf(pattern->range, pattern->body.range));
      visit(pattern->body);
      return add(pattern, Definition::Kind::Pattern, pattern->name,
                 pattern->range);
    }
    case Stmt::Kind::Repeat:
      visit(cast<RepeatStmt>(stmt)->count);
      return visit(cast<RepeatStmt>(stmt)->body);
    case Stmt::Kind::For: {
      const auto *loop = cast<ForStmt>(stmt);
      visit(loop->begin);
      visit(loop->end);
      add(loop->variable, Definition::Kind::Loop, loop->name,
          headOf(loop->range, loop->body.range));
      return visit(loop->body);
    }
    case Stmt::Kind::If: {
      const auto *branch = cast<IfStmt>(stmt);
      visit(branch->condition);
      visit(branch->then);
      if (branch->otherwise)
        visit(*branch->otherwise);
      return;
    }
    case Stmt::Kind::Steps:
      for (const StepRef &step : cast<StepsStmt>(stmt)->steps) {
        table.written.push_back({step.range, step.letter});
        visit(step.chunk);
        visit(step.microbatch);
      }
      return;
    case Stmt::Kind::Idle:
      return visit(cast<IdleStmt>(stmt)->count);
    case Stmt::Kind::Use: {
      const auto *use = cast<UseStmt>(stmt);
      visit(use->args);
      if (const PatternDecl *decl = use->decl)
        refer(use->pattern.range,
              define(decl, {Definition::Kind::Pattern, decl->name.text,
                            decl->name.range, decl->range}));
      return;
    }
    case Stmt::Kind::At:
      visit(cast<AtStmt>(stmt)->slot);
      return visit(cast<AtStmt>(stmt)->body);
    case Stmt::Kind::Fill:
      return visit(cast<FillStmt>(stmt)->body);
    case Stmt::Kind::Require: {
      const auto *require = cast<RequireStmt>(stmt);
      visit(require->condition);
      for (const RequireStmt::Piece &piece : require->pieces)
        visit(static_cast<const Expr *>(piece.name));
      return;
    }
    case Stmt::Kind::Placement: {
      const auto *placement = cast<PlacementStmt>(stmt);
      visit(placement->argument);
      visit(placement->stages);
      if (placement->stages)
        add(placement->stageVariable, Definition::Kind::Loop,
            placement->stageName, placement->range);
      return visit(placement->rank);
    }
    case Stmt::Kind::Connect:
    case Stmt::Kind::Graph:
      for (const EdgeEntry &edge : cast<EdgesStmt>(stmt)->edges) {
        visit(edge.begin);
        visit(edge.end);
        if (edge.isLoop())
          add(edge.loopVariable, Definition::Kind::Loop, edge.loopName,
              edge.range);
        visit(edge.from);
        visit(edge.to);
      }
      return;
    case Stmt::Kind::Tie:
      return visit(cast<TieStmt>(stmt)->stages);
    case Stmt::Kind::Alias:
    case Stmt::Kind::ForwardOnly:
      return;
    case Stmt::Kind::Cost:
    case Stmt::Kind::Memory:
    case Stmt::Kind::Fsdp:
      return visit(cast<SettingsStmt>(stmt)->entries);
    case Stmt::Kind::Expect:
      visit(cast<ExpectStmt>(stmt)->value);
      return visit(cast<ExpectStmt>(stmt)->condition);
    case Stmt::Kind::Phase: {
      const auto *phase = cast<PhaseStmt>(stmt);
      if (phase->named)
        add(phase, Definition::Kind::Phase, phase->name, phase->range);
      return visit(phase->body);
    }
    }
  }

  void visit(const ScheduleDecl &decl) {
    schedule = &decl;
    add(&decl, Definition::Kind::Schedule, decl.name,
        headOf(decl.range, decl.body.range));
    for (const ParamDecl &param : decl.params) {
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
  const ScheduleDecl *schedule = nullptr;
};

NameTable::NameTable(const Module &module) {
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
