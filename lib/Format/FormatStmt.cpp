//===- FormatStmt.cpp - Statements in canonical form ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/FormatterDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

/// True for statements that may share a line.
static bool isInline(const Stmt *stmt) {
  return stmt->kind >= Stmt::Kind::Repeat && stmt->kind <= Stmt::Kind::Fill;
}

void Formatter::addList(ArrayRef<Stmt *> stmts, unsigned indent, bool &first) {
  for (size_t i = 0; i != stmts.size();) {
    const char *start = stmts[i]->range.Start.getPointer();
    addCommentLines(takeComments(start), indent, first);
    bool blank = !first && blankAbove(start);
    first = false;

    DocRef doc = lineDoc(stmts[i]);
    std::optional<FormatLine> line;
    if (!doc || !(line = DocBuilder::renderFlat(doc, indent))) {
      addStmt(stmts[i++], indent, blank);
      continue;
    }
    // Statements that share a line continue to share it as long as they fit.
    for (++i; i != stmts.size(); ++i) {
      if (!isInline(stmts[i - 1]) || !isInline(stmts[i]) ||
          !onOneLine(stmts[i - 1]->range.End.getPointer(),
                     stmts[i]->range.Start.getPointer()))
        break;
      DocRef next = lineDoc(stmts[i]);
      if (!next)
        break;
      doc = docs.concat({doc, " ", next});
      auto longer = DocBuilder::renderFlat(doc, indent);
      if (!longer)
        break;
      line = std::move(longer);
    }
    addCode({std::move(*line)}, stmts[i - 1]->range.End.getPointer(), blank);
  }
}

void Formatter::addBlock(const Block &block, unsigned indent, bool first) {
  addList(block.stmts, indent + 2, first);
  addCommentLines(takeComments(block.range.End.getPointer()), indent + 2,
                  first);
}

void Formatter::addWithBlock(DocRef head, const Block &block, unsigned indent,
                             bool blank) {
  if (block.stmts.empty() && !hasComment(block.range)) {
    addDoc(docs.concat({head, " { }"}), indent, block.range.End.getPointer(),
           blank);
    return;
  }
  addDoc(docs.concat({head, " {"}), indent, block.range.Start.getPointer() + 1,
         blank);
  addBlock(block, indent);
  addClose("}", indent, block.range.End.getPointer(), true);
}

/// Writes one line per arm. Adds nothing and returns false if an arm does not
/// fit or was not written on one line.
bool Formatter::addArmLines(ArrayRef<Arm> arms, unsigned indent, bool blank) {
  std::vector<FormatLine> code;
  for (const Arm &arm : arms) {
    DocRef doc = armLine(arm, &arm == arms.begin());
    auto line = doc ? DocBuilder::renderFlat(doc, indent) : std::nullopt;
    if (!line)
      return false;
    code.push_back(std::move(*line));
  }
  for (auto [arm, line] : zip_equal(arms, code))
    addCode({std::move(line)}, arm.block.range.End.getPointer(),
            &arm == arms.begin() && blank);
  return true;
}

void Formatter::addIf(const IfStmt *stmt, unsigned indent, bool blank) {
  SmallVector<Arm, 4> arms = armsOf(stmt);
  if (addArmLines(arms, indent, blank))
    return;
  addDoc(docs.concat({armHead(arms[0], ""), " {"}), indent,
         arms[0].block.range.Start.getPointer() + 1, blank);
  addBlock(arms[0].block, indent);
  for (const Arm &arm : ArrayRef(arms).drop_front()) {
    // Comments between the brace and the next block would separate the two, so
    // they go into the block, unless there is only one block.
    const char *open = arm.block.range.Start.getPointer() + 1;
    SmallVector<Comment, 4> comments(takeComments(open));
    if (const Comment *trailing = takeTrailing(open))
      comments.push_back(*trailing);
    addDoc(docs.concat({armHead(arm, arm.condition ? "} else " : "} "), " {"}),
           indent, open, false);
    bool first = true;
    if (comments.size() == 1)
      lines.back().comment = comments[0].text.str();
    else
      addCommentLines(comments, indent + 2, first);
    addBlock(arm.block, indent, first);
  }
  addClose("}", indent, arms.back().block.range.End.getPointer(), true);
}

