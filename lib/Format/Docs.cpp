//===- Docs.cpp - The documents of statements -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AST/Walk.h"
#include "Format/FormatterDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

//===----------------------------------------------------------------------===//
// Parts of statements
//===----------------------------------------------------------------------===//

DocRef Formatter::parameterNames(ArrayRef<Argument> args) {
  Parts names;
  for (const Argument &arg : args)
    names.push_back(arg.name.text);
  return docs.group({"(", docs.commas(names), ")"});
}

DocRef Formatter::stepDoc(const StepRef &step) {
  Parts parts = {letterName(step.letter), step.all ? "*" : ""};
  if (step.slice)
    parts.append(
        {"[", docs.commas({step.chunk, step.microbatch, step.slice}), "]"});
  else if (step.microbatch)
    parts.append({"[", docs.commas({step.chunk, step.microbatch}), "]"});
  else if (step.chunk)
    parts.append({"[", step.chunk, "]"});
  return docs.group(parts);
}

/// The left side of an entry: `F & B`, `p2p`, `stage 0`, `edge 0 -> 1`.
DocRef Formatter::entryHead(const SettingEntry &entry) {
  Parts parts = {docs.copied(leftSide(entry.letters, entry.word))};
  if (entry.isScope)
    for (const Expr *value : entry.values)
      parts.append({value == entry.values.front() ? " " : " -> ", value});
  return docs.concat(parts);
}

/// ` for k in 0..s` after a scope; empty without a loop.
std::string Formatter::loopText(const SettingEntry &entry) {
  if (!entry.isLoop())
    return "";
  return (" for " + entry.loopName.text + " in " +
          sourceText(entry.begin->range) + ".." + sourceText(entry.end->range))
      .str();
}

/// `F & B = 2.5`, `layout "Et|tL"`, `max_active 3`, `stages 0, 2`,
/// `stage 0 { F = 1.4 }`.
DocRef Formatter::entryDoc(const SettingEntry &entry, bool assigns) {
  DocRef head = entryHead(entry);
  if (entry.isScope)
    return docs.group({head, " ", entriesDoc(entry.entries, true),
                       docs.copied(loopText(entry))});
  if (entry.isWord())
    return head;
  if (entry.hasText())
    return docs.group({head, " ", sourceText(entry.textRange())});
  return docs.group(
      {head, assigns ? " = " : " ",
       docs.commas(Parts(entry.values.begin(), entry.values.end()))});
}

/// All entries in braces. Entries with `=` are separated by `;`; entries that
/// read like a statement end with it.
DocRef Formatter::entriesDoc(ArrayRef<SettingEntry> entries, bool assigns) {
  Parts parts = {"{ "};
  for (const SettingEntry &entry : entries) {
    bool last = &entry + 1 == entries.end();
    parts.append({entryDoc(entry, assigns), last && assigns ? " " : "; "});
  }
  parts.push_back("}");
  return docs.concat(parts);
}

DocRef Formatter::placementHalf(const PlacementStmt *stmt, bool second) {
  if (!second)
    return docs.concat({"stages ", stmt->stages, ";"});
  return docs.concat({"stage ", stmt->stageName.text, " on ", stmt->rank, ";"});
}

/// `dispatch on network;`
DocRef Formatter::sectionDoc(const SectionEntry &entry) {
  Parts parts = {entry.name.text};
  if (!entry.stream.text.empty())
    parts.append({" on ", entry.stream.text});
  parts.push_back(";");
  return docs.concat(parts);
}

/// `last W.attention`
DocRef Formatter::bodyStepDoc(const BodyStep &step) {
  return docs.concat({step.last ? "last " : "", letterName(step.letter), ".",
                      step.section.text});
}

/// `s -> stages - 1 - s for s in 0..stages / 2`
DocRef Formatter::edgeDoc(const EdgeEntry &edge) {
  Parts parts = {edge.from, " -> ", edge.to};
  if (edge.isLoop())
    parts.append({docs.line(), "for ", edge.loopName.text, " in ", edge.begin,
                  "..", edge.end});
  parts.push_back(";");
  return docs.group(parts);
}

DocRef Formatter::paramDoc(const ParamDecl &param) {
  Parts parts = {param.label.text, param.label.text.empty() ? "" : " ",
                 param.name.text};
  if (param.defaultValue)
    parts.append({" = ", param.defaultValue});
  return docs.concat(parts);
}

SmallVector<Formatter::Arm, 4> Formatter::armsOf(const IfStmt *stmt) {
  SmallVector<Arm, 4> arms = {{stmt->condition, stmt->then}};
  while (stmt->elseIf) {
    stmt = cast<IfStmt>(stmt->otherwise->stmts.front());
    arms.push_back({stmt->condition, stmt->then});
  }
  if (stmt->otherwise)
    arms.push_back({nullptr, *stmt->otherwise});
  return arms;
}

