//===- FormatItem.cpp - Parts of a schedule in canonical form -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/FormatterDetail.h"

using namespace llvm;

namespace pipec::ast {

void Formatter::addEntries(ArrayRef<SettingEntry> entries, unsigned indent,
                           bool assigns) {
  bool first = true;
  for (const SettingEntry &entry : entries) {
    const char *start = entry.range.Start.getPointer();
    const char *end = entry.range.End.getPointer();
    addCommentLines(takeComments(start), indent, first);
    bool blank = !first && blankAbove(start);
    first = false;

    DocRef doc = docs.concat({entryDoc(entry, assigns), ";"});
    if (!entry.isScope ||
        (onOneLine(entry.range) && DocBuilder::renderFlat(doc, indent)) ||
        (entry.entries.empty() && !hasComment(entry.range))) {
      addDoc(doc, indent, end, blank);
      continue;
    }
    const char *head = entry.values.empty()
                           ? start
                           : entry.values.back()->range.End.getPointer();
    addDoc(docs.concat({entryHead(entry), " {"}), indent, past(head, '{'),
           blank);
    addEntries(entry.entries, indent + 2, assigns);
    addClose("};", indent, end, entry.entries.empty());
  }
}

void Formatter::addSettings(const SettingsStmt *stmt, unsigned indent,
                            bool blank) {
  addOpen(stmt, indent, blank);
  addEntries(stmt->entries, indent + 2, stmt->kind != Stmt::Kind::Fsdp);
  addClose("}", indent, stmt->range.End.getPointer(), stmt->entries.empty());
}

void Formatter::addPlacement(const PlacementStmt *stmt, unsigned indent,
                             bool blank) {
  const char *start = skipSpace(addOpen(stmt, indent, blank));
  bool first = true;
  for (bool second : {false, true}) {
    // The last `;` is optional.
    const char *end =
        (second ? stmt->rank : stmt->stages)->range.End.getPointer();
    for (const char *next = skipSpace(end); *next == ')' || *next == ';';
         next = skipSpace(end))
      end = next + 1;
    addItem(placementHalf(stmt, second), indent + 2, start, end, first);
    start = skipSpace(end);
  }
  addClose("}", indent, stmt->range.End.getPointer(), false);
}

void Formatter::addGraph(const EdgesStmt *stmt, unsigned indent, bool blank) {
  addOpen(stmt, indent, blank);
  bool first = true;
  for (const EdgeEntry &edge : stmt->edges) {
    // The last `;` is optional.
    const char *end = edge.range.End.getPointer();
    if (const char *next = skipSpace(end); *next == ';')
      end = next + 1;
    addItem(edgeDoc(edge), indent + 2, edge.range.Start.getPointer(), end,
            first);
  }
  addClose("}", indent, stmt->range.End.getPointer(), stmt->edges.empty());
}

void Formatter::addSchedule(const ScheduleDecl &schedule, bool blank) {
  const char *open = schedule.body.range.Start.getPointer();
  const char *end = schedule.body.range.End.getPointer();
  bool isEmpty =
      schedule.body.stmts.empty() && !hasComment(schedule.body.range);
  StringRef brace = isEmpty ? "{ }" : "{";
  const char *headEnd = isEmpty ? end : open + 1;

  DocRef begin = docs.concat({"schedule ", schedule.name.text, "("});
  Parts parts = {begin};
  for (const ParamDecl &param : schedule.params)
    parts.append(
        {&param == schedule.params.begin() ? "" : ", ", paramDoc(param)});
  parts.append({") ", brace});
  DocRef head = docs.concat(parts);
  if (schedule.params.empty() ||
      (!hasComment({schedule.range.Start, schedule.body.range.Start}) &&
       DocBuilder::renderFlat(head, 0))) {
    addDoc(head, 0, headEnd, blank);
  } else {
    // One parameter per line.
    addDoc(begin, 0, past(schedule.name.range.End.getPointer(), '('), blank);
    bool first = true;
    for (const ParamDecl &param : schedule.params) {
      bool last = &param + 1 == schedule.params.end();
      const char *paramEnd = param.defaultValue
                                 ? param.defaultValue->range.End.getPointer()
                                 : param.name.range.End.getPointer();
      if (!last)
        paramEnd = std::min(past(paramEnd, ','),
                            (&param + 1)->range().Start.getPointer());
      addCommentLines(takeComments(param.range().Start.getPointer()), 2, first);
      addDoc(docs.concat({paramDoc(param), last ? "" : ","}), 2, paramEnd,
             false);
      first = false;
    }
    addCommentLines(takeComments(open), 2, first);
    addDoc(docs.concat({") ", brace}), 0, headEnd, false);
  }
  if (isEmpty)
    return;
  addBlock(schedule.body, 0);
  addClose("}", 0, end, true);
}

} // namespace pipec::ast
