//===- Names.cpp - Names of a program and their definitions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/Names.h"

#include "AST/Walk.h"

#include <map>

using namespace llvm;

namespace pipec::lsp {

StringRef kindName(Definition::Kind kind) {
  static constexpr StringLiteral names[] = {
      "schedule", "parameter",     "value",    "loop variable",
      "argument", "builtin value", "function", "pattern",
      "phase",    "section",       "stream"};
  return names[unsigned(kind)];
}

/// One walk over the tree. Definitions precede their uses. Definitions of
/// imported files are added at the first use.
class NameCollector {
public:
  explicit NameCollector(NameTable &table) : table(table) {}

  void collect(const ast::Module &module) {
    for (const ast::Stmt *decl : module.decls)
      visitNode(*decl, [&](const auto &node) { visit(node); });
    for (const ast::ScheduleDecl *decl : module.schedules) {
      schedule = decl;
      visit(*decl);
    }
  }

private:
  using Kind = Definition::Kind;

  unsigned define(const void *key, Definition definition) {
    auto [it, isNew] = known.try_emplace(key, table.all.size());
    if (isNew)
      table.all.push_back(definition);
    return it->second;
  }
  /// Adds a definition of this file, and its name as an occurrence. Without a
  /// key nothing refers to it.
  void add(const void *key, Kind kind, ast::Name name, SMRange statement) {
    if (name.text.empty())
      return;
    unsigned id = define(key ? key : name.text.data(),
                         {kind, name.text, name.range, statement});
    table.places.push_back({name.range, id, /*isDefinition=*/true});
  }
  /// Adds a use of a function or pattern, possibly of another file.
  template <typename T> void refer(ast::Name use, Kind kind, const T *decl) {
    if (decl)
      table.places.push_back(
          {use.range, define(decl, {kind, decl->name.text, decl->name.range,
                                    decl->range})});
  }

  template <typename T> void visit(const T &node) {
    enter(node);
    forEachChild(node, [&](const auto &child) { visit(child); });
  }

  /// Adds the names that a node itself defines and uses.
  template <typename T> void enter(const T &) {}

  void enter(const ast::NameExpr &expr) {
    const ast::Variable *variable = expr.variable;
    if (!variable)
      return;
    // The range of a name in a message includes its braces.
    SMRange range(SMLoc::getFromPointer(expr.name.begin()),
                  SMLoc::getFromPointer(expr.name.end()));
    if (variable->kind != ast::Variable::Kind::Builtin) {
      if (auto it = known.find(variable); it != known.end())
        table.places.push_back({range, it->second});
      return;
    }
    // A builtin has its own meaning in each schedule.
    auto [it, isNew] =
        builtins.try_emplace({schedule, variable}, table.all.size());
    if (isNew)
      table.all.push_back(
          {Kind::Builtin, variable->name, placeOfBuiltin(variable->name)});
    table.places.push_back({range, it->second});
  }

  /// The name of the parameter whose role has the name of the builtin.
  SMRange placeOfBuiltin(StringRef name) const {
    if (schedule)
      for (const ast::ParamDecl &param : schedule->params)
        if (param.label.text == name)
          return param.name.range;
    return {};
  }

  void enter(const ast::CallExpr &call) {
    refer(call.callee, Kind::Function, call.fn);
  }
  void enter(const ast::UseStmt &use) {
    refer(use.pattern, Kind::Pattern, use.decl);
  }
  void enter(const ast::StepRef &step) {
    table.written.push_back({step.range, step.letter});
  }

  /// The range from the start of a statement to its body.
  static SMRange headOf(SMRange statement, SMRange body) {
    return {statement.Start, body.Start};
  }
  void addArguments(ArrayRef<ast::Argument> args, SMRange statement) {
    for (const ast::Argument &arg : args)
      add(arg.variable, Kind::Argument, arg.name, statement);
  }

