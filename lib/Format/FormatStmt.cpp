//===- FormatStmt.cpp - Statements in canonical form ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format/FormatterDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

//===----------------------------------------------------------------------===//
// Heads of blocks, and statements without a block
//===----------------------------------------------------------------------===//

const Block *Formatter::blockOf(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Pattern:
    return &cast<PatternDecl>(stmt)->body;
  case Stmt::Kind::Repeat:
    return &cast<RepeatStmt>(stmt)->body;
  case Stmt::Kind::For:
    return &cast<ForStmt>(stmt)->body;
  case Stmt::Kind::At:
    return &cast<AtStmt>(stmt)->body;
  case Stmt::Kind::Fill:
    return &cast<FillStmt>(stmt)->body;
  case Stmt::Kind::Phase:
    return &cast<PhaseStmt>(stmt)->body;
  default:
    return nullptr;
  }
}

DocRef Formatter::parameterNames(ArrayRef<Argument> args) {
  SmallVector<DocRef, 8> parts;
  for (const Argument &arg : args) {
    if (!parts.empty())
      parts.append({docs.text(","), docs.line()});
    parts.push_back(docs.text(arg.name.text));
  }
  return docs.group(docs.concat(
      {docs.text("("), docs.nest(4, docs.concat(parts)), docs.text(")")}));
}

DocRef Formatter::stepDoc(const StepRef &step) {
  SmallVector<DocRef, 8> parts = {docs.text(letterName(step.letter))};
  if (step.all)
    parts.push_back(docs.text("*"));
  if (step.chunk) {
    parts.append({docs.text("["), exprDoc(docs, step.chunk)});
    if (step.microbatch)
      parts.append(
          {docs.text(","), docs.line(), exprDoc(docs, step.microbatch)});
    parts.push_back(docs.text("]"));
  }
  return docs.group(docs.nest(4, docs.concat(parts)));
}

DocRef Formatter::headDoc(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    const auto *let = cast<LetStmt>(stmt);
    return docs.concat({docs.text("let "), docs.text(let->name.text),
                        docs.text(" = "), exprDoc(docs, let->value),
                        docs.text(";")});
  }
  case Stmt::Kind::Fn: {
    const auto *fn = cast<FnDecl>(stmt);
    return docs.concat(
        {docs.text("fn "), docs.text(fn->name.text), parameterNames(fn->args)});
  }
  case Stmt::Kind::Pattern: {
    const auto *pattern = cast<PatternDecl>(stmt);
    return docs.concat({docs.text("pattern "), docs.text(pattern->name.text),
                        parameterNames(pattern->args)});
  }
  case Stmt::Kind::Repeat:
    return docs.concat(
        {docs.text("repeat "), exprDoc(docs, cast<RepeatStmt>(stmt)->count)});
  case Stmt::Kind::For: {
    const auto *loop = cast<ForStmt>(stmt);
    return docs.concat({docs.text("for "), docs.text(loop->name.text),
                        docs.text(loop->reverse ? " in reverse " : " in "),
                        exprDoc(docs, loop->begin), docs.text(".."),
                        exprDoc(docs, loop->end)});
  }
  case Stmt::Kind::Steps: {
    SmallVector<DocRef, 8> parts;
    for (const StepRef &step : cast<StepsStmt>(stmt)->steps) {
      if (!parts.empty())
        parts.append({docs.line(), docs.text("& ")});
      parts.push_back(stepDoc(step));
    }
    return docs.group(docs.nest(4, docs.concat(parts)));
  }
  case Stmt::Kind::Idle: {
    const Expr *count = cast<IdleStmt>(stmt)->count;
    if (!count)
      return docs.text("idle");
    // A call is an expression but not a count: it would read as the use of a
    // pattern.
    bool bare = isa<NumberExpr>(count) || isa<NameExpr>(count);
    return docs.concat({docs.text(bare ? "idle " : "idle ("),
                        exprDoc(docs, count), docs.text(bare ? "" : ")")});
  }
  case Stmt::Kind::Use: {
    const auto *use = cast<UseStmt>(stmt);
    return docs.concat(
        {docs.text(use->pattern.text), argumentsDoc(docs, use->args)});
  }
  case Stmt::Kind::At:
    return docs.concat(
        {docs.text("at "), exprDoc(docs, cast<AtStmt>(stmt)->slot)});
  case Stmt::Kind::Fill:
    return docs.text("fill");
  case Stmt::Kind::Phase: {
    const auto *phase = cast<PhaseStmt>(stmt);
    return docs.concat(
        {docs.text(phase->named ? "phase " : ""), docs.text(phase->name.text)});
  }
  default:
    return itemDoc(stmt);
  }
}