const char *Formatter::addOpen(const Stmt *stmt, unsigned indent, bool blank) {
  const char *open = past(stmt->range.Start.getPointer(), '{');
  addDoc(docs.concat({headDoc(stmt), " {"}), indent, open, blank);
  return open;
}

void Formatter::addFn(const FnDecl *fn, unsigned indent, bool blank) {
  const char *start = addOpen(fn, indent, blank);
  bool first = true;
  std::vector<Stmt *> lets(fn->lets.begin(), fn->lets.end());
  addList(lets, indent + 2, first);

  // Parentheses around the result are not part of its range.
  if (!lets.empty())
    start = lets.back()->range.End.getPointer();
  const char *end = fn->result->range.End.getPointer();
  for (const char *next = skipSpace(end); *next == ')'; next = skipSpace(end))
    end = next + 1;
  addItem(docs.expr(fn->result), indent + 2, skipSpace(start), end, first);
  addClose("}", indent, fn->bodyRange.End.getPointer(), false);
}

//===----------------------------------------------------------------------===//
// Parts of a schedule
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
    addClose("}" + loopText(entry) + ";", indent, end, entry.entries.empty());
  }
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

/// Adds entries that end with `;` and their braces. The last `;` is optional.
template <typename Entry, typename Doc>
void Formatter::addItems(const Stmt *stmt, ArrayRef<Entry> entries, Doc doc,
                         unsigned indent, bool blank) {
  addOpen(stmt, indent, blank);
  bool first = true;
  for (const Entry &entry : entries) {
    const char *end = entry.range.End.getPointer();
    if (const char *next = skipSpace(end); *next == ';')
      end = next + 1;
    addItem(doc(entry), indent + 2, entry.range.Start.getPointer(), end, first);
  }
  addClose("}", indent, stmt->range.End.getPointer(), entries.empty());
}

/// Adds the body of an overlap. Steps that share a line continue to share it.
void Formatter::addBody(const OverlapStmt *stmt, unsigned indent, bool blank) {
  addOpen(stmt, indent, blank);
  bool first = true;
  for (size_t i = 0, end = 0; i != stmt->steps.size(); i = end) {
    Parts parts = {bodyStepDoc(stmt->steps[i])};
    for (end = i + 1; end != stmt->steps.size() &&
                      onOneLine(stmt->steps[end - 1].range.End.getPointer(),
                                stmt->steps[end].range.Start.getPointer());
         ++end)
      parts.append({docs.line(), bodyStepDoc(stmt->steps[end])});
    addItem(docs.group(parts), indent + 2,
            stmt->steps[i].range.Start.getPointer(),
            stmt->steps[end - 1].range.End.getPointer(), first);
  }
  addClose("}", indent, stmt->range.End.getPointer(), stmt->steps.empty());
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

void Formatter::addStmt(const Stmt *stmt, unsigned indent, bool blank) {
  if (const auto *branch = dyn_cast<IfStmt>(stmt))
    return addIf(branch, indent, blank);
  if (const auto *fn = dyn_cast<FnDecl>(stmt))
    return addFn(fn, indent, blank);
  if (const auto *settings = dyn_cast<SettingsStmt>(stmt)) {
    addOpen(stmt, indent, blank);
    addEntries(settings->entries, indent + 2, stmt->kind != Stmt::Kind::Fsdp);
    return addClose("}", indent, stmt->range.End.getPointer(),
                    settings->entries.empty());
  }
  if (const auto *placement = dyn_cast<PlacementStmt>(stmt);
      placement && placement->stages)
    return addPlacement(placement, indent, blank);
  if (stmt->kind == Stmt::Kind::Graph)
    return addItems<EdgeEntry>(
        stmt, cast<EdgesStmt>(stmt)->edges,
        [&](const EdgeEntry &edge) { return edgeDoc(edge); }, indent, blank);
  if (const auto *sections = dyn_cast<SectionsStmt>(stmt))
    return addItems<SectionEntry>(
        stmt, sections->entries,
        [&](const SectionEntry &entry) { return sectionDoc(entry); }, indent,
        blank);
  if (const auto *overlap = dyn_cast<OverlapStmt>(stmt))
    return addBody(overlap, indent, blank);
  if (const Block *block = blockOf(stmt))
    return addWithBlock(headDoc(stmt), *block, indent, blank);
  addDoc(headDoc(stmt), indent, stmt->range.End.getPointer(), blank);
}

} // namespace pipec::ast