  void enter(const ast::LetStmt &let) {
    add(let.variable, Kind::Value, let.name, let.range);
  }
  void enter(const ast::FnDecl &fn) {
    add(&fn, Kind::Function, fn.name, fn.range);
    addArguments(fn.args, headOf(fn.range, fn.bodyRange));
  }
  void enter(const ast::PatternDecl &pattern) {
    add(&pattern, Kind::Pattern, pattern.name, pattern.range);
    addArguments(pattern.args, headOf(pattern.range, pattern.body.range));
  }
  void enter(const ast::ForStmt &loop) {
    add(loop.variable, Kind::Loop, loop.name,
        headOf(loop.range, loop.body.range));
  }
  void enter(const ast::PlacementStmt &placement) {
    add(placement.stageVariable, Kind::Loop, placement.stageName,
        placement.range);
  }
  void enter(const ast::EdgeEntry &edge) {
    add(edge.loopVariable, Kind::Loop, edge.loopName, edge.range);
  }
  void enter(const ast::PhaseStmt &phase) {
    if (phase.named)
      add(&phase, Kind::Phase, phase.name, phase.range);
  }
  void enter(const ast::ScheduleDecl &decl) {
    // Settings may name sections that a later statement defines.
    words.clear();
    for (const ast::Stmt *stmt : decl.body.stmts)
      if (const auto *sections = dyn_cast<ast::SectionsStmt>(stmt))
        for (const ast::SectionEntry &entry : sections->entries) {
          defineWord(Kind::Section, entry.name, entry.range);
          if (entry.stream.text != "compute")
            defineWord(Kind::Stream, entry.stream, entry.range);
        }
    add(&decl, Kind::Schedule, decl.name, headOf(decl.range, decl.body.range));
  }
  /// Defines a section or a stream of the schedule by its first name.
  void defineWord(Kind kind, ast::Name name, SMRange statement) {
    if (!name.text.empty() &&
        words.try_emplace({kind, name.text}, table.all.size()).second)
      table.all.push_back({kind, name.text, name.range, statement});
  }
  /// Adds an occurrence of a section or a stream.
  void referWord(Kind kind, ast::Name name) {
    auto it = words.find({kind, name.text});
    if (it == words.end())
      return;
    SMRange first = table.all[it->second].place;
    table.places.push_back(
        {name.range, it->second, first.Start == name.range.Start});
  }
  void enter(const ast::SectionEntry &entry) {
    referWord(Kind::Section, entry.name);
    referWord(Kind::Stream, entry.stream);
  }
  void enter(const ast::BodyStep &step) {
    referWord(Kind::Section, step.section);
  }
  void enter(const ast::SettingEntry &entry) {
    if (!entry.isScope || entry.word.text != "section" || entry.values.empty())
      return;
    if (const auto *name = dyn_cast<ast::NameExpr>(entry.values[0]))
      referWord(Kind::Section, {name->name, name->range});
  }

  void enter(const ast::ParamDecl &param) {
    SMRange statement = param.range();
    if (param.defaultValue)
      statement.End = param.defaultValue->range.End;
    add(param.variable, Kind::Parameter, param.name, statement);
  }

  NameTable &table;
  DenseMap<const void *, unsigned> known;
  DenseMap<std::pair<const void *, const void *>, unsigned> builtins;
  const ast::ScheduleDecl *schedule = nullptr;
  /// The sections and streams of the schedule.
  std::map<std::pair<Kind, StringRef>, unsigned> words;
};

NameTable::NameTable(const ast::Module &module) {
  NameCollector(*this).collect(module);
}

/// The first element of a list that contains or touches `loc`, or null.
template <typename T> static const T *firstAt(ArrayRef<T> list, SMLoc loc) {
  const T *found = find_if(list, [&](const T &each) {
    return each.range.Start.getPointer() <= loc.getPointer() &&
           loc.getPointer() <= each.range.End.getPointer();
  });
  return found == list.end() ? nullptr : found;
}

const Occurrence *NameTable::at(SMLoc loc) const {
  return firstAt(ArrayRef(places), loc);
}

const WrittenStep *NameTable::stepAt(SMLoc loc) const {
  return firstAt(ArrayRef(written), loc);
}

} // namespace pipec::lsp
