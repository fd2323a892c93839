//===- Outline.cpp - The outline of a document ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec::lsp {

namespace {

/// The values of `SymbolKind`.
enum class SymbolKind {
  Namespace = 3,
  Class = 5,
  Method = 6,
  Function = 12,
  Variable = 13,
  Constant = 14,
  Array = 18,
};

class Outline {
public:
  using RangeOf = function_ref<std::optional<json::Value>(Span)>;
  Outline(const Analysis &analysis, RangeOf range)
      : analysis(analysis), range(range) {}

  json::Array ofProgram(const ast::Module &module) {
    json::Array all;
    for (const ast::Stmt *decl : module.decls)
      add(all, decl);
    for (const ast::ScheduleDecl *schedule : module.schedules)
      add(all, *schedule);
    return all;
  }

  /// The schedule of step IR with its ranks, by its lines.
  json::Array ofSteps();

private:
  /// Adds an entry; without one of the ranges nothing.
  json::Object *add(json::Array &to, StringRef name, SymbolKind kind,
                    Span whole, Span selected, std::string detail = "") {
    std::optional<json::Value> outer = range(whole), inner = range(selected);
    if (!outer || !inner || name.empty())
      return nullptr;
    to.push_back(json::Object{{"name", json::fixUTF8(name)},
                              {"kind", int(kind)},
                              {"range", std::move(*outer)},
                              {"selectionRange", std::move(*inner)}});
    json::Object *entry = to.back().getAsObject();
    if (!detail.empty())
      (*entry)["detail"] = std::move(detail);
    return entry;
  }

  json::Object *add(json::Array &to, StringRef name, SymbolKind kind,
                    SMRange whole, SMRange selected, std::string detail = "") {
    return add(to, name, kind, analysis.exactSpan(whole),
               analysis.exactSpan(selected), std::move(detail));
  }

  void add(json::Array &to, const ast::Stmt *stmt) {
    if (const auto *let = dyn_cast<ast::LetStmt>(stmt))
      add(to, let->name.text, SymbolKind::Constant, let->range,
          let->name.range);
    else if (const auto *fn = dyn_cast<ast::FnDecl>(stmt))
      add(to, fn->name.text, SymbolKind::Function, fn->range, fn->name.range);
    else if (const auto *pattern = dyn_cast<ast::PatternDecl>(stmt))
      add(to, pattern->name.text, SymbolKind::Method, pattern->range,
          pattern->name.range);
    else if (const auto *phase = dyn_cast<ast::PhaseStmt>(stmt))
      add(to, phase->name.text, SymbolKind::Namespace, phase->range,
          phase->name.range, "phase");
  }

  void add(json::Array &to, const ast::ScheduleDecl &schedule) {
    std::string figures;
    for (const ShownSchedule &shown : analysis.schedules())
      if (shown.schedule.name == schedule.name.text)
        figures = figuresOf(shown);
    json::Object *entry =
        add(to, schedule.name.text, SymbolKind::Class, schedule.range,
            schedule.name.range, std::move(figures));
    if (!entry)
      return;
    json::Array children;
    for (const ast::ParamDecl &param : schedule.params)
      add(children, param.name.text, SymbolKind::Variable, param.name.range,
          param.name.range, param.label.text.str());
    for (const ast::Stmt *item : schedule.body.stmts)
      add(children, item);
    (*entry)["children"] = std::move(children);
  }

  const Analysis &analysis;
  RangeOf range;
};

} // namespace

json::Array Outline::ofSteps() {
  json::Array all, ranks;
  StringRef text = analysis.text();
  std::optional<Span> schedule, rank;
  StringRef scheduleName, rankName;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    StringRef line = text.slice(at, end);
    StringRef words = line.trim();
    Span here{at + (line.size() - line.ltrim().size()),
              at + line.rtrim().size()};
    if (words.starts_with("schedule ") && !schedule) {
      schedule = here;
      scheduleName = words.split(' ').second.split(' ').first;
    } else if (words.starts_with("rank ") && words.ends_with("{")) {
      rank = here;
      rankName = words.drop_back().trim();
    } else if (words == "}" && rank) {
      add(ranks, rankName, SymbolKind::Array, Span{rank->begin, here.end},
          *rank);
      rank.reset();
    }
    at = end + 1;
  }
  if (!schedule)
    return ranks;
  if (json::Object *entry = add(all, scheduleName, SymbolKind::Class,
                                Span{schedule->begin, text.size()}, *schedule))
    (*entry)["children"] = std::move(ranks);
  return all;
}

Expected<json::Value> Server::symbols(const json::Object &, Target &at) {
  if (!at.analysis)
    return json::Array();
  at.analysis->run();
  auto range = [&](Span span) { return at.range(span); };
  Outline outline(*at.analysis, range);
  if (at.analysis->isSteps())
    return outline.ofSteps();
  const ast::Module *module = at.analysis->module();
  return module ? outline.ofProgram(*module) : json::Array();
}

} // namespace pipec::lsp
