//===- FormatItem.cpp - Parts of a schedule in canonical form -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format/FormatterDetail.h"

using namespace llvm;

namespace pipec::ast {

static StringRef wordOf(const SettingsStmt *stmt) {
  return stmt->kind == Stmt::Kind::Cost     ? "cost"
         : stmt->kind == Stmt::Kind::Memory ? "memory"
                                            : "fsdp";
}

//===----------------------------------------------------------------------===//
// On one line
//===----------------------------------------------------------------------===//

/// The left side of an entry: `F & B`, `p2p`, `stage 0`, `edge 0 -> 1`.
DocRef Formatter::entryHead(const SettingEntry &entry) {
  SmallVector<DocRef, 8> parts;
  for (Letter letter : entry.letters) {
    if (!parts.empty())
      parts.push_back(docs.text(" & "));
    parts.push_back(docs.text(letterName(letter)));
  }
  if (parts.empty())
    parts.push_back(docs.text(entry.word.text));
  if (entry.isScope)
    for (const Expr *value : entry.values)
      parts.append({docs.text(value == entry.values.front() ? " " : " -> "),
                    exprDoc(docs, value)});
  return docs.concat(parts);
}

/// `F & B = 2.5`, `layout "Et|tL"`, `max_active 3`, `stages 0, 2`,
/// `stage 0 { F = 1.4 }`.
DocRef Formatter::entryDoc(const SettingEntry &entry, bool assigns) {
  SmallVector<DocRef, 8> parts = {entryHead(entry)};
  if (entry.isScope) {
    parts.append({docs.text(" "), entriesDoc(entry.entries, true)});
  } else if (entry.hasText()) {
    parts.append({docs.text(" \""), docs.text(entry.text), docs.text("\"")});
  } else {
    parts.push_back(docs.text(assigns ? " = " : " "));
    for (const Expr *value : entry.values) {
      if (value != entry.values.front())
        parts.append({docs.text(","), docs.line()});
      parts.push_back(exprDoc(docs, value));
    }
  }
  return docs.group(docs.nest(4, docs.concat(parts)));
}

/// All entries in braces. Entries with `=` are separated by `;`; entries that
/// read like a statement end with it.
DocRef Formatter::entriesDoc(ArrayRef<SettingEntry> entries, bool assigns) {
  SmallVector<DocRef, 16> parts = {docs.text("{ ")};
  for (const SettingEntry &entry : entries) {
    bool last = &entry + 1 == entries.end();
    parts.append(
        {entryDoc(entry, assigns), docs.text(last && assigns ? " " : "; ")});
  }
  parts.push_back(docs.text("}"));
  return docs.concat(parts);
}

DocRef Formatter::placementHalf(const PlacementStmt *stmt, bool second) {
  if (!second)
    return docs.concat(
        {docs.text("stages "), exprDoc(docs, stmt->stages), docs.text(";")});
  return docs.concat({docs.text("stage "), docs.text(stmt->stageName.text),
                      docs.text(" on "), exprDoc(docs, stmt->rank),
                      docs.text(";")});
}

/// `s -> stages - 1 - s for s in 0..stages / 2`
DocRef Formatter::edgeDoc(const EdgeEntry &edge) {
  SmallVector<DocRef, 12> parts = {exprDoc(docs, edge.from), docs.text(" -> "),
                                   exprDoc(docs, edge.to)};
  if (edge.isLoop())
    parts.append({docs.line(), docs.text("for "), docs.text(edge.loopName.text),
                  docs.text(" in "), exprDoc(docs, edge.begin), docs.text(".."),
                  exprDoc(docs, edge.end)});
  parts.push_back(docs.text(";"));
  return docs.group(docs.nest(4, docs.concat(parts)));
}

DocRef Formatter::itemDoc(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Require: {
    const auto *require = cast<RequireStmt>(stmt);
    SmallVector<DocRef, 8> parts = {docs.text("require "),
                                    exprDoc(docs, require->condition)};
    if (require->message)
      parts.append({docs.text(","), docs.line(),
                    docs.text(spelling(require->message->range))});
    parts.push_back(docs.text(";"));
    return docs.group(docs.nest(4, docs.concat(parts)));
  }
  case Stmt::Kind::Placement: {
    const auto *placement = cast<PlacementStmt>(stmt);
    if (placement->stages)
      return docs.concat({docs.text("placement { "),
                          placementHalf(placement, false), docs.text(" "),
                          placementHalf(placement, true), docs.text(" }")});
    SmallVector<DocRef, 8> parts = {docs.text("placement "),
                                    docs.text(placement->name.text)};
    if (placement->argument)
      parts.append(
          {docs.text("("), exprDoc(docs, placement->argument), docs.text(")")});
    parts.push_back(docs.text(";"));
    return docs.concat(parts);
  }
  case Stmt::Kind::Connect:
    return docs.concat(
        {docs.text("connect "), edgeDoc(cast<EdgesStmt>(stmt)->edges.front())});
  case Stmt::Kind::Graph: {
    SmallVector<DocRef, 16> parts = {docs.text("graph { ")};
    for (const EdgeEntry &edge : cast<EdgesStmt>(stmt)->edges)
      parts.append({edgeDoc(edge), docs.text(" ")});
    parts.push_back(docs.text("}"));
    return docs.concat(parts);
  }
  case Stmt::Kind::Tie: {
    SmallVector<DocRef, 8> parts = {docs.text("tie ")};
    ArrayRef<Expr *> stages = cast<TieStmt>(stmt)->stages;
    for (const Expr *stage : stages) {
      if (stage != stages.front())
        parts.append({docs.text(","), docs.line()});
      parts.push_back(exprDoc(docs, stage));
    }
    parts.push_back(docs.text(";"));
    return docs.group(docs.nest(4, docs.concat(parts)));
  }
  case Stmt::Kind::Alias: {
    SmallVector<DocRef, 8> parts = {docs.text("alias ")};
    ArrayRef<StringLit> names = cast<AliasStmt>(stmt)->names;
    for (const StringLit &name : names) {
      if (&name != names.begin())
        parts.append({docs.text(","), docs.line()});
      parts.push_back(docs.text(spelling(name.range)));
    }
    parts.push_back(docs.text(";"));
    return docs.group(docs.nest(4, docs.concat(parts)));
  }
  case Stmt::Kind::ForwardOnly:
    return docs.text("forward_only;");
  case Stmt::Kind::Expect: {
    const auto *expect = cast<ExpectStmt>(stmt);
    SmallVector<DocRef, 16> parts = {docs.text("expect "),
                                     docs.text(expect->metric.text)};
    if (expect->rank)
      parts.append(
          {docs.text("("), exprDoc(docs, expect->rank), docs.text(")")});
    parts.append({docs.text(" "), docs.text(ast::spelling(expect->relation)),
                  docs.text(" "), exprDoc(docs, expect->value)});
    if (expect->condition)
      parts.append(
          {docs.line(), docs.text("if "), exprDoc(docs, expect->condition)});
    parts.push_back(docs.text(";"));
    return docs.group(docs.nest(4, docs.concat(parts)));
  }
  case Stmt::Kind::Cost:
  case Stmt::Kind::Memory:
  case Stmt::Kind::Fsdp: {
    const auto *settings = cast<SettingsStmt>(stmt);
    return docs.concat(
        {docs.text(wordOf(settings)), docs.text(" "),
         entriesDoc(settings->entries, stmt->kind != Stmt::Kind::Fsdp)});
  }
  default:
    llvm_unreachable("not an item of a schedule");
  }
}