DocRef Formatter::armHead(const Arm &arm, StringRef before) {
  if (!arm.condition)
    return docs.concat({before, "else"});
  return docs.concat({before, "if ", arm.condition});
}

//===----------------------------------------------------------------------===//
// Heads, and statements without a block
//===----------------------------------------------------------------------===//

const Block *Formatter::blockOf(const Stmt *stmt) {
  const Block *block = nullptr;
  if (!isa<IfStmt>(stmt))
    forEachChild(*stmt, [&](const auto &child) {
      if constexpr (std::is_same_v<decltype(child), const Block &>)
        block = &child;
    });
  return block;
}

DocRef Formatter::headDoc(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    const auto *let = cast<LetStmt>(stmt);
    return docs.concat(
        {docs.head(unsigned(stmt->kind), docs.concat({"let ", let->name.text})),
         "= ", let->value, ";"});
  }
  case Stmt::Kind::Fn: {
    const auto *fn = cast<FnDecl>(stmt);
    return docs.concat({"fn ", fn->name.text, parameterNames(fn->args)});
  }
  case Stmt::Kind::Pattern: {
    const auto *pattern = cast<PatternDecl>(stmt);
    return docs.concat(
        {"pattern ", pattern->name.text, parameterNames(pattern->args)});
  }
  case Stmt::Kind::Repeat:
    return docs.concat({"repeat ", cast<RepeatStmt>(stmt)->count});
  case Stmt::Kind::For: {
    const auto *loop = cast<ForStmt>(stmt);
    return docs.concat({"for ", loop->name.text,
                        loop->reverse ? " in reverse " : " in ", loop->begin,
                        "..", loop->end});
  }
  case Stmt::Kind::Steps: {
    Parts parts;
    for (const StepRef &step : cast<StepsStmt>(stmt)->steps) {
      if (!parts.empty())
        parts.append({docs.line(), "& "});
      parts.push_back(stepDoc(step));
    }
    return docs.group(parts);
  }
  case Stmt::Kind::Idle: {
    const Expr *count = cast<IdleStmt>(stmt)->count;
    if (!count)
      return docs.concat({"idle"});
    // A call is an expression but not a count: it would read as the use of a
    // pattern.
    bool bare = isa<NumberExpr>(count) || isa<NameExpr>(count);
    return docs.concat({bare ? "idle " : "idle (", count, bare ? "" : ")"});
  }
  case Stmt::Kind::Use: {
    const auto *use = cast<UseStmt>(stmt);
    return docs.concat({use->pattern.text, docs.arguments(use->args)});
  }
  case Stmt::Kind::At:
    return docs.concat({"at ", cast<AtStmt>(stmt)->slot});
  case Stmt::Kind::Fill:
    return docs.concat({"fill"});
  case Stmt::Kind::Phase: {
    const auto *phase = cast<PhaseStmt>(stmt);
    return docs.concat({phase->named ? "phase " : "", phase->name.text});
  }
  case Stmt::Kind::Require: {
    const auto *require = cast<RequireStmt>(stmt);
    Parts parts = {require->condition};
    if (require->message)
      parts.push_back(sourceText(require->message->range));
    return docs.group({"require ", docs.commas(parts), ";"});
  }
  case Stmt::Kind::Placement: {
    const auto *placement = cast<PlacementStmt>(stmt);
    if (placement->stages)
      return docs.concat({"placement"});
    Parts parts = {"placement ", placement->name.text};
    if (placement->argument)
      parts.append({"(", placement->argument, ")"});
    parts.push_back(";");
    return docs.concat(parts);
  }
  case Stmt::Kind::Connect:
    return docs.concat(
        {"connect ", edgeDoc(cast<EdgesStmt>(stmt)->edges.front())});
  case Stmt::Kind::Graph:
    return docs.concat({"graph"});
  case Stmt::Kind::Tie: {
    ArrayRef<Expr *> stages = cast<TieStmt>(stmt)->stages;
    return docs.group(
        {"tie ", docs.commas(Parts(stages.begin(), stages.end())), ";"});
  }
  case Stmt::Kind::Alias: {
    Parts names;
    for (const StringLit &name : cast<AliasStmt>(stmt)->names)
      names.push_back(sourceText(name.range));
    return docs.group({"alias ", docs.commas(names), ";"});
  }
  case Stmt::Kind::Sections:
    return docs.concat({"sections(", cast<SectionsStmt>(stmt)->layers, ")"});
  case Stmt::Kind::Overlap:
    return docs.concat(
        {"overlap ",
         docs.copied(leftSide(cast<OverlapStmt>(stmt)->letters, {}))});
  case Stmt::Kind::ForwardOnly:
    return docs.concat({"forward_only;"});
  case Stmt::Kind::Expect: {
    const auto *expect = cast<ExpectStmt>(stmt);
    Parts parts = {"expect ", expect->metric.text};
    if (expect->rank)
      parts.append({"(", expect->rank, ")"});
    parts.append({" ", spelling(expect->relation), " ", expect->value});
    if (expect->condition)
      parts.append({docs.line(), "if ", expect->condition});
    parts.push_back(";");
    return docs.group(parts);
  }
  case Stmt::Kind::Cost:
  case Stmt::Kind::Memory:
  case Stmt::Kind::Fsdp:
    return docs.concat({blockWord(stmt->kind)});
  case Stmt::Kind::If:
    break;
  }
  llvm_unreachable("`if` has a head per arm");
}