SmallVector<Formatter::Arm, 4> Formatter::armsOf(const IfStmt *stmt) {
  SmallVector<Arm, 4> arms;
  while (true) {
    arms.push_back({stmt->condition, stmt->then});
    if (!stmt->elseIf)
      break;
    stmt = cast<IfStmt>(stmt->otherwise->stmts.front());
  }
  if (stmt->otherwise)
    arms.push_back({nullptr, *stmt->otherwise});
  return arms;
}

DocRef Formatter::armHead(const Arm &arm, StringRef before) {
  if (!arm.condition)
    return docs.concat({docs.text(before), docs.text("else")});
  return docs.concat(
      {docs.text(before), docs.text("if "), exprDoc(docs, arm.condition)});
}

//===----------------------------------------------------------------------===//
// Statements on lines of their own
//===----------------------------------------------------------------------===//

/// True for statements that may share a line.
static bool isInline(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Repeat:
  case Stmt::Kind::For:
  case Stmt::Kind::If:
  case Stmt::Kind::Steps:
  case Stmt::Kind::Idle:
  case Stmt::Kind::Use:
  case Stmt::Kind::At:
  case Stmt::Kind::Fill:
    return true;
  default:
    return false;
  }
}

void Formatter::addList(ArrayRef<Stmt *> stmts, unsigned indent, bool &first) {
  size_t room = indent < formatWidth ? formatWidth - indent : 0;
  for (size_t i = 0; i != stmts.size();) {
    const char *start = stmts[i]->range.Start.getPointer();
    addCommentLines(takeComments(start), indent, first);
    bool blank = !first && blankAbove(start);
    first = false;

    Flat flat;
    flat.room = room;
    if (!flatten(stmts[i], flat)) {
      addStmt(stmts[i++], indent, blank);
      continue;
    }
    // Statements that share a line continue to share it as long as they fit.
    for (++i; i != stmts.size(); ++i) {
      if (!isInline(stmts[i - 1]) || !isInline(stmts[i]) ||
          !onOneLine(stmts[i - 1]->range.End.getPointer(),
                     stmts[i]->range.Start.getPointer()))
        break;
      Flat longer = flat;
      if (!append(longer, " ") || !flatten(stmts[i], longer))
        break;
      flat = std::move(longer);
    }
    addCode({lineOf(std::move(flat), indent)},
            stmts[i - 1]->range.End.getPointer(), blank);
  }
}

void Formatter::addBlock(const Block &block, unsigned indent) {
  bool first = true;
  addList(block.stmts, indent + 2, first);
  addCommentLines(takeComments(block.range.End.getPointer()), indent + 2,
                  first);
}

void Formatter::addWithBlock(DocRef head, const Block &block, unsigned indent,
                             bool blank) {
  if (block.stmts.empty() && !hasComment(block.range)) {
    addDoc(docs.concat({head, docs.text(" { }")}), indent,
           block.range.End.getPointer(), blank);
    return;
  }
  addDoc(docs.concat({head, docs.text(" {")}), indent,
         block.range.Start.getPointer() + 1, blank);
  addBlock(block, indent);
  addClose("}", indent, block.range.End.getPointer(), true);
}