bool Formatter::staysOnLine(const Stmt *stmt) const {
  if (const auto *settings = dyn_cast<SettingsStmt>(stmt))
    return onOneLine(stmt->range) ||
           (settings->entries.empty() && !hasComment(stmt->range));
  if (const auto *placement = dyn_cast<PlacementStmt>(stmt))
    return !placement->stages || onOneLine(stmt->range);
  if (stmt->kind == Stmt::Kind::Graph)
    return onOneLine(stmt->range) ||
           (cast<EdgesStmt>(stmt)->edges.empty() && !hasComment(stmt->range));
  return true;
}

//===----------------------------------------------------------------------===//
// On several lines
//===----------------------------------------------------------------------===//

void Formatter::addEntries(ArrayRef<SettingEntry> entries, unsigned indent,
                           bool assigns) {
  bool first = true;
  for (const SettingEntry &entry : entries) {
    const char *start = entry.range.Start.getPointer();
    const char *end = entry.range.End.getPointer();
    addCommentLines(takeComments(start), indent, first);
    bool blank = !first && blankAbove(start);
    first = false;

    DocRef doc = docs.concat({entryDoc(entry, assigns), docs.text(";")});
    std::string flat;
    bool fits = indent < formatWidth &&
                DocBuilder::renderFlat(doc, formatWidth - indent, flat);
    if (!entry.isScope || (fits && onOneLine(entry.range)) ||
        (entry.entries.empty() && !hasComment(entry.range))) {
      addDoc(doc, indent, end, blank);
      continue;
    }
    const char *head = entry.values.empty()
                           ? start
                           : entry.values.back()->range.End.getPointer();
    addDoc(docs.concat({entryHead(entry), docs.text(" {")}), indent,
           past(head, '{'), blank);
    addEntries(entry.entries, indent + 2, assigns);
    addClose("};", indent, end, entry.entries.empty());
  }
}

void Formatter::addSettings(const SettingsStmt *stmt, unsigned indent,
                            bool blank) {
  addDoc(docs.concat({docs.text(wordOf(stmt)), docs.text(" {")}), indent,
         past(stmt->range.Start.getPointer(), '{'), blank);
  addEntries(stmt->entries, indent + 2, stmt->kind != Stmt::Kind::Fsdp);
  addClose("}", indent, stmt->range.End.getPointer(), stmt->entries.empty());
}