//===----------------------------------------------------------------------===//
// On one line
//===----------------------------------------------------------------------===//

DocRef Formatter::lineDoc(const Block &block) {
  if (block.stmts.empty())
    return hasComment(block.range) ? nullptr : docs.concat({"{ }"});
  if (!onOneLine(block.range))
    return nullptr;
  Parts parts = {"{ "};
  for (const Stmt *stmt : block.stmts) {
    DocRef line = lineDoc(stmt);
    if (!line)
      return nullptr;
    parts.append({line, " "});
  }
  parts.push_back("}");
  return docs.concat(parts);
}

DocRef Formatter::armLine(const Arm &arm, bool isFirst) {
  DocRef block = lineDoc(arm.block);
  return block ? docs.concat(
                     {armHead(arm, isFirst || !arm.condition ? "" : "else "),
                      " ", block})
               : nullptr;
}

/// The braces of a statement whose body is not a block; null without braces.
DocRef Formatter::bracesDoc(const Stmt *stmt) {
  if (const auto *settings = dyn_cast<SettingsStmt>(stmt))
    return entriesDoc(settings->entries, stmt->kind != Stmt::Kind::Fsdp);
  Parts parts = {"{ "};
  if (const auto *placement = dyn_cast<PlacementStmt>(stmt);
      placement && placement->stages)
    parts.append({placementHalf(placement, false), " ",
                  placementHalf(placement, true), " }"});
  else if (stmt->kind == Stmt::Kind::Graph) {
    for (const EdgeEntry &edge : cast<EdgesStmt>(stmt)->edges)
      parts.append({edgeDoc(edge), " "});
    parts.push_back("}");
  } else if (const auto *sections = dyn_cast<SectionsStmt>(stmt)) {
    for (const SectionEntry &entry : sections->entries)
      parts.append({sectionDoc(entry), " "});
    parts.push_back("}");
  } else if (const auto *overlap = dyn_cast<OverlapStmt>(stmt)) {
    for (const BodyStep &step : overlap->steps)
      parts.append({bodyStepDoc(step), " "});
    parts.push_back("}");
  } else {
    return nullptr;
  }
  return docs.concat(parts);
}

DocRef Formatter::makeLineDoc(const Stmt *stmt) {
  Parts parts;
  if (const auto *branch = dyn_cast<IfStmt>(stmt)) {
    SmallVector<Arm, 4> arms = armsOf(branch);
    if (arms.size() > 1 &&
        !onOneLine(arms.front().block.range.Start.getPointer(),
                   arms.back().block.range.End.getPointer()))
      return nullptr;
    for (const Arm &arm : arms) {
      bool isFirst = &arm == arms.begin();
      DocRef line = armLine(arm, isFirst);
      if (!line)
        return nullptr;
      parts.append({isFirst ? "" : " ", line});
    }
    return docs.concat(parts);
  }
  unsigned kind = unsigned(stmt->kind);
  if (const auto *fn = dyn_cast<FnDecl>(stmt)) {
    if (!onOneLine(fn->bodyRange))
      return nullptr;
    parts = {docs.head(kind, headDoc(fn)), "{", docs.line()};
    for (const LetStmt *let : fn->lets)
      parts.append({headDoc(let), " "});
    parts.append({fn->result, " }"});
    return docs.concat(parts);
  }
  if (const Block *block = blockOf(stmt)) {
    DocRef body = lineDoc(*block);
    if (!body)
      return nullptr;
    if (isa<FillStmt>(stmt))
      return docs.concat({"fill ", body});
    return docs.concat({docs.head(kind, headDoc(stmt)), body});
  }
  DocRef braces = bracesDoc(stmt);
  if (!braces)
    return headDoc(stmt);
  bool isEmpty = braces->parts.size() == 2;
  if (onOneLine(stmt->range) || (isEmpty && !hasComment(stmt->range)))
    return docs.concat({headDoc(stmt), " ", braces});
  return nullptr;
}

DocRef Formatter::lineDoc(const Stmt *stmt) {
  auto [it, isNew] = lineDocs.try_emplace(stmt, nullptr);
  // The map may grow meanwhile.
  return isNew ? lineDocs[stmt] = makeLineDoc(stmt) : it->second;
}

} // namespace pipec::ast
