//===- FormatFlat.cpp - Statements on one line ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format/FormatterDetail.h"

using namespace llvm;

namespace pipec::ast {

size_t Formatter::Flat::width() const {
  size_t sum = text.size();
  for (const LineHead &head : heads)
    sum += head.text.size() + 1;
  return sum;
}

bool Formatter::append(Flat &flat, DocRef doc) {
  size_t used = flat.width();
  return used <= flat.room &&
         DocBuilder::renderFlat(doc, flat.room - used, flat.text);
}

bool Formatter::endHead(Flat &flat, Stmt::Kind kind) {
  if (flat.atHead) {
    flat.heads.push_back({unsigned(kind), std::move(flat.text)});
    flat.text.clear();
    return true;
  }
  return append(flat, " ");
}

bool Formatter::flatten(const Block &block, Flat &flat) {
  if (block.stmts.empty()) {
    flat.atHead = false;
    return !hasComment(block.range) && append(flat, "{ }");
  }
  if (!onOneLine(block.range) || !append(flat, "{ "))
    return false;
  for (const Stmt *stmt : block.stmts)
    if (!flatten(stmt, flat) || !append(flat, " "))
      return false;
  return append(flat, "}");
}

bool Formatter::flattenArm(const Arm &arm, bool isFirst, Flat &flat) {
  flat.atHead = false;
  return append(flat, armHead(arm, isFirst || !arm.condition ? "" : "else ")) &&
         append(flat, " ") && flatten(arm.block, flat);
}

bool Formatter::flattenIf(const IfStmt *stmt, Flat &flat) {
  SmallVector<Arm, 4> arms = armsOf(stmt);
  const char *begin = arms.front().block.range.Start.getPointer();
  const char *end = arms.back().block.range.End.getPointer();
  if (!onOneLine(begin, end) && arms.size() > 1)
    return false;
  for (const Arm &arm : arms) {
    bool isFirst = &arm == arms.begin();
    if (!isFirst && !append(flat, " "))
      return false;
    if (!flattenArm(arm, isFirst, flat))
      return false;
  }
  return true;
}

bool Formatter::flattenFn(const FnDecl *fn, Flat &flat) {
  if (!onOneLine(fn->bodyRange) || !append(flat, headDoc(fn)) ||
      !endHead(flat, fn->kind) || !append(flat, "{ "))
    return false;
  flat.atHead = false;
  for (const LetStmt *let : fn->lets)
    if (!append(flat, headDoc(let)) || !append(flat, " "))
      return false;
  return append(flat, exprDoc(docs, fn->result)) && append(flat, " }");
}

bool Formatter::flatten(const Stmt *stmt, Flat &flat) {
  if (const auto *branch = dyn_cast<IfStmt>(stmt))
    return flattenIf(branch, flat);
  if (const auto *fn = dyn_cast<FnDecl>(stmt))
    return flattenFn(fn, flat);
  if (const auto *let = dyn_cast<LetStmt>(stmt)) {
    if (!append(flat, "let ") || !append(flat, let->name.text) ||
        !endHead(flat, stmt->kind))
      return false;
    flat.atHead = false;
    return append(flat, "= ") && append(flat, exprDoc(docs, let->value)) &&
           append(flat, ";");
  }
  if (const Block *block = blockOf(stmt)) {
    bool ok = append(flat, headDoc(stmt)) &&
              (stmt->kind == Stmt::Kind::Fill ? append(flat, " ")
                                              : endHead(flat, stmt->kind)) &&
              flatten(*block, flat);
    flat.atHead = false;
    return ok;
  }
  flat.atHead = false;
  return staysOnLine(stmt) && append(flat, headDoc(stmt));
}

} // namespace pipec::ast