void Formatter::addPlacement(const PlacementStmt *stmt, unsigned indent,
                             bool blank) {
  if (!stmt->stages)
    return addDoc(itemDoc(stmt), indent, stmt->range.End.getPointer(), blank);
  addDoc(docs.text("placement {"), indent,
         past(stmt->range.Start.getPointer(), '{'), blank);
  bool first = true;
  const char *start = skipSpace(past(stmt->range.Start.getPointer(), '{'));
  for (bool second : {false, true}) {
    const Expr *value = second ? stmt->rank : stmt->stages;
    addCommentLines(takeComments(start), indent + 2, first);
    // The last `;` is optional.
    const char *end = value->range.End.getPointer();
    for (const char *next = skipSpace(end); *next == ')' || *next == ';';
         next = skipSpace(end))
      end = next + 1;
    addDoc(placementHalf(stmt, second), indent + 2, end,
           !first && blankAbove(start));
    first = false;
    start = skipSpace(end);
  }
  addClose("}", indent, stmt->range.End.getPointer(), false);
}

void Formatter::addGraph(const EdgesStmt *stmt, unsigned indent, bool blank) {
  addDoc(docs.text("graph {"), indent,
         past(stmt->range.Start.getPointer(), '{'), blank);
  bool first = true;
  for (const EdgeEntry &edge : stmt->edges) {
    const char *start = edge.range.Start.getPointer();
    // The last `;` is optional.
    const char *end = edge.range.End.getPointer();
    if (const char *next = skipSpace(end); *next == ';')
      end = next + 1;
    addCommentLines(takeComments(start), indent + 2, first);
    addDoc(edgeDoc(edge), indent + 2, end, !first && blankAbove(start));
    first = false;
  }
  addClose("}", indent, stmt->range.End.getPointer(), stmt->edges.empty());
}

DocRef Formatter::paramDoc(const ParamDecl &param) {
  SmallVector<DocRef, 8> parts;
  if (!param.label.text.empty())
    parts.append({docs.text(param.label.text), docs.text(" ")});
  parts.push_back(docs.text(param.name.text));
  if (param.defaultValue)
    parts.append({docs.text(" = "), exprDoc(docs, param.defaultValue)});
  return docs.concat(parts);
}

void Formatter::addSchedule(const ScheduleDecl &schedule, bool blank) {
  const char *open = schedule.body.range.Start.getPointer();
  const char *end = schedule.body.range.End.getPointer();
  bool isEmpty =
      schedule.body.stmts.empty() && !hasComment(schedule.body.range);
  StringRef brace = isEmpty ? "{ }" : "{";
  const char *headEnd = isEmpty ? end : open + 1;

  SmallVector<DocRef, 16> parts = {
      docs.text("schedule "), docs.text(schedule.name.text), docs.text("(")};
  for (const ParamDecl &param : schedule.params) {
    if (&param != schedule.params.begin())
      parts.push_back(docs.text(", "));
    parts.push_back(paramDoc(param));
  }
  parts.append({docs.text(") "), docs.text(brace)});
  DocRef head = docs.concat(parts);
  std::string flat;
  SMRange headRange = {schedule.range.Start, schedule.body.range.Start};
  if (schedule.params.empty() ||
      (!hasComment(headRange) &&
       DocBuilder::renderFlat(head, formatWidth, flat))) {
    addDoc(head, 0, headEnd, blank);
  } else {
    // One parameter per line.
    addDoc(docs.concat({docs.text("schedule "), docs.text(schedule.name.text),
                        docs.text("(")}),
           0, past(schedule.name.range.End.getPointer(), '('), blank);
    bool first = true;
    for (const ParamDecl &param : schedule.params) {
      bool last = &param + 1 == schedule.params.end();
      const char *start = param.label.text.empty()
                              ? param.name.range.Start.getPointer()
                              : param.label.range.Start.getPointer();
      const char *paramEnd = param.defaultValue
                                 ? param.defaultValue->range.End.getPointer()
                                 : param.name.range.End.getPointer();
      if (!last) {
        const ParamDecl *next = &param + 1;
        paramEnd = past(paramEnd, ',');
        const char *nextStart = next->label.text.empty()
                                    ? next->name.range.Start.getPointer()
                                    : next->label.range.Start.getPointer();
        paramEnd = std::min(paramEnd, nextStart);
      }
      addCommentLines(takeComments(start), 2, first);
      addDoc(docs.concat({paramDoc(param), docs.text(last ? "" : ",")}), 2,
             paramEnd, false);
      first = false;
    }
    addCommentLines(takeComments(open), 2, first);
    addDoc(docs.concat({docs.text(") "), docs.text(brace)}), 0, headEnd, false);
  }
  if (isEmpty)
    return;
  addBlock(schedule.body, 0);
  addClose("}", 0, end, true);
}

} // namespace pipec::ast