/// Writes one line per arm. Adds nothing and returns false if an arm does not
/// fit or was not written on one line.
bool Formatter::addArmLines(ArrayRef<Arm> arms, unsigned indent, bool blank) {
  std::vector<Flat> flats;
  for (const Arm &arm : arms) {
    Flat &flat = flats.emplace_back();
    flat.room = indent < formatWidth ? formatWidth - indent : 0;
    if (!flattenArm(arm, &arm == arms.begin(), flat))
      return false;
  }
  for (size_t i = 0; i != arms.size(); ++i)
    addCode({lineOf(std::move(flats[i]), indent)},
            arms[i].block.range.End.getPointer(), i == 0 && blank);
  return true;
}

void Formatter::addIf(const IfStmt *stmt, unsigned indent, bool blank) {
  SmallVector<Arm, 4> arms = armsOf(stmt);
  if (addArmLines(arms, indent, blank))
    return;
  addDoc(docs.concat({armHead(arms[0], ""), docs.text(" {")}), indent,
         arms[0].block.range.Start.getPointer() + 1, blank);
  addBlock(arms[0].block, indent);
  for (const Arm &arm : ArrayRef(arms).drop_front()) {
    // Comments between the brace and the next block would separate the two, so
    // they go into the block, unless there is only one block.
    const char *open = arm.block.range.Start.getPointer() + 1;
    SmallVector<Comment, 4> comments(takeComments(open));
    if (const Comment *trailing = takeTrailing(open))
      comments.push_back(*trailing);
    addDoc(docs.concat({armHead(arm, arm.condition ? "} else " : "} "),
                        docs.text(" {")}),
           indent, open, false);
    bool first = true;
    if (comments.size() == 1)
      lines.back().comment = comments[0].text.str();
    else
      addCommentLines(comments, indent + 2, first);
    addList(arm.block.stmts, indent + 2, first);
    addCommentLines(takeComments(arm.block.range.End.getPointer()), indent + 2,
                    first);
  }
  addClose("}", indent, arms.back().block.range.End.getPointer(), true);
}

void Formatter::addFn(const FnDecl *fn, unsigned indent, bool blank) {
  const char *open = fn->bodyRange.Start.getPointer() + 1;
  addDoc(docs.concat({headDoc(fn), docs.text(" {")}), indent, open, blank);
  bool first = true;
  std::vector<Stmt *> lets(fn->lets.begin(), fn->lets.end());
  addList(lets, indent + 2, first);

  // Parentheses around the result are not part of its range.
  const char *start =
      skipSpace(lets.empty() ? open : lets.back()->range.End.getPointer());
  const char *end = fn->result->range.End.getPointer();
  for (const char *next = skipSpace(end); *next == ')'; next = skipSpace(end))
    end = next + 1;
  addCommentLines(takeComments(start), indent + 2, first);
  addDoc(exprDoc(docs, fn->result), indent + 2, end,
         !first && blankAbove(start));
  addClose("}", indent, fn->bodyRange.End.getPointer(), false);
}

void Formatter::addStmt(const Stmt *stmt, unsigned indent, bool blank) {
  switch (stmt->kind) {
  case Stmt::Kind::If:
    return addIf(cast<IfStmt>(stmt), indent, blank);
  case Stmt::Kind::Fn:
    return addFn(cast<FnDecl>(stmt), indent, blank);
  case Stmt::Kind::Cost:
  case Stmt::Kind::Memory:
  case Stmt::Kind::Fsdp:
    return addSettings(cast<SettingsStmt>(stmt), indent, blank);
  case Stmt::Kind::Placement:
    return addPlacement(cast<PlacementStmt>(stmt), indent, blank);
  case Stmt::Kind::Graph:
    return addGraph(cast<EdgesStmt>(stmt), indent, blank);
  default:
    if (const Block *block = blockOf(stmt))
      return addWithBlock(headDoc(stmt), *block, indent, blank);
    return addDoc(headDoc(stmt), indent, stmt->range.End.getPointer(), blank);
  }
}

} // namespace pipec::ast
